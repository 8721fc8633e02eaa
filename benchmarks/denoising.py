"""Denoising usps images by projection and pre-images.

Models are fitted to clean images and applied to other images with Gaussian noise. The error is the
mean squared difference from the clean image. scikit-learn is used with its default ridge of 1, and
with the ridge from a grid that is best for the test images themselves, which no user could choose
in advance. rskpca has no access to the test images; its ridge is 1, as its documentation recommends
for noisy data, except in the rows on clean images, which use the defaults.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import KernelPCA

from rskpca import ReducedSetKernelPCA

from . import datasets
from .datasets import Floats
from .rows import Row, Wanted

BANDWIDTH, N_TRAIN, N_TEST = 18.0, 3_000, 500
COMPONENTS, NOISES = (16, 64, 256), (0.0, 0.3, 0.5)
RIDGES = (1.0, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6)
METHODS: dict[str, dict[str, Any]] = {
    "ridge": {"alpha": 1.0},
    "fixed-point": {},
    "distances": {},
}


class Split(NamedTuple):
    """Clean training images, clean test images, and noisy test images by standard deviation."""

    train: Floats
    clean: Floats
    noisy: dict[float, Floats]


def run(quick: bool) -> list[Row]:
    n_train, n_test = (400, 100) if quick else (N_TRAIN, N_TEST)
    X, stand_in = datasets.usps(n_train + n_test)
    split = _add_noise(X[:n_train], X[n_train:])
    return [
        row
        for n_components in ((16,) if quick else COMPONENTS)
        for row in _compare(split, n_components, stand_in)
    ]


def _add_noise(train: Floats, clean: Floats) -> Split:
    rng = np.random.default_rng(0)
    return Split(train, clean, {sd: clean + rng.normal(0, sd, clean.shape) for sd in NOISES})


def _compare(split: Split, n_components: int, stand_in: str) -> list[Row]:
    theirs = _sklearn_errors(split, n_components)
    return [
        _row(split, sd, model, name, theirs[sd], stand_in)
        for name, ell in (("ell 4", 4.0), ("all rows", np.inf))
        for model in [
            ReducedSetKernelPCA(n_components, bandwidth=BANDWIDTH, ell=ell).fit(split.train)
        ]
        for sd in NOISES
    ]


def _row(
    split: Split,
    sd: float,
    model: ReducedSetKernelPCA,
    name: str,
    theirs: dict[float, float],
    stand_in: str,
) -> Row:
    """Divide the error of the default method by that of scikit-learn's best ridge."""
    ours = {
        m: _error(model, split, sd, method=m, **(options if sd else {}))
        for m, options in METHODS.items()
    }
    best = min(theirs, key=theirs.__getitem__)
    parts = {
        "rskpca": ours["ridge"],
        "best ridge": theirs[best],
        "default ridge": theirs[1.0],
    }
    others = ", ".join(f"{method} {ours[method]:.4f}" for method in list(METHODS)[1:])
    return Row(
        f"{model.n_components} components, noise {sd}, {name}",
        ours["ridge"] / theirs[best],
        "x",
        Wanted("<", 1.0),
        parts,
        "",
        f"best ridge {best:g}; {others}; m {model.n_centers_:,}",
        stand_in,
    )


def _sklearn_errors(split: Split, n_components: int) -> dict[float, dict[float, float]]:
    """Return scikit-learn's errors by noise level and ridge."""
    model: Any = KernelPCA(
        n_components, kernel="rbf", gamma=BANDWIDTH**-2, fit_inverse_transform=True,
        random_state=0,
    ).fit(split.train)  # fmt: skip
    Z = model.eigenvectors_ * np.sqrt(model.eigenvalues_)
    errors: dict[float, dict[float, float]] = {sd: {} for sd in NOISES}
    for alpha in RIDGES:
        model.set_params(alpha=alpha)._fit_inverse_transform(Z, split.train)
        for sd in NOISES:
            errors[sd][alpha] = _error(model, split, sd)
    return errors


def _error(model: Any, split: Split, sd: float, **options: Any) -> float:
    back = model.inverse_transform(model.transform(split.noisy[sd]), **options)
    return float(np.mean((back - split.clean) ** 2))

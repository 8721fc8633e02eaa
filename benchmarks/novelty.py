"""Novelty detection, one digit against the others, with a reduced set and with all rows.

The score is the reconstruction error in feature space. Exact kernel PCA is computed by this
library with ``ell=np.inf``, and by scikit-learn with one kernel matrix per call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel

from rskpca import ReducedSetKernelPCA

from . import datasets
from .datasets import Floats, LabeledData
from .rows import Row, Wanted, ratio
from .timing import time_interleaved

BANDWIDTH, ELL, N_COMPONENTS = 120.0, 1.8, 8
N_TIMED, N_TIMED_QUICK = 20_000, 2_000

Score = Callable[[Floats], Floats]


def run(quick: bool) -> list[Row]:
    data = datasets.labeled_pendigits()
    digits = range(2 if quick else 10)
    classes = [data.train[data.train_labels == digit] for digit in digits]
    reduced = [_fit(rows, ELL) for rows in classes]
    scores: dict[str, list[Score]] = {
        "rskpca": [model.reconstruction_error for model in reduced],
        "ell=inf": [_fit(rows, np.inf).reconstruction_error for rows in classes],
        "KernelPCA": [_sklearn_score(rows) for rows in classes],
    }
    areas = {name: _areas(data, models) for name, models in scores.items()}
    retained = sum(m.n_centers_ for m in reduced) / sum(map(len, classes))
    rows = datasets.resample(data.test, N_TIMED_QUICK if quick else N_TIMED, noise=3.0)
    calls = {name: _score_all(rows, s) for name, s in scores.items()}
    timed = time_interleaved(calls, 1 if quick else 5)
    note = (
        f"{len(rows):,} scores from each of {len(digits)} models; {retained:.1%} of rows retained"
    )
    options = {"note": note, "stand_in": data.stand_in}
    return [
        *(_difference(areas, name, data.stand_in) for name in ("ell=inf", "KernelPCA")),
        *(
            ratio(f"test time compared with {name}", timed, "rskpca", name, at_least=20, **options)
            for name in ("ell=inf", "KernelPCA")
        ),
    ]


def _areas(data: LabeledData, models: Sequence[Score]) -> list[float]:
    """Return the area under the ROC curve for each digit, where the other digits are novel."""
    return [
        roc_auc_score(data.test_labels != digit, score(data.test))
        for digit, score in enumerate(models)
    ]


def _fit(rows: Floats, ell: float) -> ReducedSetKernelPCA:
    return ReducedSetKernelPCA(N_COMPONENTS, bandwidth=BANDWIDTH, ell=ell).fit(rows)


def _score_all(rows: Floats, scores: Sequence[Score]) -> Callable[[], list[Floats]]:
    return lambda: [score(rows) for score in scores]


def _sklearn_score(rows: Floats) -> Score:
    """Return a score function for ``KernelPCA``: 1 - 2 mu(x) + mean minus squared coordinates."""
    gamma = BANDWIDTH**-2
    model: Any = KernelPCA(N_COMPONENTS, kernel="rbf", gamma=gamma).fit(rows)
    axes = model.eigenvectors_ / np.sqrt(model.eigenvalues_)
    mean = rbf_kernel(rows, gamma=gamma).mean()

    def score(X: Floats) -> Floats:
        K = rbf_kernel(X, rows, gamma=gamma)
        means = K.mean(axis=1)
        Z = model._centerer.transform(K, copy=False) @ axes
        return 1 - 2 * means + mean - np.einsum("ij,ij->i", Z, Z)

    return score


def _difference(areas: dict[str, list[float]], name: str, stand_in: str) -> Row:
    ours, theirs = np.array(areas["rskpca"]), np.array(areas[name])
    worst = int(np.argmax(np.abs(ours - theirs)))
    return Row(
        f"area under the curve, largest difference from {name}",
        float(np.abs(ours - theirs)[worst]),
        "",
        Wanted("<", 0.01),
        {"rskpca": float(ours.mean()), name: float(theirs.mean())},
        "on average",
        f"largest for digit {worst}",
        stand_in,
    )

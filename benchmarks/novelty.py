"""Novelty detection: one digit against the others, on a reduced set and on all rows.

The score is the reconstruction error in feature space. Exact kernel PCA is computed by this
library with ``ell=np.inf``, and by scikit-learn with one kernel matrix a call.
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
from .datasets import Floats, Labelled
from .rows import Row, Wanted, ratio
from .timing import interleaved

BANDWIDTH, ELL, N_COMPONENTS = 120.0, 1.8, 8
N_TIMED, N_TIMED_QUICK = 20_000, 2_000

Score = Callable[[Floats], Floats]


def run(quick: bool) -> list[Row]:
    data = datasets.written_digits()
    digits = range(2 if quick else 10)
    classes = [data.train[data.train_labels == digit] for digit in digits]
    reduced = [_fitted(rows, ELL) for rows in classes]
    scores: dict[str, list[Score]] = {
        "rskpca": [model.reconstruction_error for model in reduced],
        "ell=inf": [_fitted(rows, np.inf).reconstruction_error for rows in classes],
        "KernelPCA": [_scikit_learn(rows) for rows in classes],
    }
    areas = {name: _areas(data, models) for name, models in scores.items()}
    kept = sum(m.n_centers_ for m in reduced) / sum(map(len, classes))
    rows = datasets.resampled(data.test, N_TIMED_QUICK if quick else N_TIMED, noise=3.0)
    timed = interleaved({name: _all(rows, s) for name, s in scores.items()}, 1 if quick else 5)
    note = f"{len(rows):,} scores by each of {len(digits)} models; {kept:.1%} of the rows kept"
    options = {"note": note, "stand_in": data.stand_in}
    return [
        _difference(areas, "ell=inf", data.stand_in),
        _difference(areas, "KernelPCA", data.stand_in),
        ratio("test time, against ell=inf", timed, "rskpca", "ell=inf", at_least=20, **options),
        ratio("test time, against KernelPCA", timed, "rskpca", "KernelPCA", at_least=20, **options),
    ]


def _areas(data: Labelled, models: Sequence[Score]) -> list[float]:
    """Area under the curve of each digit's model, the other digits being novel."""
    return [
        roc_auc_score(data.test_labels != digit, score(data.test))
        for digit, score in enumerate(models)
    ]


def _fitted(rows: Floats, ell: float) -> ReducedSetKernelPCA:
    return ReducedSetKernelPCA(N_COMPONENTS, bandwidth=BANDWIDTH, ell=ell).fit(rows)


def _all(rows: Floats, scores: Sequence[Score]) -> Callable[[], list[Floats]]:
    return lambda: [score(rows) for score in scores]


def _scikit_learn(rows: Floats) -> Score:
    """The same score from ``KernelPCA``: 1 - 2 mu(x) + mean less the squared coordinates."""
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
        f"the largest is at digit {worst}",
        stand_in,
    )

"""Novelty detection, one digit against the others, with a reduced set and with all rows.

The score is the reconstruction error in feature space. Exact kernel PCA is computed by this
library with ``ell=np.inf``, and by scikit-learn with one kernel matrix per call, computed with the
number of threads that takes the shortest time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import pairwise_kernels

from rskpca import ReducedSetKernelPCA
from rskpca._core.parallel import allowed_threads

from . import datasets
from .datasets import Floats, LabeledData
from .rows import Row, Wanted, ratio
from .timing import time_interleaved

BANDWIDTH, ELL, N_COMPONENTS = 120.0, 1.8, 8
N_TIMED, N_TIMED_QUICK = 20_000, 2_000
N_FEATURES = 16

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
    gamma, kernel = BANDWIDTH**-2, partial(_kernel_matrix, rows)
    model: Any = KernelPCA(N_COMPONENTS, kernel="rbf", gamma=gamma).fit(rows)
    axes = model.eigenvectors_ / np.sqrt(model.eigenvalues_)
    mean = kernel(rows, None).mean()
    n_jobs = _fastest_threads(kernel)

    def score(X: Floats) -> Floats:
        K = kernel(X, n_jobs)
        means = K.mean(axis=1)
        Z = model._centerer.transform(K, copy=False) @ axes
        return 1 - 2 * means + mean - np.einsum("ij,ij->i", Z, Z)

    return score


def _kernel_matrix(rows: Floats, X: Floats, n_jobs: int | None) -> Floats:
    return pairwise_kernels(X, rows, metric="rbf", gamma=BANDWIDTH**-2, n_jobs=n_jobs)


def _fastest_threads(kernel: Callable[[Floats, int | None], Floats]) -> int | None:
    """Return the number of threads with which scikit-learn computes a kernel matrix fastest."""
    X = np.zeros((N_TIMED_QUICK, N_FEATURES))
    calls = {n: partial(kernel, X, n) for n in (None, allowed_threads())}
    timed = time_interleaved(calls, 3)
    return min(timed, key=lambda n: timed[n].seconds)


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

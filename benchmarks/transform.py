"""``transform`` compared with scikit-learn's kernel matrix times the coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import rbf_kernel

from rskpca import ReducedSetKernelPCA

from . import datasets
from .rows import Row, ratio
from .timing import time_interleaved

BANDWIDTH = 203.0  # same radius as in the cover benchmark at ell = 4: about 1,000 centers


def run(quick: bool) -> list[Row]:
    X, stand_in = datasets.noisy_pendigits(10_000 if quick else 100_000)
    return [_compare(X.astype(dtype), stand_in, quick) for dtype in (np.float64, np.float32)]


def fit_uncentered(X: NDArray[Any]) -> ReducedSetKernelPCA:
    """Fit without centering, so that transform is a single product with the coefficients."""
    return ReducedSetKernelPCA(5, bandwidth=BANDWIDTH, ell=4.0, center=False).fit(X)


def _compare(X: NDArray[Any], stand_in: str, quick: bool) -> Row:
    model = fit_uncentered(X)
    C, gamma = model.basis_, model.kernel_.gamma
    A = _coefficients(model).astype(X.dtype)
    contenders = {
        "rskpca": lambda: model.transform(X),
        "rbf_kernel @ A": lambda: rbf_kernel(X, C, gamma=gamma) @ A,
    }
    timed = time_interleaved(contenders, 1 if quick else 5)
    ours, theirs = (t.result for t in timed.values())
    difference = np.abs(ours - theirs).max() / np.abs(theirs).max()
    case = f"{len(X):,} x {X.shape[1]}, m {len(C):,}, {X.dtype}"
    note = f"largest difference {difference:.0e}, relative to the largest value"
    return ratio(case, timed, *contenders, at_least=4, note=note, stand_in=stand_in)


def _coefficients(model: ReducedSetKernelPCA) -> NDArray[np.float64]:
    """Return sqrt(w_j) v_j / sqrt(mu), the coefficients of the unit-norm principal axes."""
    weights = model.reduced_set_.weights
    return np.sqrt(weights)[:, None] * model.eigenvectors_ / np.sqrt(model.eigenvalues_)

"""The one eigensolver: few components of a large matrix by Lanczos, else LAPACK."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

LANCZOS_FROM_SIZE = 300

Floats = NDArray[np.float64]


def leading_eigenpairs(
    matrix: Floats | LinearOperator, n_components: int, rounding: float = 0.0
) -> tuple[Floats, Floats]:
    """Largest eigenvalues of a positive semi-definite matrix, descending, with unit vectors.

    Eigenvalues that cannot be told from zero are left out: those within the rounding of the
    decomposition, relative to the largest, or within ``rounding``, which is what making the
    matrix has cost. ``matrix`` may be overwritten.
    """
    size = matrix.shape[0]
    n_components = min(n_components, size)
    values, vectors = None, None
    lazy = isinstance(matrix, LinearOperator) and n_components < size
    if lazy or (size >= LANCZOS_FROM_SIZE and n_components <= size // 20):
        values, vectors = _lanczos(matrix, n_components)
    if values is None or vectors is None:
        if isinstance(matrix, LinearOperator):
            matrix = matrix @ np.eye(size)
        first = size - n_components
        values, vectors = eigh(
            matrix, subset_by_index=[first, size - 1], overwrite_a=True, check_finite=False
        )
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    kept = values > max(size * np.finfo(np.float64).eps * values[0], rounding, 0.0)
    return values[kept], vectors[:, kept]


def _lanczos(matrix: Any, n_components: int) -> tuple[Floats | None, Floats | None]:
    """Lanczos from a fixed start vector; (None, None) where it does not converge."""
    start = np.random.default_rng(0).standard_normal(matrix.shape[0])
    try:
        return eigsh(matrix, k=n_components, which="LA", v0=start, maxiter=50)
    except ArpackError:  # no convergence, or a zero matrix
        return None, None

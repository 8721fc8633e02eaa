"""Non-negative least squares in normal-equation form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular

Array = NDArray[np.floating]
Floats = NDArray[np.float64]

PATIENCE = 5  # number of exchanges without progress before the fallback


def nonnegative_least_squares(matrix: Array, target: Array, tolerance: float = 1e-12) -> Floats:
    """Minimize v' M v / 2 - b' v over v >= 0, for a positive definite matrix M.

    Block principal pivoting (Judice & Pires; Kim & Park) guesses which entries are positive, solves
    for them, and exchanges every entry with the wrong sign (v_i < 0, or v_i = 0 and a negative
    gradient). It usually requires only a few Cholesky factorizations but may cycle. If the number
    of wrong signs stops decreasing, an active-set method is used instead.

    ``tolerance`` is the largest negative gradient allowed, relative to the largest |b_i|.
    """
    positive = np.ones(len(target), dtype=bool)
    fewest, patience = len(target) + 1, PATIENCE
    while patience >= 0:
        values = _solve(matrix, target, positive)
        gradient = matrix @ values - target
        wrong = np.where(positive, values < 0, gradient < -tolerance * np.abs(target).max())
        count = int(np.count_nonzero(wrong))
        if count == 0:
            return values
        patience = PATIENCE if count < fewest else patience - 1
        fewest = min(fewest, count)
        positive ^= wrong
    return _active_set(matrix, target)


def _solve(matrix: Array, target: Array, positive: NDArray[np.bool_]) -> Floats:
    """Return values with zero gradient at the positive entries and 0 elsewhere."""
    values = np.zeros(len(target))
    if positive.any():
        factor = cho_factor(
            matrix[np.ix_(positive, positive)], lower=True, overwrite_a=True, check_finite=False
        )
        values[positive] = cho_solve(factor, target[positive], check_finite=False)
    return values


def _active_set(matrix: Array, target: Array) -> Floats:
    """Solve by Lawson & Hanson's active-set method, which is slower but always terminates."""
    from scipy.optimize import nnls

    factor = np.linalg.cholesky(matrix)
    values: Floats = nnls(factor.T, solve_triangular(factor, target, lower=True))[0]
    return values

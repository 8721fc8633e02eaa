"""Least squares with weights that are not negative."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular

Array = NDArray[np.floating]
Floats = NDArray[np.float64]

PATIENCE = 5  # rounds that may go by without fewer wrong signs


def nonnegative(matrix: Array, target: Array, tolerance: float = 1e-12) -> Floats:
    """The v >= 0 that makes v' M v / 2 - b' v smallest, for a positive definite M.

    Block principal pivoting (Judice & Pires; Kim & Park): guess which entries are positive,
    solve for those, and exchange every entry that has the wrong sign: v_i < 0, or a gradient
    below 0 where v_i = 0. That takes a few Cholesky factors as a rule, but need not get ahead;
    where it does not, the entries are taken one by one.

    ``tolerance`` is how far below 0 a gradient may be, relative to the largest of b.
    """
    positive = np.ones(len(target), dtype=bool)
    fewest, patience = len(target) + 1, PATIENCE
    while patience >= 0:
        values = _solved(matrix, target, positive)
        gradient = matrix @ values - target
        wrong = np.where(positive, values < 0, gradient < -tolerance * np.abs(target).max())
        count = int(np.count_nonzero(wrong))
        if count == 0:
            return values
        patience = PATIENCE if count < fewest else patience - 1
        fewest = min(fewest, count)
        positive ^= wrong
    return _one_by_one(matrix, target)


def _solved(matrix: Array, target: Array, positive: NDArray[np.bool_]) -> Floats:
    """The values for which the gradient is 0 at the positive entries; the others are 0."""
    values = np.zeros(len(target))
    if positive.any():
        factor = cho_factor(
            matrix[np.ix_(positive, positive)], lower=True, overwrite_a=True, check_finite=False
        )
        values[positive] = cho_solve(factor, target[positive], check_finite=False)
    return values


def _one_by_one(matrix: Array, target: Array) -> Floats:
    """Lawson & Hanson's active sets, on a factor of M: slower, and sure to end."""
    from scipy.optimize import nnls

    factor = np.linalg.cholesky(matrix)
    values: Floats = nnls(factor.T, solve_triangular(factor, target, lower=True))[0]
    return values

"""Least squares with weights that are not negative."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

Array = NDArray[np.floating]
Floats = NDArray[np.float64]

_PATIENCE = 3  # rounds that may go by without fewer errors, before signs are set one by one


def nonnegative(matrix: Array, target: Array, tolerance: float = 1e-12) -> Floats:
    """The v >= 0 that makes v' M v / 2 - b' v smallest, for a positive definite M.

    Block principal pivoting (Judice & Pires; Kim & Park): guess which entries are positive,
    solve for those, and exchange every entry that has the wrong sign: v_i < 0, or a gradient
    below 0 where v_i = 0. Where that does not get ahead, the last such entry alone is exchanged,
    which ends (Murty). A few Cholesky factors of the positive part are all that it takes.

    ``tolerance`` is how far below 0 a gradient may be, relative to the largest of b.
    """
    positive = np.ones(len(target), dtype=bool)
    fewest, patience = len(target) + 1, _PATIENCE
    while True:
        values = _solved(matrix, target, positive)
        gradient = matrix @ values - target
        wrong = np.where(positive, values < 0, gradient < -tolerance * np.abs(target).max())
        count = int(np.count_nonzero(wrong))
        if count == 0:
            return values
        patience = _PATIENCE if count < fewest else patience - 1
        fewest = min(fewest, count)
        if patience < 0:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        positive ^= wrong


def _solved(matrix: Array, target: Array, positive: NDArray[np.bool_]) -> Floats:
    """The values for which the gradient is 0 at the positive entries; the others are 0."""
    values = np.zeros(len(target))
    if positive.any():
        factor = cho_factor(
            matrix[np.ix_(positive, positive)], lower=True, overwrite_a=True, check_finite=False
        )
        values[positive] = cho_solve(factor, target[positive], check_finite=False)
    return values

"""The coarser of two scales: a few points of a reduced set that span its eigenfunctions.

A partial Cholesky factor F of K^C, pivoted where the weighted residual is largest, holds the
coordinates of all centers in the span of the first b pivots, for every b at once: S = F' W F has
the Rayleigh-Ritz problem of each b as its leading block.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .._core.cholesky import greedy
from .._core.eig import leading_eigenpairs
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet

Array = NDArray[np.floating]
Rows = NDArray[np.intp]


def spanning(kernel: RadialKernel, reduced_set: ReducedSet, size: int) -> Rows:
    """Centers that span the operator of a reduced set best, chosen one by one.

    Parameters
    ----------
    kernel : RadialKernel
        With a number for its bandwidth.
    reduced_set : ReducedSet
        Centers and weights.
    size : int
        How many; fewer come back where they span all centers.

    Returns
    -------
    ndarray of shape (size,)
        Their places, in the order of choice.
    """
    return greedy(kernel, reduced_set.centers, reduced_set.weights, size).pivots


def sufficient(
    kernel: RadialKernel,
    reduced_set: ReducedSet,
    n_components: int,
    tolerance: float,
    *,
    center: bool,
) -> Rows:
    """The fewest such centers that keep the leading coordinates of all centers.

    Parameters
    ----------
    kernel : RadialKernel
        With a number for its bandwidth.
    reduced_set : ReducedSet
        Centers and weights.
    n_components : int
        r, the coordinates to keep.
    tolerance : float
        Their relative error in the weighted Frobenius norm, after the best linear alignment.
    center : bool
        About the mean in feature space, or not.

    Returns
    -------
    ndarray of shape (size,)
        Places of the centers, in the order of choice.

    Notes
    -----
    The number is doubled until the half of it is enough, judged by the whole; the fewest are
    then found by bisection.
    """
    m = reduced_set.n_centers
    size = min(m, max(2 * n_components + 2, 16))
    while True:
        nested = _Nested(kernel, reduced_set, size)
        errors = nested.errors(n_components, center)
        if size == m or nested.exhausted or errors(size // 2) <= tolerance:
            return nested.pivots[: _fewest(errors, len(nested.pivots), tolerance)]
        size = min(m, 2 * size)


class _Nested:
    """Rayleigh-Ritz problems of the first b pivots, for every b."""

    def __init__(self, kernel: RadialKernel, reduced_set: ReducedSet, size: int) -> None:
        partial = greedy(kernel, reduced_set.centers, reduced_set.weights, size)
        self.pivots, self.exhausted = partial.pivots, len(partial.pivots) < size
        self.weights, self.factors = reduced_set.weights, partial.factors

    def errors(self, n_components: int, center: bool) -> Callable[[int], float]:
        """The function b -> relative error of the coordinates that b pivots give."""
        second = (self.factors * self.weights) @ self.factors.T
        if center:
            first = self.factors @ self.weights
            second -= np.outer(first, first) / self.weights.sum()
        values, reference = leading_eigenpairs(second.copy(), n_components)
        targets = second @ reference

        def error(b: int) -> float:
            found, vectors = leading_eigenpairs(second[:b, :b].copy(), n_components)
            held = np.sum((targets[:b].T @ vectors) ** 2 / found)
            return float(np.sqrt(max(1 - held / values.sum(), 0.0)))

        return error


def _fewest(error: Callable[[int], float], most: int, tolerance: float) -> int:
    """The smallest b <= most whose error is within the tolerance, by bisection."""
    below, enough = 0, most
    while enough - below > 1:
        middle = (below + enough) // 2
        below, enough = (below, middle) if error(middle) <= tolerance else (middle, enough)
    return enough

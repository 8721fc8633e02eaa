"""The coarser of two scales: a few points of a reduced set that span its eigenfunctions.

A partial Cholesky factor F of K^C, pivoted where the weighted residual is largest, holds the
coordinates of all centers in the span of the first b pivots, for every b at once: S = F' W F has
the Rayleigh-Ritz problem of each b as its leading block.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .._core.cholesky import PartialCholesky, fill_greedily, greedy
from .._core.eig import leading_eigenpairs
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet

Array = NDArray[np.floating]
Rows = NDArray[np.intp]

_GROWTH = 1.4  # of the number of pivots; what it overshoots by is paid for


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
    The number grows until the half of it is enough, judged by the whole; the fewest are then
    found by bisection.
    """
    m = reduced_set.n_centers
    nested = _Nested(kernel, reduced_set)
    size, too_few = max(2 * n_components + 2, 16), 0
    while True:
        nested.grow(min(m, size))
        errors, found = nested.errors(n_components, center), len(nested.pivots)
        enough = found // 2 if errors(found // 2) <= tolerance else found
        if enough < found or found < size:
            return nested.pivots[: _fewest(errors, too_few, enough, tolerance)]
        size, too_few = math.ceil(_GROWTH * size), size // 2


class _Nested:
    """Rayleigh-Ritz problems of the first b pivots, for every b."""

    def __init__(self, kernel: RadialKernel, reduced_set: ReducedSet) -> None:
        self.weights = reduced_set.weights
        self._partial = PartialCholesky(kernel, reduced_set.centers, 0)

    @property
    def pivots(self) -> Rows:
        return self._partial.pivots

    def grow(self, size: int) -> None:
        """To ``size`` pivots, or fewer where they span all centers."""
        self._partial.grow(size)
        fill_greedily(self._partial, self.weights)

    def errors(self, n_components: int, center: bool) -> Callable[[int], float]:
        """The function b -> relative error of the coordinates that b pivots give."""
        factors = self._partial.factors
        second = (factors * self.weights) @ factors.T
        if center:
            first = factors @ self.weights
            second -= np.outer(first, first) / self.weights.sum()
        values, reference = leading_eigenpairs(second.copy(), n_components)
        targets = second @ reference

        def error(b: int) -> float:
            found, vectors = leading_eigenpairs(second[:b, :b].copy(), n_components)
            held = np.sum((targets[:b].T @ vectors) ** 2 / found)
            return float(np.sqrt(max(1 - held / values.sum(), 0.0)))

        return error


def _fewest(error: Callable[[int], float], below: int, enough: int, tolerance: float) -> int:
    """The smallest b, below < b <= enough, whose error is within the tolerance, by bisection."""
    while enough - below > 1:
        middle = (below + enough) // 2
        below, enough = (below, middle) if error(middle) <= tolerance else (middle, enough)
    return enough

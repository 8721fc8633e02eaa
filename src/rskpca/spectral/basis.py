"""The coarser of two scales: a few points of a reduced set that span its eigenfunctions.

A partial Cholesky factor F of K^C, pivoted where the weighted residual is largest, holds the
coordinates of all centers in the span of the first b pivots, for every b at once: S = F' W F has
the Rayleigh-Ritz problem of each b as its leading block.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from .._core import gram
from .._core.cholesky import PartialCholesky, fill_greedily, greedy
from .._core.eig import leading_eigenpairs
from .._core.parallel import undivided
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet
from .diffusion import FittedMarkov
from .eigensystem import EigenSystem
from .ritz import Moments

Array = NDArray[np.floating]
Rows = NDArray[np.intp]

_GROWTH = 1.4  # of the number of pivots; what it overshoots by is paid for
MANY = 1000


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
    found by bisection. Where more than a thousand and half of the centers would be looked at,
    little is to be gained, and all of them are taken.
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
        if found > max(m // 2, MANY):
            return np.arange(m)
        size, too_few = math.ceil(_GROWTH * size), size // 2


def projected(system: EigenSystem, basis: Array) -> EigenSystem:
    """A walk's eigenfunctions through fewer points: what they are made of, projected in H.

    Those of negative eigenvalues have the value of the nearest of these points.

    Parameters
    ----------
    system : EigenSystem
        Of a random walk.
    basis : ndarray of shape (n_basis, n_features)
        Points; those that the others make redundant are dropped.

    Returns
    -------
    EigenSystem
        Over the basis.
    """
    span, kernel = Moments.of(system.kernel, basis), system.kernel

    def project(columns: Array) -> Array:
        inner = gram.product(
            kernel, span.basis, system.centers, lambda block: block @ columns, columns.shape[1]
        )
        return span.columns @ (span.columns.T @ inner)  # K_ZZ^{-1} = T T'

    walk = cast(FittedMarkov, system.operator)
    operator, coefficients = walk.projected(
        system.coefficients, project, lambda: system.nearest(span.basis)
    )
    points = span.basis.astype(np.float64)
    few = replace(system, operator=operator, centers=span.basis, coefficients=coefficients)
    if np.any(system.eigenvalues < 0):
        few = replace(few, functions=system.extend(points))
    return replace(few, functions=few.extend(points))


def sufficient_for_walk(system: EigenSystem, reduced_set: ReducedSet, tolerance: float) -> Rows:
    """The fewest centers through which a walk's eigenfunctions keep their values at all centers.

    Parameters
    ----------
    system : EigenSystem
        Of a random walk on the reduced set.
    reduced_set : ReducedSet
        Centers and weights.
    tolerance : float
        Relative error of the functions in the weighted Frobenius norm.

    Returns
    -------
    ndarray of shape (size,)
        Places of the centers, in the order of choice.
    """
    centers, weights = reduced_set.centers.astype(np.float64), reduced_set.weights[:, None]
    size = min(reduced_set.n_centers, 4 * len(system.eigenvalues) + 16)
    while True:
        rows = spanning(system.kernel, reduced_set, size)

        def error(b: int, rows: Rows = rows) -> float:
            off = projected(system, centers[rows[:b]]).extend(centers) - system.functions
            return float(np.sqrt(np.sum(weights * off**2) / np.sum(weights * system.functions**2)))

        if len(rows) < size or size == reduced_set.n_centers or error(size) <= tolerance:
            return rows[: _fewest(error, 0, len(rows), tolerance)]
        size = min(2 * size, reduced_set.n_centers)


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
        with undivided(factors.size):
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

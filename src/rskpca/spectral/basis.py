"""The coarser of two scales: a few points of a reduced set that span its eigenfunctions.

A partial Cholesky factor F of K^C, pivoted where the weighted residual is largest, holds the
coordinates of all centers in the span of the first b pivots, for every b at once: S = F' W F has
the Rayleigh-Ritz problem of each b as its leading block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from .._core import gram
from .._core.cholesky import greedy
from .._core.eig import leading_eigenpairs
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet
from .diffusion import FittedMarkov
from .eigensystem import EigenSystem
from .ritz import Moments

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


def projected(system: EigenSystem, basis: Array) -> EigenSystem:
    """A walk's eigenfunctions through fewer points: what they are made of, projected in H.

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
    operator, coefficients = walk.projected(system.coefficients, project)
    few = replace(system, operator=operator, centers=span.basis, coefficients=coefficients)
    return replace(few, functions=few.extend(span.basis.astype(np.float64)))


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
            return rows[: _fewest(error, len(rows), tolerance)]
        size = min(2 * size, reduced_set.n_centers)


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

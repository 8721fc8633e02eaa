"""Selection of a few centers of a reduced set that span its leading eigenfunctions.

Let F be a partial Cholesky factor of K^C, pivoted where the weighted residual is largest. For every
b, the first b columns of F contain the coordinates of all centers in the span of the first b
pivots, so the Rayleigh-Ritz problem for b pivots is the leading b x b block of S = F' W F.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from .._core import gram
from .._core.cholesky import PartialCholesky, fill_greedily, greedy_cholesky
from .._core.eig import leading_eigenpairs
from .._core.parallel import single_threaded_blas
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet
from .diffusion import FittedMarkov
from .eigensystem import EigenSystem
from .ritz import Moments

Array = NDArray[np.floating]
Rows = NDArray[np.intp]

_GROWTH = 1.4  # growth factor of the number of pivots; a larger one would waste more pivots
MANY = 1000
_PROBES = 8  # number of random vectors; enough to estimate a norm to within tens of percent


def spanning(kernel: RadialKernel, reduced_set: ReducedSet, size: int) -> Rows:
    """Greedily choose up to ``size`` centers whose span approximates the operator best."""
    # Fewer indices are returned if they span all centers. They are in the order of selection.
    return greedy_cholesky(kernel, reduced_set.centers, reduced_set.weights, size).pivots


def sufficient(
    kernel: RadialKernel,
    reduced_set: ReducedSet,
    n_components: int,
    tolerance: float,
    *,
    center: bool,
) -> Rows:
    """Greedily choose the fewest centers that preserve the leading coordinates of all centers.

    Parameters
    ----------
    kernel : RadialKernel
        The kernel with its bandwidth resolved.
    reduced_set : ReducedSet
        Centers and weights.
    n_components : int
        Number of coordinates, r.
    tolerance : float
        Largest relative error of the coordinates in the weighted Frobenius norm, after the best
        linear alignment.
    center : bool
        Whether to center in feature space.

    Returns
    -------
    ndarray of shape (size,)
        Indices of the centers, in the order of selection.

    Notes
    -----
    The number of pivots grows until half of them reproduce the coordinates obtained with all of
    them, and a product with K~ confirms that the span of the pivots contains the leading
    eigenfunctions. Bisection then finds the smallest sufficient number. All centers are returned
    if there are at most max(2 r + 2, 16), or if there are more than a thousand and choosing some
    of them would take longer than it saves.
    """
    m = reduced_set.n_centers
    nested = _Nested(kernel, reduced_set, n_components, center)
    size, too_few = max(2 * n_components + 2, 16), 0
    if m <= size:
        return np.arange(m)
    while True:
        nested.grow(min(m, size))
        errors, found = nested.errors(), len(nested.pivots)
        half = max(found // 2, 1)
        enough = half if errors(half) <= tolerance else found
        if found < size or (enough < found and nested.holds(tolerance)):
            return nested.pivots[: _fewest(errors, too_few, enough, tolerance)]
        if m > MANY and _too_costly(m, reduced_set.n_features, math.ceil(_GROWTH * size)):
            return np.arange(m)
        size, too_few = math.ceil(_GROWTH * size), (size // 2 if enough == found else too_few)


def projected(system: EigenSystem, basis: Array) -> EigenSystem:
    """Re-expand a walk's eigenfunctions in terms of fewer points, by projection in H."""
    # Redundant points of the basis are dropped. Eigenfunctions with negative eigenvalues are
    # evaluated at the nearest basis point.
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
    """Greedily choose the fewest centers that preserve the eigenfunctions of a walk."""
    # The tolerance bounds the relative error at all centers in the weighted Frobenius norm. All
    # centers are returned if there are more than a thousand and choosing some of them would take
    # longer than it saves.
    centers, weights = reduced_set.centers.astype(np.float64), reduced_set.weights[:, None]
    m = reduced_set.n_centers
    size = min(m, 4 * len(system.eigenvalues) + 16)
    while True:
        rows = spanning(system.kernel, reduced_set, size)

        def error(b: int, rows: Rows = rows) -> float:
            off = projected(system, centers[rows[:b]]).extend(centers) - system.functions
            return float(np.sqrt(np.sum(weights * off**2) / np.sum(weights * system.functions**2)))

        if len(rows) < size or size == m or error(size) <= tolerance:
            return rows[: _fewest(error, 0, len(rows), tolerance)]
        size = min(2 * size, m)
        # Choosing, projecting and extending each take one block of kernel values, and the smaller
        # sizes, which are tried first, take as many in total.
        if m > MANY and _too_costly(m, reduced_set.n_features, size, n_blocks=6):
            return np.arange(m)


class _Nested:
    """Nested Rayleigh-Ritz problems, one for each b, in the span of the first b pivots."""

    def __init__(
        self, kernel: RadialKernel, reduced_set: ReducedSet, n_components: int, center: bool
    ) -> None:
        self.kernel, self.reduced_set = kernel, reduced_set
        self.n_components, self.center = n_components, center
        self._partial = PartialCholesky(kernel, reduced_set.centers, 0)

    @property
    def pivots(self) -> Rows:
        return self._partial.pivots

    def grow(self, size: int) -> None:
        """Grow to ``size`` pivots, or fewer if they span all centers."""
        self._partial.grow(size)
        fill_greedily(self._partial, self.reduced_set.weights)
        root = np.sqrt(self.reduced_set.weights)
        self._root = root[:, None] / np.linalg.norm(root)
        self._coordinates = self._about_mean(root[:, None] * self._partial.factors.T)
        with single_threaded_blas(self._coordinates.size):
            self._second = self._coordinates.T @ self._coordinates
        self._values, self._vectors = leading_eigenpairs(self._second.copy(), self.n_components)

    def errors(self) -> Callable[[int], float]:
        """Return a function that maps b to the relative coordinate error with b pivots."""
        second, total = self._second, self._values.sum() or 1.0
        targets = second @ self._vectors

        def error(b: int) -> float:
            found, vectors = leading_eigenpairs(second[:b, :b].copy(), self.n_components)
            held = np.sum((targets[:b].T @ vectors) ** 2 / found)
            return float(np.sqrt(max(1 - held / total, 0.0)))

        return error

    def holds(self, tolerance: float) -> bool:
        """Return True if the Ritz vectors of all pivots approximate the leading eigenvectors of K~.

        The residual K~ V - V mu of the unit vectors V, divided by mu, approximates their error.
        In addition, all eigenvalues of K~ minus its Cholesky approximation must be at most the
        last mu; the Frobenius norm of the difference, estimated with random vectors, bounds them.
        """
        mu, V = self._values, self._coordinates @ (self._vectors / np.sqrt(self._values))
        G = np.random.default_rng(0).standard_normal((len(V), _PROBES))
        product = self._weighted_gram(np.column_stack([V, G]))
        lacking = np.sum((product[:, : len(mu)] - V * mu) ** 2, axis=0)
        left = product[:, len(mu) :] - self._coordinates @ (self._coordinates.T @ G)
        error = np.sqrt(np.sum(lacking / mu) / mu.sum())
        return bool(error <= tolerance and np.linalg.norm(left) / np.sqrt(_PROBES) <= mu[-1])

    def _weighted_gram(self, V: Array) -> Array:
        """Return K~ V, centered in feature space if ``center`` is True."""
        s, root = self.reduced_set, np.sqrt(self.reduced_set.weights)[:, None]
        V = root * self._about_mean(V)
        product = gram.product(
            self.kernel, s.centers, s.centers, lambda block: block @ V, V.shape[1]
        )
        return self._about_mean(root * product)

    def _about_mean(self, V: Array) -> Array:
        """Subtract the weighted mean from columns scaled by sqrt(weights), if ``center`` is set."""
        return V - self._root * (self._root.T @ V) if self.center else V


def _too_costly(m: int, d: int, b: int, n_blocks: int = 1) -> bool:
    """Return True if choosing b of m centers takes more than half as long as solving with all."""
    # Rough operation counts. Choosing centers requires kernel values, updates of the factor and
    # eigenproblems of size b; solving for all requires kernel values and about 100 products
    # with the whole matrix. Operations for choosing centers take several times as long, because
    # pivots are chosen one by one.
    return n_blocks * m * b * d + 3 * m * b**2 + 20 * b**3 > 0.12 * m**2 * (d + 100)


def _fewest(error: Callable[[int], float], below: int, enough: int, tolerance: float) -> int:
    """Return the smallest b with below < b <= enough and error(b) <= tolerance."""
    while enough - below > 1:
        middle = (below + enough) // 2
        below, enough = (below, middle) if error(middle) <= tolerance else (middle, enough)
    return enough

"""Algorithm 1 (weight, decompose, reweight) and the extension to new points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from .. import _validation as check
from .._core import eig, gram
from .._core.parallel import allowed_threads
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet
from .matrices import CenterMatrix, ProductMatrix, SparseMatrix, StoredMatrix
from .neighbours import NeighbourGraph
from .operators import Extensible, Operator

Array = NDArray[np.floating]

# With more centers the weighted Gram matrix (2.1 GB at this size) is multiplied but not stored.
STORED_CENTERS = 16_384

# Largest growth of a rounding error in float32; the actual error is about a tenth, so 6e-6.
_LARGEST_GROWTH = 500.0


@dataclass(frozen=True, eq=False)
class EigenSystem:
    """Eigenvalues, descending, and eigenfunctions of an operator on a reduced set.

    Attributes
    ----------
    kernel : RadialKernel
        The kernel with its bandwidth resolved.
    operator : Extensible
        The operator that modifies the kernel.
    centers : ndarray of shape (n_centers, n_features)
        The points that the eigenfunctions are expanded in.
    coefficients : ndarray of shape (n_centers, n_components)
        The coefficients A in f(x) = g(x, C) A, where g is the kernel after the operator has been
        applied; :func:`solve` sets A = w f / mu.
    eigenvalues : ndarray of shape (n_components,)
        The eigenvalues mu in K~ v = mu v, with K~ = W G W, W = diag(sqrt(w)), G the operator's
        kernel at the centers and w its measure (the weights, for kernel PCA).
    functions : ndarray of shape (n_centers, n_components)
        The eigenfunctions at the centers, W^{-1} v. Their weighted squares over the data that
        the operator represents sum to one.
    trace : float
        The trace of K~, the sum of all of its eigenvalues.
    residual : float
        The part of the trace outside the span of these centers, an upper bound on how much an
        eigenvalue of K~ can exceed the computed one. 0 if the centers are the data.
    exact : bool
        True if the operator contains the data themselves instead of a reduced set.
    graph : NeighbourGraph or None
        The neighbor graph, if the kernel is restricted to neighbors.
    """

    kernel: RadialKernel
    operator: Extensible
    centers: Array
    coefficients: Array
    eigenvalues: Array
    functions: Array
    trace: float
    residual: float = 0.0
    exact: bool = False
    graph: NeighbourGraph | None = None

    def __post_init__(self) -> None:
        check.shapes(self, centers="md", coefficients="mr", eigenvalues="r")
        if not self.eigenvalues.all():
            raise ValueError("eigenvalues must not be zero.")
        if self.graph is not None and self.graph.tree.data.shape != self.centers.shape:
            raise ValueError(
                f"graph must have the {len(self.centers)} centers of the eigensystem, "
                f"got {self.graph.tree.n}."
            )

    def extend(self, X: Array) -> Array:
        """Return the eigenfunctions at new points: f(x) = (1/mu) sum_j w_j k(x, c_j) f(c_j).

        For a negative mu, which occurs in walks without self-affinities, a point has the value of
        the nearest center, if any center is reached: such a function changes sign from a center
        to its neighbors and is not defined between them.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Points; their dtype is that of the result. Only a few blocks are held in memory.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            One eigenfunction per column.
        """
        return self.prepare(X.dtype)(X)

    def prepare(self, dtype: Any) -> Callable[[Array], Array]:
        """Prepare :meth:`extend` for rows of one dtype, so that many calls share the work.

        Parameters
        ----------
        dtype : numpy.float32 or numpy.float64
            The dtype of the rows.

        Returns
        -------
        callable
            The function ``extend`` for rows of this dtype.
        """
        computed = self.arithmetic(dtype)
        function = self.operator.extension(self.coefficients, self.eigenvalues, computed)
        count, negative = len(self.eigenvalues), self.eigenvalues < 0
        sparse_rows = None if self.graph is None else self.graph.product
        centers = gram.Centers.prepare(self.centers, self.kernel.scale, computed)

        def extend(X: Array) -> Array:
            def of_block(block: Array, rows: slice) -> Array:
                return function(block, X[rows], self.centers)

            if sparse_rows is not None:
                functions = sparse_rows(X, of_block, count, computed)
            else:
                functions = gram.row_product(
                    self.kernel, X, centers, of_block, count, dtype=computed
                )
            if negative.any():
                functions[:, negative] *= self.functions[self.nearest(X)][:, negative]
            return functions.astype(dtype, copy=False)

        return extend

    def arithmetic(self, dtype: Any) -> Any:
        """Return the dtype in which the functions are computed.

        Parameters
        ----------
        dtype : numpy.float32 or numpy.float64
            The dtype of the points.

        Returns
        -------
        dtype
            float64 if float32 would lose digits because large coefficients cancel, as happens
            for close points in a Rayleigh-Ritz problem.
        """
        sums = np.abs(self.coefficients).sum(axis=0) * self.kernel.kappa
        grows = np.any(sums > _LARGEST_GROWTH * np.abs(self.functions).max(axis=0, initial=0))
        return np.float64 if grows else dtype

    def nearest(self, X: Array) -> NDArray[np.intp]:
        """Return the nearest center of each point.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Indices of centers.
        """
        return KDTree(self.centers).query(X, workers=allowed_threads())[1]

    def select(self, columns: slice) -> EigenSystem:
        """Return a system with some of the eigenpairs.

        Parameters
        ----------
        columns : slice
            The eigenpairs to keep.

        Returns
        -------
        EigenSystem
            The selected eigenpairs.
        """
        return replace(
            self,
            coefficients=self.coefficients[:, columns],
            eigenvalues=self.eigenvalues[columns],
            functions=self.functions[:, columns],
        )


def solve(
    operator: Operator,
    kernel: RadialKernel,
    reduced_set: ReducedSet,
    n_components: int,
    graph: float | None = None,
) -> EigenSystem:
    """Solve the eigenproblem of an operator on a reduced set: Algorithm 1.

    Parameters
    ----------
    operator : Operator
        ``Plain()`` for the paper's kernel PCA.
    kernel : RadialKernel
        The kernel with its bandwidth resolved.
    reduced_set : ReducedSet
        Centers C and weights w.
    n_components : int
        r, the number of eigenpairs; fewer are returned if the others are zero up to rounding.
    graph : int, float or None, default=None
        For random walks: keep only the kernel values of near pairs. An int is the number of
        nearest centers, a float the largest distance.

    Returns
    -------
    EigenSystem
        Eigenpairs in descending order, with signs that do not depend on the order of the centers.
    """
    centers, weights = reduced_set.centers.astype(np.float64), reduced_set.weights
    neighbours = None if graph is None else NeighbourGraph.of(kernel, centers, graph)
    matrix = _matrix(kernel, centers, neighbours)
    fitted = operator.fit(matrix, weights)
    measure = fitted.measure(weights)
    _check_measure(measure, weights)
    weighted_gram, trace = matrix.weighted(fitted, measure)
    check_finite(weighted_gram @ np.ones(len(weights)))
    eigenvalues, vectors = eig.leading_eigenpairs(
        weighted_gram, n_components, fitted.rounding, indefinite=fitted.indefinite
    )
    functions = vectors / np.sqrt(measure)[:, None]
    functions *= signs(functions, centers)
    coefficients = measure[:, None] * functions / eigenvalues
    return EigenSystem(
        kernel,
        fitted,
        reduced_set.centers,
        coefficients,
        eigenvalues,
        functions,
        trace,
        graph=neighbours,
    )


def _matrix(kernel: RadialKernel, centers: Array, graph: NeighbourGraph | None) -> CenterMatrix:
    """Return K^C, stored unless it is sparse or too large."""
    if graph is not None:
        return SparseMatrix(graph)
    return (ProductMatrix if len(centers) > STORED_CENTERS else StoredMatrix)(kernel, centers)


def _check_measure(measure: Array, weights: Array) -> None:
    if not (measure > 0).all():
        raise ValueError(
            f"a weight of {weights.min():g} is too small compared to the sum of "
            f"{weights.sum():g}: the operator turns it into 0. Leave such rows out."
        )


def check_finite(values: Any) -> None:
    """Raise if sums of kernel values are not finite."""
    if not np.all(np.isfinite(values)):
        raise ValueError(
            "the kernel has values that are not finite; its profile, and the operator applied to "
            "it, must be finite for every distance."
        )


def signs(functions: Array, centers: Array) -> Array:
    """Return a sign for each eigenfunction that does not depend on the order of the points.

    With this sign the function is positive at the center where its absolute value is largest; if
    there are several such centers, as in symmetric data, at the last one in the order of the
    features.

    Parameters
    ----------
    functions : ndarray of shape (n_centers, n_components)
        The values of the functions at the centers.
    centers : ndarray of shape (n_centers, n_features)
        The centers.

    Returns
    -------
    ndarray of shape (n_components,)
        1 or -1.
    """
    size = np.abs(functions)
    largest = size >= (1 - 1e-6) * size.max(axis=0)
    return np.array(
        [
            np.sign(function[_last(np.flatnonzero(among), centers)])
            for function, among in zip(functions.T, largest.T, strict=True)
        ]
    )


def _last(rows: NDArray[np.intp], centers: Array) -> np.intp:
    """Return the row whose center comes last, sorted by the first feature, then the second, ..."""
    return rows[0] if len(rows) == 1 else rows[np.lexsort(centers[rows].T[::-1])[-1]]

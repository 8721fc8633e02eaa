"""Algorithm 1 (weight, decompose, reweight) and the extension of its solution to new points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from .._core import eig, gram
from .._core.distances import nearest_centers
from .._core.sparse import densify, is_sparse
from .._core.subspace import Subspace
from ..kernels import AnyKernel, RadialKernel
from ..reduced_set import ReducedSet
from ..value_kernels import check_symmetric
from .matrices import CenterMatrix, ProductMatrix, SparseMatrix, StoredMatrix
from .neighbours import NeighbourGraph
from .operators import Extensible, Operator

Array = NDArray[np.floating]

# With more centers, the weighted Gram matrix (2.1 GB at this size) is not stored; products with it
# are computed block by block.
STORED_CENTERS = 16_384

# The definiteness of a kernel is checked on at most _SOME_CENTERS centers. A negative eigenvalue is
# not due to rounding if it exceeds _INDEFINITE times the largest one in absolute value.
_SOME_CENTERS = 400
_INDEFINITE = 1e-8

# Largest accepted amplification of float32 rounding errors. Actual errors are about a tenth of this
# bound, or 6e-6.
_LARGEST_GROWTH = 500.0
# Points with many features are projected onto a subspace in float32 if the span misses more than
# the share _ROUGH of the trace and the centers span at most _ROUGH_EXTENT bandwidths. Squared
# distances then change by up to 16 float32 rounding errors, or 1e-6. On mnist, usps and yale, the
# embeddings of such models have errors above 1e-4.
_ROUGH, _ROUGH_EXTENT = 0.05, 4.0
_MANY_FEATURES = 100
_LARGEST_EXTENT = 1000.0  # in bandwidths; float32 rounds such coordinates by 3e-5 bandwidths


@dataclass(frozen=True, eq=False)
class EigenSystem:
    """Eigenvalues (in descending order) and eigenfunctions of an operator on a reduced set.

    Attributes
    ----------
    kernel : RadialKernel or Kernel
        The kernel with its bandwidth resolved.
    operator : Extensible
        The operator that modifies the kernel.
    centers : ndarray of shape (n_centers, n_features)
        The points over which the eigenfunctions are expanded.
    coefficients : ndarray of shape (n_centers, n_components)
        The coefficients A in f(x) = g(x, C) A, where g is the kernel as modified by the operator;
        :func:`solve` sets A = w f / mu.
    eigenvalues : ndarray of shape (n_components,)
        The eigenvalues mu in K~ v = mu v, where K~ = W G W, W = diag(sqrt(w)), G is the modified
        kernel at the centers, and w is the operator's measure (the weights, for kernel PCA).
    functions : ndarray of shape (n_centers, n_components)
        The eigenfunctions at the centers, W^{-1} v, normalized so that their weighted squares
        over the data that the operator represents sum to one.
    trace : float
        The trace of K~, which is the sum of all its eigenvalues.
    residual : float
        The part of the trace outside the span of the centers; 0 if the centers are the data. No
        eigenvalue of K~ exceeds the computed eigenvalue by more than this.
    exact : bool
        True if the operator is built from all data instead of a reduced set.
    graph : NeighbourGraph or None
        The neighbor graph, if the kernel is restricted to neighbors.
    subspace : Subspace or None
        A subspace that contains the centers and makes kernel values cheaper to compute.
    """

    kernel: AnyKernel
    operator: Extensible
    centers: Array
    coefficients: Array
    eigenvalues: Array
    functions: Array
    trace: float
    residual: float = 0.0
    exact: bool = False
    graph: NeighbourGraph | None = None
    subspace: Subspace | None = None

    def __post_init__(self) -> None:
        check.shapes(self, centers="md", coefficients="mr", eigenvalues="r")
        if not self.eigenvalues.all():
            raise ValueError("All eigenvalues must be nonzero.")
        if self.graph is not None and self.graph.tree.data.shape != self.centers.shape:
            raise ValueError(
                f"graph must have centers of shape {self.centers.shape}, like the eigensystem, "
                f"got {self.graph.tree.data.shape}."
            )

    def extend(self, X: Array) -> Array:
        """Evaluate the eigenfunctions f(x) = (1/mu) sum_j w_j g(x, c_j) f(c_j) at new points.

        Here, g is the kernel as modified by the operator, for example by centering.

        If mu is negative, which occurs in walks without self-affinities, the eigenfunction changes
        sign between neighboring centers and is not defined between them. A point then gets the
        value at the nearest center, or 0 if no center is reached.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Points, processed in blocks. The result has their dtype.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            One eigenfunction per column.
        """
        return self.prepare(X.dtype)(X)

    def prepare(self, dtype: Any) -> Callable[[Array], Array]:
        """Return :meth:`extend` specialized to one dtype, with precomputed arrays."""
        computed = self.arithmetic(dtype)
        function = self.operator.extension(self.coefficients, self.eigenvalues, computed)
        count, negative = len(self.eigenvalues), self.eigenvalues < 0
        sparse_rows = None if self.graph is None else self.graph.product
        centers = gram.prepare(
            self.kernel, self.centers, computed, self.subspace, rough=self._rough
        )

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

    def sums(self, columns: Array) -> Array:
        """Return K^C @ columns: weighted sums of the kernel over the centers, at each center."""
        centers = self.centers.astype(np.float64)
        if self.graph is not None:
            return self.graph.rows(centers) @ columns
        multiply = gram.multiplier(columns)
        return gram.product(self.kernel, centers, centers, multiply, columns.shape[1])

    def prepare_centers(self, dtype: Any) -> gram.Prepared:
        """Return the centers in the form that makes kernel values cheapest to compute."""
        return gram.prepare(self.kernel, self.centers, dtype, self.subspace)

    @property
    def _rough(self) -> bool:
        """True if the error of the model is far above that of a projection in float32."""
        if self.subspace is None or self.centers.shape[1] < _MANY_FEATURES:
            return False
        if not isinstance(self.kernel, RadialKernel):
            return False
        near = self._extent <= _ROUGH_EXTENT * self.kernel.scale
        return near and self.residual > _ROUGH * self.trace

    @property
    def _extent(self) -> float:
        """The diagonal of the smallest box that contains the centers."""
        return float(np.linalg.norm(np.ptp(self.centers.astype(np.float64), axis=0)))

    @property
    def kappa(self) -> float:
        """The largest value of k(c, c) among the centers."""
        return float(self.kernel.diagonal(self.centers).max())

    def arithmetic(self, dtype: Any) -> Any:
        """Return the dtype in which to evaluate the functions at points of the given dtype."""
        # float64 is needed if large coefficients cancel, as happens for close points in a
        # Rayleigh-Ritz problem, or if the centers are so far apart that their coordinates, in
        # bandwidths, lose too many digits. Only radial kernels with dense centers use float32.
        if not isinstance(self.kernel, RadialKernel) or is_sparse(self.centers):
            return np.float64
        sums = np.abs(self.coefficients).sum(axis=0) * self.kernel.kappa
        grows = np.any(sums > _LARGEST_GROWTH * np.abs(self.functions).max(axis=0, initial=0))
        far = self._extent > _LARGEST_EXTENT * self.kernel.scale
        return np.float64 if grows or far else dtype

    def nearest(self, X: Array) -> NDArray[np.intp]:
        """Return the index of the nearest center for each point."""
        return nearest_centers(X, self.centers, self.kernel.scale)[0]

    def select(self, columns: slice) -> EigenSystem:
        """Return an eigensystem with the selected eigenpairs."""
        # The arrays are contiguous, because products with strided arrays round differently.
        return replace(
            self,
            coefficients=self.coefficients[:, columns].copy(order="K"),
            eigenvalues=self.eigenvalues[columns],
            functions=self.functions[:, columns].copy(order="K"),
        )


def solve(
    operator: Operator,
    kernel: AnyKernel,
    reduced_set: ReducedSet,
    n_components: int,
    graph: float | None = None,
) -> EigenSystem:
    """Solve the eigenproblem of an operator on a reduced set (Algorithm 1).

    Parameters
    ----------
    operator : Operator
        The operator; ``Plain()`` for the paper's kernel PCA.
    kernel : RadialKernel or Kernel
        The kernel with its bandwidth resolved.
    reduced_set : ReducedSet
        Centers C and weights w.
    n_components : int
        Number of eigenpairs, r. Fewer are returned if the others are zero up to rounding error.
    graph : int, float or None, default=None
        For random walks, restricts the kernel to neighboring centers. An int is the number of
        nearest centers, and a float is the largest distance between neighbors.

    Returns
    -------
    EigenSystem
        Eigenpairs in descending order. The signs of the eigenfunctions do not depend on the order
        of the centers.
    """
    if not isinstance(kernel, RadialKernel):
        _check_definite(kernel, reduced_set.centers.astype(np.float64))
    return decompose(operator, kernel, reduced_set, n_components, graph)


def decompose(
    operator: Operator,
    kernel: AnyKernel,
    reduced_set: ReducedSet,
    n_components: int,
    graph: float | None = None,
) -> EigenSystem:
    """Solve the eigenproblem like :func:`solve`, without checking that the kernel is definite."""
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


def _matrix(kernel: AnyKernel, centers: Any, graph: NeighbourGraph | None) -> CenterMatrix:
    """Return K^C, as an array unless it is sparse or too large to store."""
    if graph is not None:
        return SparseMatrix(graph)
    return (ProductMatrix if centers.shape[0] > STORED_CENTERS else StoredMatrix)(kernel, centers)


def _check_definite(kernel: AnyKernel, centers: Any) -> None:
    """Raise a ValueError if a kernel is not positive definite on a subset of the centers."""
    some = centers[:: -(-centers.shape[0] // _SOME_CENTERS)]
    matrix = gram.gram(kernel, some, some)
    check_finite(matrix)
    check_symmetric(matrix)
    eigenvalues = np.linalg.eigvalsh(matrix)
    if eigenvalues[0] < -_INDEFINITE * np.abs(eigenvalues).max():
        raise ValueError(
            f"The kernel is not positive definite: its matrix for {len(matrix)} of the centers has "
            f"eigenvalues from {eigenvalues[0]:.3g} to {eigenvalues[-1]:.3g}. Use a positive "
            "definite kernel."
        )


def _check_measure(measure: Array, weights: Array) -> None:
    if not (measure > 0).all():
        raise ValueError(
            f"The smallest weight, {weights.min():g}, vanishes in floating point compared to the "
            f"sum of the weights, {weights.sum():g}. Remove rows with such small weights."
        )


def check_finite(values: Any) -> None:
    """Raise a ValueError if kernel values, or sums of them, are not finite."""
    if not np.all(np.isfinite(values)):
        raise ValueError(
            "The kernel values must be finite, got NaN or infinity. Check that the kernel and the "
            "operator return finite values for all rows."
        )


def signs(functions: Array, centers: Array) -> Array:
    """Return a sign (1 or -1) for each eigenfunction, independent of the order of the centers."""
    # With this sign, the function is positive at the center where its absolute value is largest.
    # If there are several such centers, as in symmetric data, the last one in lexicographic order
    # is used.
    size = np.abs(functions)
    largest = size >= (1 - 1e-6) * size.max(axis=0)
    return np.array(
        [
            np.sign(function[_last(np.flatnonzero(among), centers)])
            for function, among in zip(functions.T, largest.T, strict=True)
        ]
    )


def _last(rows: NDArray[np.intp], centers: Array) -> np.intp:
    """Return the row whose center is last in lexicographic order."""
    return rows[0] if len(rows) == 1 else rows[np.lexsort(densify(centers[rows]).T[::-1])[-1]]

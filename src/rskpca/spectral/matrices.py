"""The kernel matrix K^C at the centers: stored, recomputed for each product, or sparse.

Operators are fitted using products ``matrix @ v``, which are sums over the centers. Algorithm 1
decomposes the matrix returned by ``weighted``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from .._core import gram
from ..kernels import AnyKernel
from .neighbours import NeighbourGraph
from .operators import FittedOperator

Array = NDArray[np.floating]


class CenterMatrix(Protocol):
    """Interface of the matrix K^C. Call ``weighted`` last, because it may overwrite the matrix."""

    own: Array  # k(c, c) for each center

    def __matmul__(self, V: Array) -> Array: ...

    def set_diagonal(self, values: Array) -> None:
        """Replace the diagonal k(c, c)."""

    def weighted(self, fitted: FittedOperator, measure: Array) -> tuple[Any, float]:
        """Return K~ = M G M and its trace; G is the modified kernel, M = diag(sqrt(measure))."""


class StoredMatrix:
    """Kernel matrix K^C stored as an array."""

    def __init__(self, kernel: AnyKernel, centers: Any) -> None:
        self.own, self.centers = kernel.diagonal(centers), centers
        self.array = gram.gram(kernel, centers, centers)

    def __matmul__(self, V: Array) -> Array:
        """Return K^C V, the sums over the centers."""
        return self.array @ V

    def set_diagonal(self, values: Array) -> None:
        """Replace the diagonal k(c, c)."""
        np.fill_diagonal(self.array, values)

    def weighted(self, fitted: FittedOperator, measure: Array) -> tuple[Array, float]:
        """Return K~, which overwrites K^C, and its trace."""
        root = np.sqrt(measure)
        matrix = fitted.apply(self.array, self.centers, self.centers)
        matrix *= root
        matrix *= root[:, None]
        return matrix, float(np.trace(matrix))


class ProductMatrix:
    """Kernel matrix K^C, recomputed for each product to avoid storing m x m values."""

    def __init__(self, kernel: AnyKernel, centers: Any) -> None:
        self.kernel, self.own, self.centers = kernel, kernel.diagonal(centers), centers
        self.diagonal: Array | None = None

    def __matmul__(self, V: Array) -> Array:
        """Return K^C V, the sums over the centers."""
        product = self._rows(lambda block, rows: block @ V.reshape(len(V), -1), V.size // len(V))
        return product.reshape(V.shape)

    def set_diagonal(self, values: Array) -> None:
        """Replace the diagonal k(c, c)."""
        self.diagonal = values

    def weighted(self, fitted: FittedOperator, measure: Array) -> tuple[LinearOperator, float]:
        """Return K~ as a linear operator, and its trace."""
        size, root = len(measure), np.sqrt(measure)[:, None]

        def times(V: Array) -> Array:
            V = root * V.reshape(size, -1)
            return root * self._rows(
                lambda block, rows: fitted.apply(block, self.centers[rows], self.centers) @ V,
                V.shape[1],
            )

        def diagonal(block: Array, rows: slice) -> Array:
            block = fitted.apply(block, self.centers[rows], self.centers)
            return np.diagonal(block, rows.start)[:, None]

        matrix = LinearOperator((size, size), matvec=times, matmat=times, dtype=np.float64)
        return matrix, float(measure @ self._rows(diagonal, 1)[:, 0])

    def _rows(self, function: Callable[[Array, slice], Array], n_columns: int) -> Array:
        def of_block(block: Array, rows: slice) -> Array:
            if self.diagonal is not None:
                block[np.arange(len(block)), np.arange(rows.start, rows.stop)] = self.diagonal[rows]
            return function(block, rows)

        return gram.row_product(self.kernel, self.centers, self.centers, of_block, n_columns)


class SparseMatrix:
    """Sparse kernel matrix K^C, restricted to neighbors."""

    def __init__(self, graph: NeighbourGraph) -> None:
        self.centers = graph.tree.data
        self.own = graph.kernel.diagonal(self.centers)
        self.array = graph.rows(self.centers)

    def __matmul__(self, V: Array) -> Array:
        """Return K^C V, the sums over the neighbors."""
        return self.array @ V

    def set_diagonal(self, values: Array) -> None:
        """Replace the diagonal k(c, c)."""
        self.array.setdiag(values)

    def weighted(self, fitted: FittedOperator, measure: Array) -> tuple[sparse.csr_array, float]:
        """Return K~ as a sparse matrix, and its trace."""
        root = sparse.diags_array(np.sqrt(measure))
        matrix = root @ fitted.apply(self.array, self.centers, self.centers) @ root
        return matrix.tocsr(), float(matrix.trace())

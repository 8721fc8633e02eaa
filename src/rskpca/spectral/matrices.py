"""K^C, the kernel at the centers: stored, recomputed for each product, or sparse.

Operators learn from the sums over the centers that ``matrix @ v`` returns; Algorithm 1 decomposes
``weighted``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from .._core import gram
from ..kernels import RadialKernel
from .neighbours import NeighbourGraph
from .operators import FittedOperator

Array = NDArray[np.floating]


class CenterMatrix(Protocol):
    """The interface of K^C; ``weighted`` is called last because it may overwrite the matrix."""

    kappa: float

    def __matmul__(self, V: Array) -> Array: ...

    def set_diagonal(self, values: Array) -> None:
        """Replace the diagonal k(c, c)."""

    def weighted(self, fitted: FittedOperator, measure: Array) -> tuple[Any, float]:
        """Return K~ = M G M of the operator's kernel G, M = diag(sqrt(measure)), and its trace."""


class StoredMatrix:
    """K^C as an array."""

    def __init__(self, kernel: RadialKernel, centers: Array) -> None:
        self.kappa, self.centers = kernel.kappa, centers
        self.array = gram.gram(kernel, centers, centers)

    def __matmul__(self, V: Array) -> Array:
        """Return sums over the centers."""
        return self.array @ V

    def set_diagonal(self, values: Array) -> None:
        """Replace the diagonal k(c, c)."""
        np.fill_diagonal(self.array, values)

    def weighted(self, fitted: FittedOperator, measure: Array) -> tuple[Array, float]:
        """Return K~, in the memory of K^C, and its trace."""
        root = np.sqrt(measure)
        matrix = fitted.apply(self.array, self.centers, self.centers)
        matrix *= root
        matrix *= root[:, None]
        return matrix, float(np.trace(matrix))


class ProductMatrix:
    """K^C, recomputed for each product, which trades time for m x m memory."""

    def __init__(self, kernel: RadialKernel, centers: Array) -> None:
        self.kernel, self.kappa, self.centers = kernel, kernel.kappa, centers
        self.diagonal: Array | None = None

    def __matmul__(self, V: Array) -> Array:
        """Return sums over the centers."""
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
    """K^C restricted to neighbors."""

    def __init__(self, graph: NeighbourGraph) -> None:
        self.kappa, self.centers = graph.kernel.kappa, graph.tree.data
        self.array = graph.rows(self.centers)

    def __matmul__(self, V: Array) -> Array:
        """Return sums over the neighbors."""
        return self.array @ V

    def set_diagonal(self, values: Array) -> None:
        """Replace the diagonal k(c, c)."""
        self.array.setdiag(values)

    def weighted(self, fitted: FittedOperator, measure: Array) -> tuple[sparse.csr_array, float]:
        """Return K~ as a sparse matrix, and its trace."""
        root = sparse.diags_array(np.sqrt(measure))
        matrix = root @ fitted.apply(self.array, self.centers, self.centers) @ root
        return matrix.tocsr(), float(matrix.trace())

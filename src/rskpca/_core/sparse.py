"""Operations on rows in dense or CSR arrays: stacking, products, norms and distances.

Products, norms and distances are dense and computed in float64. For distances, sparse rows are
converted to dense ones only where squared norms cancel, a few rows at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .parallel import slices

Array = NDArray[np.floating]
Matrix = Any  # a dense array or a CSR array

_PAIR_ELEMENTS = 2**20  # number of differences that are stored at a time
# ||x||^2 + ||c||^2 - 2 <x, c> is recomputed from differences if it is below this fraction of the
# sum of the first two terms.
_NEAR = 0.1
# For a kernel that is smooth at zero, the rounding error does not matter if the sum of the first
# two terms is below this multiple of the squared bandwidth.
_LARGE = 1e4


def is_sparse(X: Any) -> bool:
    """Return True for a sparse array or matrix."""
    return bool(sparse.issparse(X))


def densify(X: Matrix) -> Array:
    """Return the rows as a dense array."""
    return X.toarray() if is_sparse(X) else X


def stack(first: Matrix, second: Matrix) -> Matrix:
    """Return the rows of both arrays; the result is sparse if the first array is."""
    if is_sparse(first):
        return sparse.csr_array(sparse.vstack([first, sparse.csr_array(second)]))
    return np.concatenate([first, densify(second)])


def select(first: Matrix, second: Matrix, order: NDArray[np.intp]) -> Matrix:
    """Return ``stack(first, second)[order]``, but copy dense rows only once."""
    if is_sparse(first) or first.dtype != second.dtype or len(first) == 0:
        return stack(first, second)[order]
    rows, later = np.take(first, order, axis=0, mode="clip"), order >= len(first)
    rows[later] = densify(second[order[later] - len(first)])
    return rows


def same_rows(first: Matrix, second: Matrix) -> bool:
    """Return True if both arrays contain the same rows, bit for bit."""
    if not is_sparse(first) and not is_sparse(second):
        return bool(np.array_equal(first, second))
    if first.shape != second.shape:
        return False
    return (sparse.csr_array(first) != sparse.csr_array(second)).nnz == 0


def freeze(X: Matrix) -> None:
    """Make the rows read-only, in place."""
    for array in (X.data, X.indices, X.indptr) if is_sparse(X) else (X,):
        array.flags.writeable = False


def transpose(C: Matrix) -> Matrix:
    """Return C' in the format that makes :func:`product` fast."""
    return C.T.tocsr() if is_sparse(C) else np.ascontiguousarray(C.T)


def product(X: Matrix, columns: Matrix) -> Array:
    """Return ``X @ columns`` as a dense array."""
    if is_sparse(X):
        return densify(X @ columns)
    return (columns.T @ X.T).T if is_sparse(columns) else X @ columns


def squared_norms(X: Matrix) -> Array:
    """Return the squared norm of each row."""
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X)


def paired_squared_distances(X: Matrix, C: Matrix) -> Array:
    """Return the squared distance between each row of X and the corresponding row of C."""
    squared = np.empty(X.shape[0])
    width = X.shape[1]
    if is_sparse(X) and is_sparse(C):
        width = max((X.nnz + C.nnz) // max(X.shape[0], 1), 1)
    for rows in slices(0, X.shape[0], max(_PAIR_ELEMENTS // width, 1)):
        differences = X[rows] - C[rows]
        squared[rows] = squared_norms(
            differences if is_sparse(differences) else np.asarray(differences)
        )
    return squared


class SquaredDistances:
    """Callable for squared distances between rows and centers, at least one of which is sparse.

    Parameters
    ----------
    C : array or CSR array of shape (n_centers, n_features)
        The centers.
    safe : float
        Sum of squared norms up to which cancellation does not matter.
    """

    def __init__(self, C: Matrix, safe: float) -> None:
        self.C, self.safe = C.astype(np.float64), safe
        self.columns, self.norms = transpose(self.C), squared_norms(self.C)

    def __call__(self, X: Matrix) -> Array:
        """Return the squared distances between the rows and all centers."""
        X = X.astype(np.float64)
        sums = squared_norms(X)[:, None] + self.norms
        squared = sums - 2 * product(X, self.columns)
        rows, centers = np.nonzero((squared < _NEAR * sums) & (sums > self.safe))
        for part in slices(0, len(rows), max(_PAIR_ELEMENTS // X.shape[1], 256)):
            pair = X[rows[part]], self.C[centers[part]]
            squared[rows[part], centers[part]] = paired_squared_distances(*pair)
        return np.maximum(squared, 0, out=squared)


def safe_norms(kernel: Any) -> float:
    """Return the sum of squared norms up to which the kernel tolerates cancellation."""
    return float(_LARGE * kernel.scale**2) if kernel.smooth else 0.0


def subspace_coordinates(X: Matrix, origin: Array, axes: Array) -> Array:
    """Return the coordinates of sparse rows in a subspace, and their distance from it.

    The last column is the distance. For rows close to the subspace, the squared distance
    ||x - origin||^2 - ||x'||^2 suffers from cancellation. These rows are converted to dense ones, a
    few at a time.
    """
    X = X.astype(np.float64)
    coordinates = X @ axes - origin @ axes
    sums = squared_norms(X) + origin @ origin
    squared = sums - 2 * (X @ origin) - squared_norms(coordinates)
    cancelled = np.flatnonzero(squared < _NEAR * sums)
    for part in slices(0, len(cancelled), max(_PAIR_ELEMENTS // X.shape[1], 1)):
        rows = cancelled[part]
        rest = X[rows].toarray() - origin
        rest -= (rest @ axes) @ axes.T
        squared[rows] = squared_norms(rest)
    return np.column_stack([coordinates, np.sqrt(np.maximum(squared, 0))])

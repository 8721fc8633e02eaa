"""Affine subspaces spanned by principal axes, in which kernel values need fewer operations.

For points c = origin + axes c' in the subspace, ||x - c||^2 = ||x' - c'||^2 + ||x - origin||^2 -
||x'||^2, with x' = axes' (x - origin). The squared distances are exact, but need only p
multiplications per center instead of d, where p is the dimension of the subspace and d the number
of features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from .parallel import single_threaded_blas
from .sparse import densify, is_sparse, squared_norms

Array = NDArray[np.floating]

_POWER_STEPS = 2
_MORE_AXES = 10  # additional axes during the iteration
_NEGLIGIBLE = 1e-12  # directions with a smaller relative variance are rounding errors


@dataclass(frozen=True, eq=False)
class Subspace:
    """The affine subspace origin + span(axes).

    Attributes
    ----------
    origin : ndarray of shape (n_features,)
        A point in the subspace.
    axes : ndarray of shape (n_features, n_axes)
        Orthonormal columns.
    """

    origin: Array
    axes: Array

    def __post_init__(self) -> None:
        if self.axes.ndim != 2 or self.origin.shape != (len(self.axes),):
            raise ValueError(
                f"axes must have one row per feature of origin, got shapes {self.axes.shape} and "
                f"{self.origin.shape}."
            )
        products = self.axes.T @ self.axes
        if not np.allclose(products, np.eye(len(products)), atol=1e-8):
            raise ValueError("axes must be orthonormal.")

    @property
    def n_axes(self) -> int:
        """The dimension of the subspace."""
        return self.axes.shape[1]

    @classmethod
    def principal(cls, X: Any, weights: Array, n_axes: int) -> Subspace:
        """Return the subspace spanned by up to ``n_axes`` leading principal axes of the rows."""
        shares = weights / weights.sum()
        origin = shares @ X
        rounding = (4 * np.finfo(np.float64).eps) ** 2 * float(shares @ squared_norms(X))
        rows = _centered(X, origin, np.sqrt(shares), n_axes)
        with single_threaded_blas(rows.size):
            axes = _leading_axes(rows, n_axes, rounding)
        return cls(origin, np.ascontiguousarray(axes))

    def leading(self, n_axes: int) -> Subspace:
        """Return the subspace spanned by the first ``n_axes`` axes."""
        return Subspace(self.origin, np.ascontiguousarray(self.axes[:, :n_axes]))

    def coordinates(self, X: Any) -> Array:
        """Return the coordinates of rows in the subspace."""
        if is_sparse(X):
            return X @ self.axes - self.origin @ self.axes
        return (X - self.origin) @ self.axes

    def points(self, coordinates: Array) -> Array:
        """Return the points in the subspace that have the given coordinates."""
        return self.origin + coordinates @ self.axes.T

    def serves(self, X: Array) -> bool:
        """Return True if the subspace contains the points and makes distances to them cheaper."""
        (n_points, d), p = X.shape, self.axes.shape[1]
        X = X.astype(np.float64)
        rounding = _NEGLIGIBLE * np.abs(X).max(initial=0)
        inside = np.abs(self.points(self.coordinates(X)) - X).max(initial=0) <= rounding
        return bool(inside) and p * (d + n_points) < d * n_points


class _CenteredRows:
    """Weighted sparse rows relative to an origin, without converting them to dense rows."""

    def __init__(self, X: Any, origin: Array, factors: Array) -> None:
        self._X, self._origin, self._factors = X, origin, factors[:, None]
        self.shape, self.size = X.shape, X.nnz

    def __matmul__(self, columns: Array) -> Array:
        return self._factors * (self._X @ columns - self._origin @ columns)

    def transposed_product(self, columns: Array) -> Array:
        """Return ``rows.T @ columns``."""
        columns = self._factors * columns
        return self._X.T @ columns - np.outer(self._origin, columns.sum(axis=0))


def _few(n_axes: int, shape: tuple[int, int]) -> bool:
    """Return True if subspace iteration is faster than computing all axes."""
    return 3 * (n_axes + _MORE_AXES) < min(shape)


def _centered(X: Any, origin: Array, factors: Array, n_axes: int) -> Any:
    """Return weighted rows relative to the origin, as an array unless only products are needed."""
    from .compiled import read_only, scale_rows

    few = _few(n_axes, X.shape)
    if is_sparse(X) and few:
        return _CenteredRows(X, origin, factors)
    # For a few axes, more digits would not make them more useful.
    rows = np.empty(X.shape, np.float32 if few else np.float64)
    norms = np.empty(X.shape[0], rows.dtype)
    scale_rows(read_only(densify(X)), origin, 1.0, rows, norms)
    rows *= factors[:, None].astype(rows.dtype)
    return rows


def _sparse_axes(rows: _CenteredRows, n_axes: int, rounding: float) -> Array:
    """Compute the leading right singular vectors of sparse rows by subspace iteration."""
    size = rows.shape[0], n_axes + _MORE_AXES
    start = np.random.default_rng(0).standard_normal(size, dtype=np.float32)  # as for dense rows
    basis = _orthonormalize(rows.transposed_product(start))
    for _ in range(_POWER_STEPS):
        basis = _orthonormalize(rows.transposed_product(rows @ basis))
    return _rotate(basis, rows @ basis, n_axes, rounding)


def _leading_axes(rows: Any, n_axes: int, rounding: float) -> Array:
    """Return the leading right singular vectors whose variance exceeds rounding errors."""
    # If there are many other vectors, subspace iteration avoids computing them.
    if isinstance(rows, _CenteredRows):
        return _sparse_axes(rows, n_axes, rounding)
    if _few(n_axes, rows.shape):
        size = len(rows), n_axes + _MORE_AXES
        start = np.random.default_rng(0).standard_normal(size, dtype=np.float32)
        basis = _orthonormalize(rows.T @ start)
        for _ in range(_POWER_STEPS):
            basis = _orthonormalize(rows.T @ (rows @ basis))
        basis = _orthonormalize(basis.astype(np.float64))
        images = rows @ basis.astype(np.float32)
        return _rotate(basis, images.astype(np.float64), n_axes, rounding)
    basis = np.eye(rows.shape[1]) if rows.shape[1] <= len(rows) else _orthonormalize(rows.T)
    return _rotate(basis, rows @ basis, n_axes, rounding)


def _orthonormalize(columns: Array) -> Array:
    """Return an orthonormal basis of the span of the columns."""
    with single_threaded_blas():  # LAPACK gains little from threads, and waits if cores are busy
        return np.linalg.qr(columns)[0]


def _rotate(basis: Array, images: Array, n_axes: int, rounding: float) -> Array:
    """Return the principal axes in the span of an orthonormal basis."""
    squares, vectors = eigh(images.T @ images)
    kept = squares[::-1][:n_axes] > max(_NEGLIGIBLE * squares[-1], rounding)
    return basis @ vectors[:, ::-1][:, :n_axes][:, kept]

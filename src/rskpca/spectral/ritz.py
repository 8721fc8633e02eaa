"""Rayleigh-Ritz: the best eigenfunctions in the span of a few basis points.

The method uses the moments of the data in an orthonormal basis of the span. These are sums over the
rows, so no array of size n is stored. If all points of a reduced set form the basis, the result is
that of Algorithm 1. With fewer basis points, or with all rows in the operator, it is the variant
of the Nystrom method that keeps only the landmarks.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from .. import _validation as check
from .._core import eig, gram
from .._core.parallel import single_threaded_blas, threads_for
from .._core.sparse import same_rows
from .._core.subspace import Subspace
from ..kernels import AnyKernel, RadialKernel
from ..value_kernels import check_symmetric
from .eigensystem import EigenSystem, check_finite, signs
from .operators import Extensible, Extension, Plain, Shifted

Array = NDArray[np.floating]

# A basis point is dropped if its squared distance from the span of the others, relative to kappa,
# is below this threshold.
_REDUNDANT = 1e-10

# Sums of k(x, Z) are accumulated and converted to sums of b(x) at the end if the conversion adds at
# most _ROUNDING to the error, relative to n, and there are more than _FEW_ROWS rows.
_ROUNDING = 1e-7
_FEW_ROWS = 1024
# Kernel values of float32 rows are float32 if a bound on the error of the operator, relative to
# kappa, is at most this. The actual error is at most a third of the bound, mostly a tenth or less.
_SINGLE = 1e-3
# Negative squared distances beyond this, relative to the largest k(x, x), are not due to rounding.
_INDEFINITE = 1e-6
_NO_WEIGHT = 1e-9  # fraction of the total weight that may be due to rounding


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of the data in the span of basis points, for Rayleigh-Ritz.

    b(x) = k(x, Z) T, with K_ZZ = L L' and T = L^{-T}, contains the coordinates of the projection of
    psi(x) onto the span of the basis, in an orthonormal system.

    Attributes
    ----------
    kernel : RadialKernel or Kernel
        The kernel with its bandwidth resolved.
    basis : ndarray of shape (n_basis, n_features)
        The basis points Z, without redundant points.
    columns : ndarray of shape (n_basis, n_basis)
        The matrix T.
    total : float
        Sum of the weights, n.
    first : ndarray of shape (n_basis,)
        Weighted sum of b(x).
    second : ndarray of shape (n_basis, n_basis)
        Weighted sum of b(x) b(x)'.
    subspace : Subspace or None
        A subspace that contains the basis points and makes kernel values cheaper to compute.
    diagonal_sum : float
        Weighted sum of k(x, x). It is set to n kappa for radial kernels and required for others.
    """

    kernel: AnyKernel
    basis: Array
    columns: Array
    total: float
    first: Array
    second: Array
    subspace: Subspace | None = None
    diagonal_sum: float = None  # type: ignore[assignment]  # set in __post_init__
    _cache: dict[Any, gram.Prepared] = field(default_factory=dict, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the prepared basis, which can be recomputed."""
        return {**self.__dict__, "_cache": {}}

    def __post_init__(self) -> None:
        check.shapes(self, basis="bd", columns="bb", first="b", second="bb")
        if isinstance(self.kernel, RadialKernel):
            object.__setattr__(self, "diagonal_sum", self.total * self.kernel.kappa)
        elif self.diagonal_sum is None:
            raise ValueError("diagonal_sum is required for a kernel that is not radial.")

    @classmethod
    def of(cls, kernel: AnyKernel, basis: Any, subspace: Subspace | None = None) -> Moments:
        """Return moments initialized to zero, for a basis with redundant points removed."""
        points = basis
        if subspace is not None and isinstance(kernel, RadialKernel):
            points = subspace.coordinates(basis)  # the same distances in fewer dimensions
        matrix = gram.gram(kernel, points, points)
        check_finite(matrix)
        largest = float(kernel.diagonal(basis).max())
        with single_threaded_blas(matrix.size):
            kept = _independent(matrix, _REDUNDANT * largest)
            factor = np.linalg.cholesky(matrix[np.ix_(kept, kept)])
            columns = solve_triangular(factor, np.eye(len(kept)), lower=True).T
            if not isinstance(kernel, RadialKernel):
                _check_redundant(matrix, kept, columns, largest)
        zeros = np.zeros((len(kept), len(kept)))
        columns = np.ascontiguousarray(columns)
        return cls(kernel, basis[kept], columns, 0.0, zeros[0], zeros, subspace, 0.0)

    def add(self, X: Any, weights: Array | None = None) -> Moments:
        """Return new moments with the rows of X added, each with weight 1 by default."""
        return self._plus(*self._summed(X, weights))

    def remove(self, X: Any, weights: Array | None = None) -> Moments:
        """Return new moments without the rows of X, which were added earlier with these weights."""
        total, own, first, second = self._summed(X, weights)
        left = self.total - total
        if left < -_NO_WEIGHT * self.total:
            raise ValueError(
                f"forget: rows of weight {total:g} would be removed, but the total weight is only "
                f"{self.total:g}. Remove each row once. Nothing was changed."
            )
        if left <= _NO_WEIGHT * self.total:
            raise ValueError(
                "forget: no rows would be left; create a new estimator instead. Nothing was "
                "changed."
            )
        return self._plus(-total, -own, -first, -second)

    def merge(self, other: Moments) -> Moments:
        """Return the moments of the combined data; both must have the same basis."""
        if not same_rows(self.basis, other.basis):
            raise ValueError("Moments with different bases cannot be merged. Use the same basis.")
        return self._plus(other.total, other.diagonal_sum, other.first, other.second)

    def _plus(self, total: float, own: float, first: Array, second: Array) -> Moments:
        sums = replace(
            self,
            total=self.total + total,
            diagonal_sum=self.diagonal_sum + own,
            first=self.first + first,
            second=self.second + second,
        )
        sums._cache.update(self._cache)  # the basis is the same
        return sums

    def project(self, X: Any) -> Array:
        """Return b(x) for each row."""
        from .._core.blas import times_upper_triangular

        centers, T = self._prepare_basis(np.float64), self.columns
        seconds = gram.moments_seconds(X.shape[0], len(T), centers.products / len(T))
        return gram.product(
            self.kernel,
            X,
            centers,
            lambda values: times_upper_triangular(values, T),
            len(T),
            n_threads=threads_for(seconds),
        )

    def _prepare_basis(self, dtype: Any) -> gram.Prepared:
        key = np.dtype(dtype)
        if key not in self._cache:
            self._cache[key] = gram.prepare(self.kernel, self.basis, dtype, self.subspace)
        return self._cache[key]

    def _summed(self, X: Any, weights: Array | None) -> tuple[float, float, Array, Array]:
        """Return the sums of the weights, of k(x, x), of b(x) and of b(x) b(x)'.

        They are computed from sums S of k(x, Z) if that is faster and accurate enough: T' S T
        amplifies the rounding error of S, about eps n kappa^2 per entry, by a factor of
        ||T||_F^2 = tr(K_ZZ^{-1}).
        """
        T, kernel = self.columns, self.kernel
        total = float(X.shape[0] if weights is None else weights.sum())
        own = _diagonal_sum(kernel, X, weights, total)
        growth = float(kernel.diagonal(self.basis).max() * np.einsum("ij,ij->", T, T))
        centers = self._prepare_basis(self._arithmetic(X.dtype, growth))
        lost = np.finfo(np.float64).eps * growth
        if lost > _ROUNDING or X.shape[0] <= max(_FEW_ROWS, 2 * len(T)):
            return total, own, *gram.moments(kernel, X, weights, centers, T)
        first, second = gram.moments(kernel, X, weights, centers)
        with single_threaded_blas(T.size):
            return total, own, T.T @ first, T.T @ second @ T

    def _arithmetic(self, dtype: Any, growth: float) -> Any:
        """Return the dtype for kernel values, whose rounding errors are amplified by ``growth``."""
        # Sums are accumulated in float64 in any case. With few features, float32 gains little.
        small = np.finfo(np.float32).eps * growth <= _SINGLE
        return dtype if small and self.subspace is not None else np.float64


def _independent(matrix: Array, tolerance: float) -> NDArray[np.intp]:
    """Return the sorted indices of rows of a Gram matrix that span the others within tolerance."""
    *_, pivots, rank, _ = dpstrf(matrix, tol=tolerance, lower=1)
    return np.sort(pivots[:rank] - 1)


def _diagonal_sum(kernel: AnyKernel, X: Any, weights: Array | None, total: float) -> float:
    """Return the weighted sum of k(x, x)."""
    if isinstance(kernel, RadialKernel):
        return total * kernel.kappa
    own = kernel.diagonal(X)
    return float(own.sum() if weights is None else weights @ own)


def _check_redundant(matrix: Array, kept: Any, columns: Array, largest: float) -> None:
    """Raise a ValueError if a redundant point has a negative squared distance from the span."""
    check_symmetric(matrix)
    held = np.square(matrix[:, kept] @ columns).sum(axis=1)
    least = float((np.diagonal(matrix) - held).min())
    if least < -_INDEFINITE * largest:
        raise ValueError(
            f"The kernel is not positive definite: a squared distance in feature space is "
            f"{least:.3g}. Use a positive definite kernel."
        )


def _check_definite(moments: Moments) -> None:
    """Raise a ValueError if projections are longer than the projected vectors."""
    held, all_of_it = float(np.trace(moments.second)), moments.diagonal_sum
    check_finite(held)
    if held > 1.0001 * all_of_it:
        raise ValueError(
            f"The kernel is not positive definite: projecting the data onto a subspace multiplies "
            f"the trace by {held / all_of_it:.3g}. Use a positive definite kernel."
        )


def ritz(moments: Moments, n_components: int, *, center: bool) -> EigenSystem:
    """Return the leading eigenpairs of the data operator, restricted to the span of the basis.

    Parameters
    ----------
    moments : Moments
        The moments of the data.
    n_components : int
        Number of eigenpairs, r. Fewer are returned if the others are zero up to rounding error.
    center : bool
        Whether to center in feature space.

    Returns
    -------
    EigenSystem
        The eigensystem. Its ``residual`` is tr(K) - tr(second), the part of the trace outside
        the span.
    """
    n, kernel, second = moments.total, moments.kernel, moments.second
    _check_definite(moments)
    mean = moments.first / n
    held = float(np.trace(second))
    operator: Extensible = Plain()
    trace = moments.diagonal_sum
    if center:
        second = second - n * np.outer(mean, mean)
        trace -= n * float(mean @ mean)
        means = solve_triangular(moments.columns, mean, lower=False, trans="T")
        operator = Shifted(means, moments.columns @ mean)
    rounding = len(mean) * np.finfo(np.float64).eps * held
    eigenvalues, vectors = eig.leading_eigenpairs(second.copy(), n_components, rounding)
    coefficients = moments.columns @ vectors / np.sqrt(eigenvalues)
    functions = _at_basis(
        moments, operator.extension(coefficients, eigenvalues, np.float64), len(eigenvalues)
    )
    check_finite(functions)
    orientation = signs(functions, moments.basis.astype(np.float64))
    return EigenSystem(
        kernel,
        operator,
        moments.basis,
        coefficients * orientation,
        eigenvalues,
        functions * orientation,
        trace,
        max(moments.diagonal_sum - held, 0.0),
        subspace=moments.subspace,
    )


def _at_basis(moments: Moments, function: Extension, count: int) -> Array:
    """Evaluate the functions at the basis points."""
    basis = moments.basis
    return gram.row_product(
        moments.kernel, basis, basis, lambda block, rows: function(block, basis[rows], basis), count
    )

"""Rayleigh-Ritz: the best eigenfunctions among all functions of a few basis points.

The data enter through their moments in an orthonormal basis of the span, which add up row by
row, so that nothing of size n is kept. With all points of a reduced set as the basis the answer
is that of Algorithm 1; with fewer, or with the data themselves in the operator, it is the
Nystrom method with the landmarks kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from .._core import eig, gram
from .._core.parallel import single_threaded_blas
from ..kernels import RadialKernel
from .eigensystem import EigenSystem, check_finite, signs
from .operators import Extensible, Extension, Plain, Shifted

Array = NDArray[np.floating]

# A basis point is dropped when the others come this close to it, squared, relative to kappa.
_REDUNDANT = 1e-10

# Sums of k(x, Z) may be made sums of b(x) afterwards where that costs at most this, relative to n.
_ROUNDING = 1e-7
_FEW_ROWS = 1024  # it is not worth it


@dataclass(frozen=True, eq=False)
class Moments:
    """What Rayleigh-Ritz needs of the data: a summary that grows row by row.

    b(x) are the coordinates of the projection of psi(x) on the span of the basis, in the
    orthonormal system that ``columns`` makes: b(x) = k(x, Z) T with T = L^{-T}, K_ZZ = L L'.

    Attributes
    ----------
    kernel : RadialKernel
        With a number for its bandwidth.
    basis : ndarray of shape (n_basis, n_features)
        Z, without points that the others make redundant.
    columns : ndarray of shape (n_basis, n_basis)
        T.
    total : float
        n, the sum of the weights.
    first : ndarray of shape (n_basis,)
        Weighted sum of b(x).
    second : ndarray of shape (n_basis, n_basis)
        Weighted sum of b(x) b(x)'.
    """

    kernel: RadialKernel
    basis: Array
    columns: Array
    total: float
    first: Array
    second: Array

    @classmethod
    def of(cls, kernel: RadialKernel, basis: Array) -> Moments:
        """Moments of no data yet.

        Parameters
        ----------
        kernel : RadialKernel
            With a number for its bandwidth.
        basis : ndarray of shape (n_basis, n_features)
            Points; repeated ones are dropped.

        Returns
        -------
        Moments
            All zero.
        """
        matrix = gram.gram(kernel, basis, basis)
        check_finite(matrix)
        with single_threaded_blas(matrix.size):
            kept = _independent(matrix, _REDUNDANT * kernel.kappa)
            factor = np.linalg.cholesky(matrix[np.ix_(kept, kept)])
            columns = solve_triangular(factor, np.eye(len(kept)), lower=True).T
        zeros = np.zeros((len(kept), len(kept)))
        return cls(kernel, basis[kept], np.ascontiguousarray(columns), 0.0, zeros[0], zeros)

    def add(self, X: Array, weights: Array | None = None) -> Moments:
        """The moments with these rows more.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Rows, taken a block at a time.
        weights : ndarray of shape (n_samples,), default=None
            How often each counts.

        Returns
        -------
        Moments
            New ones.
        """
        total = float(len(X) if weights is None else weights.sum())
        first, second = self._summed(X, weights)
        return replace(
            self,
            total=self.total + total,
            first=self.first + first,
            second=self.second + second,
        )

    def merge(self, other: Moments) -> Moments:
        """The moments of the data of both.

        Parameters
        ----------
        other : Moments
            On the same basis.

        Returns
        -------
        Moments
            New ones.
        """
        if not np.array_equal(self.basis, other.basis):
            raise ValueError("moments on another basis cannot be merged; start both from one.")
        return replace(
            self,
            total=self.total + other.total,
            first=self.first + other.first,
            second=self.second + other.second,
        )

    def _summed(self, X: Array, weights: Array | None) -> tuple[Array, Array]:
        """Sums of b(x) and b(x) b(x)', from those of k(x, Z) where that is quicker and safe.

        T' S T has the rounding of S, about eps n kappa^2 an entry, times ||T||_F^2 = tr(K_ZZ^{-1}).
        """
        T, kernel = self.columns, self.kernel
        lost = np.finfo(np.float64).eps * kernel.kappa * np.einsum("ij,ij->", T, T)
        if lost > _ROUNDING or len(X) <= max(_FEW_ROWS, 2 * len(T)):
            return gram.moments(kernel, X, weights, self.basis, T)
        first, second = gram.moments(kernel, X, weights, self.basis)
        with single_threaded_blas(T.size):
            return T.T @ first, T.T @ second @ T


def _independent(matrix: Array, tolerance: float) -> NDArray[np.intp]:
    """Rows of a Gram matrix that span the others to within the tolerance, in order."""
    *_, pivots, rank, _ = dpstrf(matrix, tol=tolerance, lower=1)
    return np.sort(pivots[:rank] - 1)


def _check_definite(moments: Moments) -> None:
    """Projections cannot be longer than what they are projections of."""
    held, all_of_it = float(np.trace(moments.second)), moments.total * moments.kernel.kappa
    check_finite(held)
    if held > 1.0001 * all_of_it:
        raise ValueError(
            f"the kernel is not positive definite: a span holds {held / all_of_it:.3g} times the "
            "trace of all of the data. Only positive definite kernels have principal components."
        )


def ritz(moments: Moments, n_components: int, *, center: bool) -> EigenSystem:
    """The leading eigenpairs of the data's operator on the span of the basis.

    Parameters
    ----------
    moments : Moments
        Of the data.
    n_components : int
        r, the eigenpairs wanted; fewer come back where the others are zero to rounding.
    center : bool
        About the mean in feature space, or not.

    Returns
    -------
    EigenSystem
        Its ``residual`` is n kappa - tr(second), the part of the data outside the span.
    """
    n, kernel, second = moments.total, moments.kernel, moments.second
    _check_definite(moments)
    mean = moments.first / n
    held = float(np.trace(second))
    operator: Extensible = Plain()
    trace = n * kernel.kappa
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
        max(n * kernel.kappa - held, 0.0),
    )


def _at_basis(moments: Moments, function: Extension, count: int) -> Array:
    """Functions at the points of the basis themselves."""
    basis = moments.basis
    return gram.row_product(
        moments.kernel, basis, basis, lambda block, rows: function(block, basis[rows], basis), count
    )

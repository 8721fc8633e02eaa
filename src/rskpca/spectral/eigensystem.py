"""Algorithm 1: weight, decompose, reweight; and the extension to new points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from .._core import eig, gram
from .._core.parallel import slices
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet
from .operators import FittedOperator, Operator

Array = NDArray[np.floating]

# Above this many centers the weighted Gram matrix (1.2 GB here) is not stored but multiplied.
STORED_CENTERS = 12_000


@dataclass(frozen=True, eq=False)
class EigenSystem:
    """Eigenvalues, descending, and eigenfunctions of an operator on a reduced set.

    Attributes
    ----------
    kernel : RadialKernel
        With a number for its bandwidth.
    operator : FittedOperator
        What is done to the kernel.
    centers : ndarray of shape (n_centers, n_features)
        The points that the eigenfunctions are expressed in.
    coefficients : ndarray of shape (n_centers, n_components)
        A of f(x) = k(x, C) A, with the operator's kernel: w f / mu for :func:`solve`.
    eigenvalues : ndarray of shape (n_components,)
        mu of K~ v = mu v, with K~ = W K^C W and W = diag(sqrt(w)).
    functions : ndarray of shape (n_centers, n_components)
        The eigenfunctions at the centers, W^{-1} v. Their weighted squares over the data that
        the operator stands for sum to one.
    trace : float
        The trace of K~, the sum of all of its eigenvalues.
    residual : float
        How much of the trace no function of these centers can hold; no eigenvalue of K~ is
        further than this above the one found. 0 where the centers are the data.
    """

    kernel: RadialKernel
    operator: FittedOperator
    centers: Array
    coefficients: Array
    eigenvalues: Array
    functions: Array
    trace: float
    residual: float = 0.0

    def extend(self, X: Array) -> Array:
        """Eigenfunctions at new points: f(x) = (1/mu) sum_j w_j k(x, c_j) f(c_j).

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Its dtype is that of the result. Never more than a few blocks are held.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            One eigenfunction a column.
        """
        function = self.operator.extension(self.coefficients, X.dtype)
        return gram.product(
            self.kernel, X, self.centers, function, len(self.eigenvalues), dtype=X.dtype
        )


def solve(
    operator: Operator, kernel: RadialKernel, reduced_set: ReducedSet, n_components: int
) -> EigenSystem:
    """Algorithm 1, for any operator.

    Parameters
    ----------
    operator : Operator
        Plain for the paper's kernel PCA.
    kernel : RadialKernel
        With a number for its bandwidth.
    reduced_set : ReducedSet
        Centers C and weights w.
    n_components : int
        r, the eigenpairs wanted; fewer come back where the others are zero to rounding.

    Returns
    -------
    EigenSystem
        Descending, with signs that do not depend on the order of the centers.
    """
    centers, weights = reduced_set.centers.astype(np.float64), reduced_set.weights
    fitted, weighted_gram, trace = _weighted_gram(operator, kernel, centers, weights)
    eigenvalues, vectors = eig.leading_eigenpairs(weighted_gram, n_components, fitted.rounding)
    functions = vectors / np.sqrt(weights)[:, None]
    functions *= signs(functions, centers)
    coefficients = weights[:, None] * functions / eigenvalues
    return EigenSystem(
        kernel, fitted, reduced_set.centers, coefficients, eigenvalues, functions, trace
    )


def _weighted_gram(
    operator: Operator, kernel: RadialKernel, centers: Array, weights: Array
) -> tuple[FittedOperator, Any, float]:
    """K~ = W g(C, C) K^C W, stored or as a product, and its trace."""
    if len(centers) > STORED_CENTERS:
        return _weighted_product(operator, kernel, centers, weights)
    root = np.sqrt(weights)
    matrix = gram.gram(kernel, centers, centers)
    fitted = operator.fit(matrix, weights)
    matrix = fitted.apply(matrix)
    matrix *= root
    matrix *= root[:, None]
    if not np.isfinite(matrix.sum()):
        raise ValueError(
            "the kernel has values that are not finite numbers; its profile must be finite for "
            "every distance."
        )
    return fitted, matrix, float(np.trace(matrix))


def _weighted_product(
    operator: Operator, kernel: RadialKernel, centers: Array, weights: Array
) -> tuple[FittedOperator, LinearOperator, float]:
    """The same, computed anew at each product: time instead of m x m memory."""
    size = len(centers)
    root = np.sqrt(weights)
    fitted = operator.fit(kernel_matrix(kernel, centers), weights)

    def weighted(V: Array) -> Array:
        V = root[:, None] * V.reshape(size, -1)
        return root[:, None] * gram.product(
            kernel, centers, centers, lambda block: fitted.apply(block) @ V, V.shape[1]
        )

    matrix = LinearOperator((size, size), matvec=weighted, matmat=weighted, dtype=np.float64)
    return fitted, matrix, float(weights @ _diagonal(kernel, fitted, centers))


def kernel_matrix(kernel: RadialKernel, X: Array) -> LinearOperator:
    """k(X, X) as something to multiply with, computed anew at each product."""
    shape = len(X), len(X)

    def times(V: Array) -> Array:
        V = V.reshape(len(X), -1)
        return gram.product(kernel, X, X, lambda block: block @ V, V.shape[1])

    return LinearOperator(shape, matvec=times, matmat=times, dtype=np.float64)


def _diagonal(kernel: RadialKernel, fitted: FittedOperator, centers: Array) -> Array:
    """The operator's kernel at (c_j, c_j), a block at a time."""
    diagonal = [
        np.diagonal(fitted.apply(gram.gram(kernel, centers[rows], centers)), rows.start)
        for rows in slices(0, len(centers), 256)
    ]
    return np.concatenate(diagonal)


def signs(functions: Array, centers: Array) -> Array:
    """A sign for each eigenfunction that depends on the points alone, not on their order.

    With it the function is positive at the center where it is largest in size; of several, as
    symmetric data have, at the one that is last in the order of the features.

    Parameters
    ----------
    functions : ndarray of shape (n_centers, n_components)
        Their values at the centers.
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
    """The row whose center comes last, by its first feature, then by its second, and so on."""
    return rows[0] if len(rows) == 1 else rows[np.lexsort(centers[rows].T[::-1])[-1]]

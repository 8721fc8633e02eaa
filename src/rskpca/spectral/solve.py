"""Algorithm 1: weight, decompose, reweight; and the extension to new points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from .._core import eig, gram
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet
from .operators import FittedOperator, Operator

Array = NDArray[np.floating]
Floats = NDArray[np.float64]

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
    weights : ndarray of shape (n_centers,)
        Their weights w.
    eigenvalues : ndarray of shape (n_components,)
        mu of K~ v = mu v, with K~ = W K^C W and W = diag(sqrt(w)).
    functions : ndarray of shape (n_centers, n_components)
        The eigenfunctions at the centers, W^{-1} v: their weighted squares sum to one.
    trace : float
        The trace of K~, the sum of all of its eigenvalues.
    """

    kernel: RadialKernel
    operator: FittedOperator
    centers: Array
    weights: Floats
    eigenvalues: Floats
    functions: Floats
    trace: float

    @property
    def vectors(self) -> Floats:
        """v, the unit eigenvectors of K~."""
        return np.sqrt(self.weights)[:, None] * self.functions

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
        coefficients = self.weights[:, None] * self.functions / self.eigenvalues
        coefficients = coefficients.astype(X.dtype, copy=False)
        return gram.product(
            self.kernel,
            X,
            self.centers,
            lambda block: self.operator.product(block, coefficients),
            len(self.eigenvalues),
            dtype=X.dtype,
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
    eigenvalues, vectors = eig.leading_eigenpairs(weighted_gram, n_components)
    functions = _oriented(vectors / np.sqrt(weights)[:, None], centers, weights)
    return EigenSystem(
        kernel, fitted, reduced_set.centers, weights, eigenvalues, functions, trace
    )


def _weighted_gram(
    operator: Operator, kernel: RadialKernel, centers: Floats, weights: Floats
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
    return fitted, matrix, float(np.trace(matrix))


def _weighted_product(
    operator: Operator, kernel: RadialKernel, centers: Floats, weights: Floats
) -> tuple[FittedOperator, LinearOperator, float]:
    """The same, computed anew at each product: time instead of m x m memory."""
    size = len(centers)
    root = np.sqrt(weights)

    def times(V: Floats, apply: Any = lambda block: block) -> Floats:
        V = V.reshape(size, -1)
        return gram.product(
            kernel, centers, centers, lambda block: apply(block) @ V, V.shape[1]
        )

    plain = LinearOperator((size, size), matvec=times, matmat=times, dtype=np.float64)
    fitted = operator.fit(plain, weights)

    def weighted(V: Floats) -> Floats:
        V = V.reshape(size, -1)
        return root[:, None] * times(root[:, None] * V, fitted.apply)

    matrix = LinearOperator((size, size), matvec=weighted, matmat=weighted, dtype=np.float64)
    return fitted, matrix, float(weights @ _diagonal(kernel, fitted, centers))


def _diagonal(kernel: RadialKernel, fitted: FittedOperator, centers: Floats) -> Floats:
    """The operator's kernel at (c_j, c_j), a block at a time."""
    diagonal = [
        np.diagonal(fitted.apply(gram.gram(kernel, centers[rows], centers)), rows.start)
        for rows in gram.slices(0, len(centers), 256)
    ]
    return np.concatenate(diagonal)


def _oriented(functions: Floats, centers: Floats, weights: Floats) -> Floats:
    """Eigenfunctions with signs that depend on the weighted points alone, not on their order.

    The third moment of the function over the points is positive. Where that vanishes (a
    symmetric function), its covariance with the first feature that has one is.
    """
    size = np.sqrt(weights @ functions**2)
    skew = weights @ functions**3 / (weights @ np.abs(functions) ** 3)
    shares = weights / weights.sum()
    shifted = centers - shares @ centers
    spread = np.sqrt(weights @ shifted**2)
    covariance = (weights[:, None] * shifted).T @ functions
    clues = np.vstack([skew, covariance / np.where(spread > 0, spread, 1)[:, None] / size])
    telling = np.argmax(np.abs(clues) > 1e-6, axis=0)
    return functions * np.where(clues[telling, np.arange(functions.shape[1])] < 0, -1.0, 1.0)

"""Kernel PCA of a precomputed kernel matrix, and checks that a kernel is positive definite."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh

from .._core import eig
from .._core.eig import DENSE_UP_TO_SIZE
from .._core.parallel import interruptible

Array = NDArray[np.floating]

_SIGNIFICANT = 1e-5  # ratio to the largest eigenvalue, as in scikit-learn


@dataclass(frozen=True, eq=False)
class PrecomputedSystem:
    """Eigenpairs of a centered kernel matrix, with the means used to center new rows.

    Attributes
    ----------
    eigenvalues : ndarray of shape (n_components,)
        The positive eigenvalues, in descending order.
    eigenvectors : ndarray of shape (n_samples, n_components)
        The unit eigenvectors. The entry of largest absolute value in each of them is positive.
    means : ndarray of shape (n_samples,)
        The column means of the kernel matrix.
    trace : float
        The trace of the centered matrix.
    """

    eigenvalues: Array
    eigenvectors: Array
    means: Array
    trace: float

    @classmethod
    def of(cls, matrix: Array, n_components: int) -> PrecomputedSystem:
        """Solve the eigenproblem of a symmetric kernel matrix after centering it."""
        matrix = matrix.astype(np.float64)
        means = matrix.mean(axis=0)
        centered = _center(matrix, means)
        values, vectors = eig.leading_eigenpairs(centered.copy(), n_components)
        if len(values) < n_components:
            check_definite(centered, n_components)
        largest = np.argmax(np.abs(vectors), axis=0)
        vectors = vectors * np.sign(vectors[largest, np.arange(len(values))])
        return cls(values, vectors, means, float(np.trace(centered)))

    def leading(self, count: int) -> PrecomputedSystem:
        """Return the system with only the first ``count`` eigenpairs."""
        first = self.eigenvalues[:count], self.eigenvectors[:, :count]
        return PrecomputedSystem(*first, self.means, self.trace)

    def embed(self, values: Array) -> Array:
        """Return the coordinates of points, given their kernel values with the training rows."""
        centered = _center(values.astype(np.float64), self.means)
        return centered @ (self.eigenvectors / np.sqrt(self.eigenvalues))


def _center(values: Array, means: Array) -> Array:
    """Return kernel values with the means over rows and columns subtracted."""
    return values - means - values.mean(axis=1, keepdims=True) + means.mean()


def check_diagonal(own: Array) -> None:
    """Raise if k(x, x), a squared length in feature space, is negative for any row."""
    row = int(np.argmin(own))
    if own[row] < -_SIGNIFICANT * np.abs(own).max():
        raise ValueError(
            f"The kernel is not positive definite: k(x, x) is {own[row]:.3g} for row {row}. Use "
            "another kernel."
        )


def check_definite(centered: Array, n_components: int) -> None:
    """Raise if the largest ``n_components`` eigenvalues include significantly negative ones."""
    size = len(centered)
    if size <= DENSE_UP_TO_SIZE:
        values = interruptible(np.linalg.eigvalsh, centered)
        smallest = values[size - min(n_components, size)]
    else:
        values = eigsh(centered, 1, which="LM", return_eigenvectors=False)
        smallest = eigsh(centered, 1, which="SA", return_eigenvectors=False)[0]
    if smallest < -_SIGNIFICANT * np.abs(values).max():
        raise ValueError(
            f"There are significant negative eigenvalues ({smallest:g}), so the kernel is not "
            "positive definite. Use fewer components or another kernel."
        )

"""Reference implementations of kernel methods with n x n matrices, in a few lines of NumPy."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from scipy.special import logsumexp

from rskpca import Gaussian, Laplacian, RadialKernel


def log_kernel(kernel: RadialKernel, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    distances = cdist(np.asarray(X, np.float64), np.asarray(Y, np.float64)) / kernel.bandwidth
    return -(distances ** {Gaussian: 2, Laplacian: 1}[type(kernel)])


class KernelPCA:
    """Kernel PCA of all rows of X, restricted to the leading components."""

    def __init__(self, kernel: RadialKernel, X: np.ndarray, n_components: int, center: bool):
        self.kernel, self.X, self.center = kernel, X, center
        self.K = np.exp(log_kernel(kernel, X, X))
        n = len(X)
        values, vectors = eigh(
            self._centered(self.K), subset_by_index=[max(n - n_components, 0), n - 1]
        )
        self.eigenvalues, self.vectors = values[::-1], vectors[:, ::-1]

    def _centered(self, K: np.ndarray) -> np.ndarray:
        if not self.center:
            return K
        column_means = self.K.mean(axis=0)
        return K - column_means - K.mean(axis=1)[:, None] + column_means.mean()

    def transform(self, X: np.ndarray) -> np.ndarray:
        K = np.exp(log_kernel(self.kernel, X, self.X))
        return self._centered(K) @ self.vectors / np.sqrt(self.eigenvalues)

    def separated(self, gap: float = 1e-3) -> np.ndarray:
        """Return the components whose eigenvalue has a relative gap to both neighbors."""
        gaps = -np.diff(self.eigenvalues) / self.eigenvalues[0] > gap
        return np.flatnonzero(np.concatenate([[True], gaps[:-1]]) & gaps)


def log_density(kernel: RadialKernel, C: np.ndarray, w: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return log((1/n) sum_j w_j k(c_j, x)), without normalization."""
    return logsumexp(log_kernel(kernel, X, C), b=w / w.sum(), axis=1)


def aligned(Z: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Return Z with the sign of each column chosen to match the reference."""
    return Z * np.where(np.sum(Z * reference, axis=0) < 0, -1, 1)


def assert_equal_up_to_sign(Z, reference, tolerance) -> None:
    """Check each entry to within ``tolerance`` times the largest reference entry."""
    error = np.abs(aligned(Z, reference) - reference).max() / np.abs(reference).max()
    assert error < tolerance


class WeightedKernelPCA(KernelPCA):
    """Kernel PCA of the rows of X with non-negative weights w."""

    def __init__(self, kernel, X, w, n_components, center):
        self.shares = w / w.sum()
        super().__init__(kernel, X, n_components, center)
        root = np.sqrt(w)
        values, vectors = eigh(root[:, None] * self._centered(self.K) * root)
        self.eigenvalues = values[::-1][:n_components]
        self.vectors = root[:, None] * vectors[:, ::-1][:, :n_components]

    def _centered(self, K: np.ndarray) -> np.ndarray:
        if not self.center:
            return K
        column_means = self.shares @ self.K
        return K - column_means - (K @ self.shares)[:, None] + column_means @ self.shares


def mmd_to_data(kernel: RadialKernel, X: np.ndarray, reduced_set) -> float:
    """Return the MMD between the unweighted rows of X and a reduced set."""
    C, shares = reduced_set.centers, reduced_set.weights / reduced_set.weights.sum()
    K, mixed, own = (np.exp(log_kernel(kernel, *pair)) for pair in ((X, X), (X, C), (C, C)))
    squared = K.mean() - 2 * mixed.mean(axis=0) @ shares + shares @ own @ shares
    return float(np.sqrt(max(squared, 0)))


class Markov:
    """Eigenpairs of a random walk on all rows of X; psi' diag(degrees) psi = 1.

    alpha = 0 is the walk of the normalized Laplacian. Without ``self_affinity``, k(x, x) is
    omitted, as in scikit-learn.
    """

    def __init__(self, kernel, X, n_components, alpha=0.0, self_affinity=True):
        A = np.exp(log_kernel(kernel, X, X))
        if not self_affinity:
            np.fill_diagonal(A, 0)
        q = A.sum(axis=1)
        self.kernel, self.X, self.alpha, self.q = kernel, X, alpha, q
        A = A / np.outer(q, q) ** alpha
        d = A.sum(axis=1)
        root = np.sqrt(d)
        n = len(X)
        values, vectors = eigh(
            A / np.outer(root, root), subset_by_index=[n - n_components - 2, n - 1]
        )
        self.all_eigenvalues = values[::-1]
        self.degrees = d
        self.eigenvalues = values[::-1][1 : n_components + 1]
        self.functions = (vectors / root[:, None])[:, ::-1][:, 1 : n_components + 1]

    def extend(self, X: np.ndarray) -> np.ndarray:
        """Return the means after one step with self-affinities, divided by the eigenvalues."""
        K = np.exp(log_kernel(self.kernel, X, self.X)) / self.q**self.alpha
        return K / K.sum(axis=1)[:, None] @ self.functions / self.eigenvalues

    def separated(self, gap: float = 1e-4) -> np.ndarray:
        """Return the components whose eigenvalue has a gap to both neighbors."""
        gaps = -np.diff(self.all_eigenvalues) > gap
        return np.flatnonzero(gaps[:-1] & gaps[1:])

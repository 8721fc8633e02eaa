"""Randomized kernel matrices: sampled entries, and random projections of the data.

Achlioptas, McSherry and Schoelkopf, Sampling techniques for kernel methods, NIPS 2001, replace the
kernel by a random function whose expectation is the kernel, exactly or approximately. They propose
three such functions: sampled (or coarsely rounded) entries of the kernel matrix, kernel values of
randomly projected rows, and randomly rounded coefficients of an expansion. The first two are
implemented here.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, sparray
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .. import _validation as check
from .._core import gram
from .._core.parallel import slices
from .._validation import validate_points, validate_rows
from ..embedding import ReducedSetKernelPCA
from ..kernels import RadialKernel, as_kernel

Array = NDArray[np.floating]

_BLOCK = 256  # rows whose pairs are processed at a time
# Share of pairs, times the number of features, above which computing all values is faster.
_MANY = 4.0


class SampledKernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Kernel PCA of a kernel matrix with randomly sampled entries.

    Each pair of rows is kept with probability p = ``n_entries`` / n, and its entry is divided by p;
    all other entries outside the diagonal are zero. The expectation of this sparse matrix is the
    kernel matrix. Its leading eigenvectors are found by the Lanczos method. New points are embedded
    using their exact kernel values with all rows, which are stored.

    Parameters
    ----------
    n_components : int, default=2
        Number of components.
    n_entries : int, default=100
        Expected number of entries per row of the kernel matrix, at most the number of rows.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        The kernel. None means the Gaussian.
    bandwidth : float or "median", default=None
        sigma, for a kernel given by name. None means the median pairwise distance in a sample.
    center : bool, default=True
        If True, center the data in feature space. If False, use the uncentered operator.
    random_state : int, RandomState or None, default=0
        Seed for the pairs and for the sample from which the median bandwidth is computed.

    Attributes
    ----------
    basis_ : ndarray of shape (n_samples, n_features)
        The points at which ``transform`` evaluates the kernel: all rows.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the sparse matrix, scaled like ``KernelPCA.eigenvalues_``.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Unit eigenvectors of the sparse matrix.
    kernel_ : RadialKernel
        The kernel with its bandwidth resolved.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca.baselines import SampledKernelPCA
    >>> X = load_digits().data
    >>> SampledKernelPCA(2, n_entries=200).fit(X).transform(X).shape
    (1797, 2)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_entries: int = 100,
        kernel: RadialKernel | str | None = None,
        bandwidth: float | str | None = None,
        center: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.n_entries = n_entries
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.center = center
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Sample and decompose the kernel matrix; X must have more rows than ``n_components``."""
        check.positive_integer("n_components", self.n_components)
        check.positive_integer("n_entries", self.n_entries)
        check.boolean("center", self.center)
        rows = validate_rows(self, X, min_rows=self.n_components + 1)
        kernel = as_kernel(self.kernel, None, self.bandwidth)
        kernel = kernel.resolve(rows.X, None, self.random_state)
        points = rows.X.astype(np.float64)
        share = min(1.0, self.n_entries / len(points))
        matrix = _sample_gram(kernel, points, share, check_random_state(self.random_state))
        self.eigenvalues_, self.eigenvectors_ = _leading(matrix, self.n_components, self.center)
        self._means_ = matrix.mean(axis=0) if self.center else np.zeros(len(points))
        self.kernel_, self.basis_ = kernel, points
        rows.name_features(self)
        return self

    def transform(self, X: Any) -> Array:
        """Return the coordinates of new points."""
        check_is_fitted(self)
        columns = self.eigenvectors_ / np.sqrt(self.eigenvalues_)
        points = validate_points(self, X).astype(np.float64)
        function = gram.multiplier(columns)
        found = gram.product(self.kernel_, points, self.basis_, function, columns.shape[1])
        # The columns are centered, so the mean kernel value of a new point cancels.
        return found - self._means_ @ columns

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)


def _sample_gram(
    kernel: RadialKernel, X: Array, share: float, rng: np.random.RandomState
) -> sparray:
    """Return the kernel matrix with a random share of its pairs, whose entries are rescaled."""
    n = len(X)
    parts = [_sample_rows(kernel, X, rows, share, rng) for rows in slices(0, n, _BLOCK)]
    first, second, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    upper = coo_array((values, (first, second)), shape=(n, n)).tocsr()
    diagonal = np.arange(n)
    own = coo_array((np.full(n, kernel.kappa), (diagonal, diagonal)), shape=(n, n))
    return upper + upper.T + own.tocsr()


def _sample_rows(
    kernel: RadialKernel, X: Array, rows: slice, share: float, rng: np.random.RandomState
) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Return sampled pairs of some rows and later rows, and the rescaled kernel values."""
    later = [
        i + 1 + np.flatnonzero(rng.random_sample(len(X) - i - 1) < share)
        for i in range(rows.start, rows.stop)
    ]
    first = np.repeat(np.arange(rows.start, rows.stop), [len(part) for part in later])
    second = np.concatenate(later)
    if share * X.shape[1] > _MANY:
        values = gram.gram(kernel, X[rows], X[rows.start :])
        values = values[first - rows.start, second - rows.start]
    else:
        distances = np.linalg.norm(X[first] - X[second], axis=1)
        values = kernel.profile((distances / kernel.scale) ** kernel.power)
    return first, second, values / share


def _leading(matrix: sparray, count: int, center: bool) -> tuple[Array, Array]:
    """Return the leading eigenpairs with positive eigenvalues, after centering if requested."""
    n = matrix.shape[0]

    def multiply(v: Array) -> Array:
        if not center:
            return matrix @ v
        product = matrix @ (v - v.mean())
        return product - product.mean()

    operator = LinearOperator((n, n), matvec=multiply, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=n)
    values, vectors = eigsh(operator, k=min(count, n - 1), which="LA", v0=start)
    kept = np.flatnonzero(values > 0)[::-1]
    return values[kept], vectors[:, kept]


class ProjectedKernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Kernel PCA whose kernel is evaluated on random projections of the data.

    Rows are multiplied by a matrix of random signs divided by sqrt(n_directions), which
    preserves distances up to a factor of about 1 + 1 / sqrt(n_directions) (Johnson and
    Lindenstrauss). Kernel PCA of the projected rows is exact. A kernel value takes O(n_directions)
    time instead of O(n_features), so this helps only if there are many features.

    Parameters
    ----------
    n_components : int, default=2
        Number of components.
    n_directions : int, default=100
        Number of random directions.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        The kernel. None means the Gaussian.
    bandwidth : float or "median", default=None
        sigma, for a kernel given by name. None means the median pairwise distance in a sample of
        the projected rows.
    center : bool, default=True
        If True, center the data in feature space. If False, use the uncentered operator.
    random_state : int, RandomState or None, default=0
        Seed for the signs and for the sample from which the median bandwidth is computed.

    Attributes
    ----------
    model_ : ReducedSetKernelPCA
        Exact kernel PCA of the projected rows.
    signs_ : ndarray of shape (n_features, n_directions)
        The projection matrix.
    basis_ : ndarray of shape (n_samples, n_directions)
        The points at which ``transform`` evaluates the kernel: all projected rows.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca.baselines import ProjectedKernelPCA
    >>> X = load_digits().data
    >>> ProjectedKernelPCA(2, n_directions=20).fit(X).basis_.shape
    (1797, 20)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_directions: int = 100,
        kernel: RadialKernel | str | None = None,
        bandwidth: float | str | None = None,
        center: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.n_directions = n_directions
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.center = center
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Project the rows and compute their kernel PCA."""
        check.positive_integer("n_directions", self.n_directions)
        rows = validate_rows(self, X)
        rng = check_random_state(self.random_state)
        signs = rng.choice([-1.0, 1.0], size=(rows.X.shape[1], self.n_directions))
        signs = (signs / np.sqrt(self.n_directions)).astype(rows.X.dtype)
        model = ReducedSetKernelPCA(
            self.n_components, kernel=self.kernel, bandwidth=self.bandwidth, ell=np.inf,
            center=self.center, random_state=self.random_state,
        )  # fmt: skip
        self.model_, self.signs_ = model.fit(rows.X @ signs), signs
        rows.name_features(self)
        return self

    def transform(self, X: Any) -> Array:
        """Return the coordinates of new points."""
        check_is_fitted(self)
        return self.model_.transform(validate_points(self, X) @ self.signs_)

    @property
    def basis_(self) -> Array:
        """The points at which ``transform`` evaluates the kernel."""
        return self.model_.basis_

    @property
    def _n_features_out(self) -> int:
        return self.model_._n_features_out

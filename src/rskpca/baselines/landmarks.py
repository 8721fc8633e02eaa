"""Landmark methods: density-weighted k-means landmarks, and incomplete Cholesky pivots."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from .. import _validation as check
from .._core.cholesky import PartialCholesky, fill_greedily
from .._validation import Rows, validate_rows
from ..density import KMeansDensity
from ..embedding import NystromKernelPCA
from ..kernels import RadialKernel, as_kernel
from ..model import FittedModel
from ..reduced_set import ReducedSet
from ..spectral import Centered, Plain, solve
from ..spectral.means import Basis


class WeightedNystromKernelPCA(NystromKernelPCA):
    """Density-weighted Nystrom method of Zhang and Kwok, with weighted k-means landmarks.

    Parameters
    ----------
    n_components : int, default=None
        Number of components. None keeps every component with a positive eigenvalue.
    n_centers : int, default=100
        Number of clusters, m.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        The kernel. None means the Gaussian.
    gamma : float, default=None
        scikit-learn's kernel parameter, for a kernel given by name; for the Gaussian,
        ``gamma = 1 / bandwidth**2``.
    bandwidth : float or "median", default=None
        sigma, for a kernel given by name. None means the median pairwise distance in a sample.
    extension : {"landmarks", "data"}, default="landmarks"
        ``"data"``, the published method, extends the eigenvectors to all n points, which are
        stored; embedding a new point takes O(n) time. ``"landmarks"`` uses only the landmarks,
        which is reduced-set kernel PCA on a :class:`~rskpca.KMeansDensity`; embedding a new point
        takes O(m) time.
    center : bool, default=True
        If True, center the data in feature space, as scikit-learn does. If False, use the
        uncentered operator of the paper.
    random_state : int, RandomState or None, default=0
        Seed for k-means and for the sample from which the median bandwidth is computed.

    Attributes
    ----------
    landmarks_ : ndarray of shape (n_centers, n_features)
        The cluster means.
    reduced_set_ : ReducedSet
        The cluster means and their weights.
    n_centers_ : int
        Number of landmarks, m.
    basis_ : ndarray of shape (n_basis, n_features)
        The points at which ``transform`` evaluates the kernel: the landmarks, or all the data.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues in descending order, scaled like ``KernelPCA.eigenvalues_``.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Fraction of the feature-space variance explained by each component (with
        ``center=False``, of the second moment).
    kernel_ : RadialKernel
        The kernel with its bandwidth resolved.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Feature names seen during ``fit``; defined only if X has feature names.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca.baselines import WeightedNystromKernelPCA
    >>> X = load_digits().data
    >>> WeightedNystromKernelPCA(2, n_centers=30).fit(X).basis_.shape
    (30, 64)
    >>> WeightedNystromKernelPCA(2, n_centers=30, extension="data").fit(X).basis_.shape
    (1797, 64)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_centers: int = 100,
        kernel: RadialKernel | str | None = None,
        gamma: float | None = None,
        bandwidth: float | str | None = None,
        extension: str = "landmarks",
        center: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.n_centers = n_centers
        self.kernel = kernel
        self.gamma = gamma
        self.bandwidth = bandwidth
        self.extension = extension
        self.center = center
        self.random_state = random_state

    n_centers: int
    _takes_sparse_rows = False
    _takes_chunks = False  # the means are computed from all rows

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Cluster the data and solve the eigenproblem of the weighted cluster means."""
        self._check_parameters()
        rows = validate_rows(self, X, sample_weight)
        kernel, means = self._choose_means(rows)
        if self.extension == "data":
            model = replace(self._through_data(kernel, means, rows), landmarks=False)
        else:
            model = self._decompose(kernel, means)
        return self._store_landmarks(rows, kernel, means, None, model)

    def _decompose(self, kernel: RadialKernel, reduced_set: ReducedSet) -> FittedModel:
        """Solve the eigenproblem of the weighted cluster means (Algorithm 1)."""
        operator = Centered() if self.center else Plain()
        system = solve(operator, kernel, reduced_set, self._count())
        return self._model(reduced_set, system, reduced_set.n_centers, landmarks=False)

    def _choose_means(self, rows: Rows) -> tuple[RadialKernel, ReducedSet]:
        density = KMeansDensity(self.n_centers, random_state=self.random_state)
        kernel = self._resolve_kernel(rows, density)
        return kernel, density.summarize(rows, kernel).reduced_set_

    def _check_landmarks(self) -> None:
        """Do nothing, because ``KMeansDensity`` checks the number of clusters."""

    @property
    def reduced_set_(self) -> ReducedSet:
        """The cluster means and their weights."""
        check_is_fitted(self)
        return self._landmarks_


class IncompleteCholeskyKernelPCA(NystromKernelPCA):
    """Kernel PCA by incomplete Cholesky decomposition, which stops at a given error.

    The decomposition K ~ F F' adds the row with the largest residual until the trace of K - F F' is
    at most ``tol`` times that of K (Shawe-Taylor and Cristianini, Kernel Methods for Pattern
    Analysis, 2004). Because the residual is positive semidefinite, its trace bounds the error of
    every eigenvalue of K. The pivots are the landmarks of the eigenproblem of all rows, as in
    ``NystromKernelPCA(landmarks="cholesky")``, where the number of landmarks is given instead of
    the error.

    Parameters
    ----------
    n_components : int, default=None
        Number of components. None keeps every component with a positive eigenvalue.
    tol : float, default=0.001
        Maximum trace of the residual, relative to the trace of the kernel matrix.
    max_centers : int, default=2000
        Maximum number of pivots. If it is reached before ``tol``, a warning is issued.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        The kernel. None means the Gaussian.
    gamma : float, default=None
        scikit-learn's kernel parameter, for a kernel given by name; for the Gaussian,
        ``gamma = 1 / bandwidth**2``.
    bandwidth : float or "median", default=None
        sigma, for a kernel given by name. None means the median pairwise distance in a sample.
    center : bool, default=True
        If True, center the data in feature space, as scikit-learn does. If False, use the
        uncentered operator of the paper.
    random_state : int, RandomState or None, default=0
        Seed for the sample from which the median bandwidth is computed.

    Attributes
    ----------
    landmarks_ : ndarray of shape (n_centers, n_features)
        The pivots.
    basis_ : ndarray of shape (n_centers, n_features)
        The points at which ``transform`` evaluates the kernel: the pivots.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues in descending order, scaled like ``KernelPCA.eigenvalues_``.
    kernel_ : RadialKernel
        The kernel with its bandwidth resolved.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Feature names seen during ``fit``; defined only if X has feature names.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca.baselines import IncompleteCholeskyKernelPCA
    >>> X = load_digits().data
    >>> IncompleteCholeskyKernelPCA(2, tol=0.1, bandwidth=60.0).fit(X).n_centers_ < 100
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        tol: float = 1e-3,
        max_centers: int = 2_000,
        kernel: RadialKernel | str | None = None,
        gamma: float | None = None,
        bandwidth: float | str | None = None,
        center: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.max_centers = max_centers
        self.kernel = kernel
        self.gamma = gamma
        self.bandwidth = bandwidth
        self.center = center
        self.random_state = random_state

    extension = "landmarks"
    _takes_sparse_rows = False
    _takes_chunks = False  # the pivots are chosen from all rows

    def _choose_basis(self, rows: Rows, *, once: bool = False) -> tuple[RadialKernel, Basis, None]:
        kernel = as_kernel(self.kernel, self.gamma, self.bandwidth)
        kernel = kernel.resolve(rows.X, rows.given_weights, self.random_state)
        X, weights = rows.positive
        partial = PartialCholesky(kernel, X, min(self.max_centers, len(X)))
        fill_greedily(partial, weights, self.tol * kernel.kappa * float(weights.sum()))
        left = float(partial.scores(weights).sum() / (kernel.kappa * weights.sum()))
        if left > self.tol:
            check.warn(
                f"With {len(partial.pivots)} pivots, the relative trace of the residual is "
                f"{left:.2g}, more than tol={self.tol:g}. Increase max_centers or tol."
            )
        return kernel, Basis(X[partial.pivots]), None

    def _check_landmarks(self) -> None:
        check.share("tol", self.tol)
        check.positive_integer("max_centers", self.max_centers)

"""The fast Parzen window."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from sklearn.utils.validation import check_is_fitted

from .. import _validation as check
from .._core.cover import Cover
from .._core.parallel import slices
from .._validation import validate_points
from ..kernels import Gaussian, RadialKernel
from ._base import Array
from ._batch import BatchDensity, Choice
from ._counting import cell_means

COVARIANCES = ("kernel", "full")


class FastParzenDensity(BatchDensity):
    """The fast Parzen window: balls of a fixed radius, each represented by its mean.

    Wang et al. cover the data with balls of equal radius and keep the number, the mean and the
    covariance of the points in each ball. The balls are those of Algorithm 2: a row joins the first
    ball that contains it; if there is none, it opens a new one. Unlike in the shadow density, the
    radius does not depend on the bandwidth, and the centers are not rows.

    Parameters
    ----------
    radius : float, default=1.0
        Radius of the balls, in the units of the data.
    covariance : {"kernel", "full"}, default="kernel"
        The function that ``score_samples`` places at each center: the kernel, as in every
        reduced-set density estimate, or a Gaussian that also includes the covariance of the points,
        as in Wang et al. ``"full"`` requires a Gaussian kernel and memory for m d^2 numbers. The
        reduced set is the same in both cases.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        If None, a Gaussian with the median bandwidth is used. Omit it inside an embedding, which
        passes its own kernel. The choice of centers does not depend on it.
    random_state : int, RandomState or None, default=0
        Seed for the sample from which the median bandwidth is computed.

    Attributes
    ----------
    reduced_set_ : ReducedSet
        Centers, weights and radius. The radius is the largest distance between a row and the mean
        of its ball; it is below twice the radius of the balls.
    labels_ : ndarray of shape (n_samples,)
        The ball of each row; -1 for rows with weight 0. The mean of another ball may be nearer.
    covariances_ : ndarray of shape (n_centers, n_features, n_features)
        Covariance of the points of each ball about its center; only with ``covariance="full"``.
    kernel_ : RadialKernel
        The kernel with a numeric bandwidth.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has them.

    Notes
    -----
    With ``covariance="full"`` the density at x is (1/n) sum_j w_j N(x; c_j, S_j + sigma^2/2 I). The
    kernel exp(-r^2 / sigma^2) is a normal density with covariance sigma^2/2 I, so each ball has the
    mean and the covariance of the Parzen window estimate of its points. No covariance is
    singular, and with one point per ball, the result is the Parzen window itself.

    References
    ----------
    X. Wang, P. Tino, M. A. Fardal, S. Raychaudhury, A. Babul. Fast Parzen window density
    estimator. IJCNN 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca import FastParzenDensity
    >>> X = np.array([[0.0], [0.5], [5.0], [1.0]])
    >>> density = FastParzenDensity(2.0).fit(X)
    >>> density.reduced_set_
    ReducedSet(2 centers for 4 points, 1 features, radius 0.5)
    >>> density.reduced_set_.centers.ravel(), density.reduced_set_.weights
    (array([0.5, 5. ]), array([3., 1.]))
    """

    covariances_: NDArray[np.float64]

    def __init__(
        self,
        radius: float = 1.0,
        *,
        covariance: str = "kernel",
        kernel: RadialKernel | str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.radius = radius
        self.covariance = covariance
        self.kernel = kernel
        self.random_state = random_state

    def _check_parameters(self, n_rows: int) -> None:
        check.positive_number("radius", self.radius)
        if self.covariance not in COVARIANCES:
            raise ValueError(f'covariance must be "kernel" or "full", got {self.covariance!r}.')

    def _choose(self, X: Array, weights: Array, kernel: RadialKernel) -> Choice:
        if self.covariance == "full" and not isinstance(kernel, Gaussian):
            raise ValueError(
                f'covariance="full" requires a Gaussian kernel, got a {type(kernel).__name__}; '
                'covariance="kernel" works with any kernel.'
            )
        cover = Cover(self.radius, X[:0])
        labels, _ = cover.extend(X)
        means = cell_means(X, weights, labels, cover.centers)
        return Choice(means.astype(X.dtype), labels=labels)

    def _learn_more(self, X: Array, weights: Array, labels: NDArray[np.intp] | None) -> None:
        self.__dict__.pop("covariances_", None)
        if self.covariance == "full" and labels is not None:
            self.covariances_ = _covariances(X, weights, labels, self.reduced_set_.centers)

    def score_samples(self, X: Any) -> Array:
        """Return the log of the density estimate at each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            log((1/n) sum_j w_j k(c_j, x)), minus the log of the kernel's integral if it is
            known; with ``covariance="full"``, the log of the mixture of Gaussians. Both densities
            integrate to one.
        """
        check_is_fitted(self)
        if "covariances_" not in vars(self):
            return super().score_samples(X)
        return _log_mixture(
            validate_points(self, X),
            self.reduced_set_.centers,
            np.log(self.reduced_set_.weights / self.reduced_set_.n_samples),
            self.covariances_ + 0.5 * self.kernel_.scale**2 * np.eye(self.n_features_in_),
        )


def _covariances(
    X: Array, weights: Array, labels: NDArray[np.intp], centers: Array
) -> NDArray[np.float64]:
    """Return the covariance of the rows in each ball about the ball's center."""
    n_centers, n_features = centers.shape
    covariances = np.empty((n_centers, n_features, n_features))
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=n_centers))[:-1]
    for j, rows in enumerate(np.split(order, ends)):
        differences = X[rows] - centers[j].astype(np.float64)
        covariances[j] = (weights[rows] * differences.T) @ differences / weights[rows].sum()
    return covariances


def _log_mixture(X: Array, means: Array, log_weights: Array, covariances: Array) -> Array:
    """Return log sum_j exp(log_weights_j) N(x; means_j, covariances_j) without an n x m array."""
    factors = np.linalg.cholesky(covariances)
    heights = log_weights - np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
    logs = np.full(len(X), -np.inf)
    for rows in slices(0, len(X), 4096):
        block = X[rows].astype(np.float64)
        for mean, factor, height in zip(means, factors, heights, strict=True):
            white = solve_triangular(factor, (block - mean).T, lower=True, check_finite=False)
            with np.errstate(over="ignore"):  # the log density is then minus infinity
                logs[rows] = np.logaddexp(logs[rows], height - 0.5 * np.sum(white**2, axis=0))
    return logs - 0.5 * X.shape[1] * np.log(2 * np.pi)

"""A density estimate from k-means centers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .. import _validation as check
from .._core.parallel import single_threaded
from .._core.sampling import limit_rows
from ..kernels import RadialKernel
from ._base import Array
from ._batch import Choice, CountedDensity

MINI_BATCHES_FROM = 20_000
_TOLERANCE = 1e-4  # scikit-learn's default, relative to the variance of the data
# Number of rows per center that are sampled if max_iter is given, which bounds the cost of a step.
# Other values were not tried.
_ROWS_PER_CENTER = 5


class KMeansDensity(CountedDensity):
    """k-means centers, weighted by the sizes of their clusters (Zhang and Kwok).

    These centers keep the sum of squared distances small, and thus the error bound. The fit is
    slower than a cover because k-means iterates.

    Parameters
    ----------
    n_centers : int, default=100
        Number of centers, m; at most the number of rows. If m is the number of rows, every row is
        kept exactly.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        If None, a Gaussian with the median bandwidth is used. Omit it inside an embedding, which
        passes its own kernel. The choice of centers does not depend on it.
    max_iter : int, default=None
        Number of Lloyd steps. If given, the steps start from random rows and use a sample of five
        rows per center, which makes thousands of centers practical; the weights still come from all
        rows. None iterates until convergence; see Notes.
    random_state : int, RandomState or None, default=0
        Seed for the initial centers and for the sample from which the median bandwidth is computed.

    Attributes
    ----------
    reduced_set_ : ReducedSet
        Centers, weights and the radius, which is the largest distance between a row and its
        center. Clusters without rows are dropped.
    labels_ : ndarray of shape (n_samples,)
        The nearest center of each row; -1 for rows with weight 0.
    kernel_ : RadialKernel
        The kernel with a numeric bandwidth.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has them.

    Notes
    -----
    With fewer than 20,000 rows, this is scikit-learn's ``KMeans`` with one k-means++ start, in
    float64; integer sample weights are then equivalent to repeated rows up to rounding. With more
    rows it is ``MiniBatchKMeans``, for which this is not true, because batches are drawn from the
    rows. Both run in one thread, because their sums depend on the number of threads.

    References
    ----------
    K. Zhang, J. T. Kwok. Density-weighted Nystrom method for computing large kernel
    eigensystems. Neural Computation 21, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca import KMeansDensity
    >>> X = np.array([[0.0], [0.2], [0.4], [5.0]])
    >>> density = KMeansDensity(2).fit(X)
    >>> sorted(density.reduced_set_.weights.tolist())
    [1.0, 3.0]
    """

    def __init__(
        self,
        n_centers: int = 100,
        *,
        kernel: RadialKernel | str | None = None,
        max_iter: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_centers = n_centers
        self.kernel = kernel
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_parameters(self, n_rows: int) -> None:
        super()._check_parameters(n_rows)
        if self.max_iter is not None:
            check.positive_integer("max_iter", self.max_iter)

    def _choose(self, X: Array, weights: Array, kernel: RadialKernel) -> Choice:
        if self.n_centers == len(X):
            return Choice(X)
        rng = check_random_state(self.random_state)
        with single_threaded():
            if self.max_iter is not None:
                centers = _few_steps(X, weights, self.n_centers, self.max_iter, rng)
            else:
                cluster = _few_rows if len(X) < MINI_BATCHES_FROM else _many_rows
                centers = cluster(X, weights, self.n_centers, rng)
        return Choice(centers.astype(X.dtype))


def _few_rows(X: Array, weights: Array, n_centers: int, rng: np.random.RandomState) -> Array:
    from sklearn.cluster import KMeans

    X = X.astype(np.float64)
    # KMeans scales the tolerance by the unweighted variance; use the weighted variance instead.
    plain, weighted = X.var(axis=0).mean(), _variance(X, weights)
    tolerance = _TOLERANCE * weighted / plain if plain > 0 else 0.0
    model = KMeans(n_centers, n_init=1, tol=tolerance, random_state=rng)
    return model.fit(X, sample_weight=weights).cluster_centers_


def _many_rows(X: Array, weights: Array, n_centers: int, rng: np.random.RandomState) -> Array:
    from sklearn.cluster import MiniBatchKMeans

    batch = max(1024, 2 * n_centers)
    model = MiniBatchKMeans(n_centers, n_init=1, batch_size=batch, random_state=rng)
    middle = np.average(X, axis=0, weights=weights)  # so that data far from zero lose no precision
    return middle + model.fit(X - middle, sample_weight=weights).cluster_centers_


def _few_steps(
    X: Array, weights: Array, n_centers: int, max_iter: int, rng: np.random.RandomState
) -> Array:
    from sklearn.cluster import KMeans

    rows, counts = limit_rows(X, weights, _ROWS_PER_CENTER * n_centers, rng)
    rows = rows.astype(np.float64)
    start = rows[np.sort(rng.permutation(len(rows))[:n_centers])]
    model = KMeans(n_centers, init=start, n_init=1, max_iter=max_iter, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # issued for equal rows
        return model.fit(rows, sample_weight=counts).cluster_centers_


def _variance(X: Array, weights: Array) -> float:
    """Return the weighted variance, averaged over the features."""
    middle = np.average(X, axis=0, weights=weights)
    return float(np.average(np.mean((X - middle) ** 2, axis=1), weights=weights))

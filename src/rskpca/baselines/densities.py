"""Densities with random centers: rows of the data, or points drawn from a density estimate."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..density._base import Array
from ..density._batch import Choice, CountedDensity, equal_shares
from ..kernels import Gaussian, Laplacian, RadialKernel


class _DrawnDensity(CountedDensity):
    """Base class for densities with ``n_centers`` random centers."""

    def __init__(
        self,
        n_centers: int = 100,
        *,
        kernel: RadialKernel | str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_centers = n_centers
        self.kernel = kernel
        self.random_state = random_state


class UniformDensity(_DrawnDensity):  # numpydoc ignore=PR02
    """Density of m rows drawn uniformly at random, each representing n / m rows.

    This is the baseline for all other choices of centers; the MMD to the data decreases as
    1 / sqrt(m). :class:`~rskpca.ParingDensity` draws the same rows, and can also weight each drawn
    row by the number of rows nearest to it.

    Parameters
    ----------
    n_centers : int, default=100
        Number of rows to draw, m; at most the number of rows.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        The kernel. None means the Gaussian with the median bandwidth. Leave it as None inside an
        embedding, which supplies its own kernel. The choice of centers does not depend on it.
    random_state : int, RandomState or None, default=0
        Seed for the draw and for the sample from which the median bandwidth is computed.

    Attributes
    ----------
    reduced_set_ : ReducedSet
        The centers, in the order of the data, and their weights. Equal rows become one center, so
        there may be fewer than ``n_centers``. It has no radius, because rows are not assigned to
        centers.
    labels_ : ndarray of shape (n_samples,)
        Index of the nearest center of each row; -1 for rows with weight 0. The weights do not
        depend on the labels, which are computed on first access; X must not be modified until then.
    kernel_ : RadialKernel
        The kernel with its bandwidth resolved.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Feature names seen during ``fit``; defined only if X has feature names.

    Notes
    -----
    Rows are drawn without replacement. A row with an integer sample weight w counts as w equal
    rows. A row with a fractional weight is drawn m w / n times on average, rounded up or down.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca.baselines import UniformDensity
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> UniformDensity(3).fit(X).reduced_set_.weights
    array([2., 2., 2.])
    """

    def _choose(self, X: Array, weights: Array, kernel: RadialKernel) -> Choice:
        return equal_shares(self._sample(X, weights), weights.sum())


class SampledParingDensity(_DrawnDensity):  # numpydoc ignore=PR02
    """Density of m points drawn from the kernel density estimate of the data.

    Freedman and Kisilev draw each point from the density estimate: a random row plus a random
    displacement with the kernel as its density. The resulting density estimate is that of the data
    smoothed twice, so the points represent the data well only if the bandwidth is small compared
    with the extent of the data. In d dimensions, the displacement of a Gaussian kernel has a length
    of about sigma sqrt(d / 2). :class:`~rskpca.ParingDensity` draws rows instead, as described by
    Kingravi, Vela and Gray (2013).

    Parameters
    ----------
    n_centers : int, default=100
        Number of points to draw, m; at most the number of rows.
    kernel : Gaussian, Laplacian, "rbf", "gaussian", "laplacian" or None, default=None
        The kernel of the density estimate. None means the Gaussian with the median bandwidth. Leave
        it as None inside an embedding, which supplies its own kernel.
    random_state : int, RandomState or None, default=0
        Seed for the draw and for the sample from which the median bandwidth is computed.

    Attributes
    ----------
    reduced_set_ : ReducedSet
        The points, each with weight n / m. It has no radius, because rows are not assigned to
        points.
    labels_ : ndarray of shape (n_samples,)
        Index of the nearest point of each row; -1 for rows with weight 0. The labels are
        computed on first access; X must not be modified until then.
    kernel_ : RadialKernel
        The kernel with its bandwidth resolved.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Feature names seen during ``fit``; defined only if X has feature names.

    References
    ----------
    D. Freedman, P. Kisilev. KDE paring and a faster mean shift algorithm. SIAM Journal on
    Imaging Sciences 3, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca.baselines import SampledParingDensity
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> SampledParingDensity(3).fit(X).reduced_set_.weights
    array([2., 2., 2.])
    """

    def _choose(self, X: Array, weights: Array, kernel: RadialKernel) -> Choice:
        rng, total = check_random_state(self.random_state), weights.sum()
        rows = rng.choice(len(X), size=self.n_centers, p=weights / total)
        moved = X[rows] + displacements(kernel, len(rows), X.shape[1], rng)
        return equal_shares(moved.astype(X.dtype), total)


def displacements(
    kernel: RadialKernel, size: int, n_features: int, rng: np.random.RandomState
) -> Array:
    """Return random vectors whose density is proportional to the kernel."""
    directions = rng.normal(size=(size, n_features))
    if isinstance(kernel, Gaussian):  # exp(-r^2 / sigma^2)
        return directions * (kernel.scale / np.sqrt(2))
    if isinstance(kernel, Laplacian):  # exp(-r / sigma), so r has density r^(d-1) exp(-r / sigma)
        lengths = rng.gamma(n_features, kernel.scale, size=(size, 1))
        return directions / np.linalg.norm(directions, axis=1, keepdims=True) * lengths
    raise ValueError(
        "SampledParingDensity requires a Gaussian or Laplacian kernel, which can be sampled, got "
        f"{kernel!r}. Use ParingDensity, which works with any kernel."
    )

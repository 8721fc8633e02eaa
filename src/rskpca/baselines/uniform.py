"""Uniform random sampling of the data."""

from __future__ import annotations

from typing import Any

from ..density._base import Array
from ..density._batch import Choice, CountedDensity, equal_shares
from ..kernels import RadialKernel


class UniformDensity(CountedDensity):
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
        depend on the labels, which are computed on first access; X must not be modified before.
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

    def _choose(self, X: Array, weights: Array, kernel: RadialKernel) -> Choice:
        return equal_shares(self._sample(X, weights), weights.sum())

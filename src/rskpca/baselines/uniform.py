"""A uniform sample of the data."""

from __future__ import annotations

from typing import Any

from ..density._base import Array
from ..density._batch import Choice, CountedDensity, equal_shares
from ..kernels import RadialKernel


class UniformDensity(CountedDensity):
    """A uniform sample of the rows, each standing for n / m of them.

    The baseline for every other choice of centers: the MMD to the data decreases as 1 / sqrt(m).
    :class:`~rskpca.ParingDensity` draws the same rows, and can also give each kept row the weight
    of the rows nearest to it.

    Parameters
    ----------
    n_centers : int, default=100
        m, at most the number of rows.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        None is the Gaussian with the median bandwidth. Inside an embedding leave it out: the
        embedding passes its own kernel. The choice of centers does not depend on it.
    random_state : int, RandomState or None, default=0
        Seed of the sample, and of the one that the median bandwidth is computed from.

    Attributes
    ----------
    reduced_set_ : ReducedSet
        Centers in the order of the data, weights. Equal rows become one center, so there may be
        fewer than ``n_centers``. There is no radius, because rows do not belong to centers.
    labels_ : ndarray of shape (n_samples,)
        The nearest center of each row; -1 for rows of weight 0. The weights do not depend on it.
    kernel_ : RadialKernel
        The kernel with a number for its bandwidth.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has them.

    Notes
    -----
    Rows are drawn without replacement. A row with an integer sample weight w stands for w equal
    rows; with a fractional weight it is drawn m w / n times on average, rounded up or down.

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

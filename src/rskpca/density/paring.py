"""Pare a kernel density estimate down to a random subset of the rows."""

from __future__ import annotations

from typing import Any

from .. import _validation as check
from ..kernels import RadialKernel
from ._base import Array
from ._batch import Choice, CountedDensity, equal_shares


class ParingDensity(CountedDensity):
    """A density estimate pared down to a random subset of the rows (Freedman and Kisilev).

    By default each kept row has weight n / m, as in the reduced set of
    :class:`~rskpca.baselines.UniformDensity` with the same seed. With ``covering``, the weight of
    each row is added to the nearest kept row, so that the radius is known.

    Parameters
    ----------
    n_centers : int, default=100
        Number of kept rows, m; at most the number of rows.
    covering : bool, default=False
        If True, each kept row gets the weight of the rows nearest to it; if False, n / m.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        If None, a Gaussian with the median bandwidth is used. Omit it inside an embedding, which
        passes its own kernel. The choice of centers does not depend on it.
    random_state : int, RandomState or None, default=0
        Seed for the subset and for the sample from which the median bandwidth is computed.

    Attributes
    ----------
    reduced_set_ : ReducedSet
        Centers in the order of the data, weights and, with ``covering``, the radius, which is the
        largest distance between a row and its center. Equal rows become one center, so there may
        be fewer than ``n_centers`` centers.
    labels_ : ndarray of shape (n_samples,)
        The nearest center of each row; -1 for rows with weight 0. The weights depend on it only
        with ``covering``. Otherwise, it is computed on first access, so X must not be modified
        before then.
    kernel_ : RadialKernel
        The kernel with a numeric bandwidth.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has them.

    References
    ----------
    D. Freedman, P. Kisilev. KDE paring and a faster mean shift algorithm. SIAM Journal on
    Imaging Sciences 3, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca import ParingDensity
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0]])
    >>> density = ParingDensity(2, covering=True, random_state=1).fit(X)
    >>> density.reduced_set_
    ReducedSet(2 centers for 4 points, 1 features, radius 0.2)
    >>> density.reduced_set_.weights
    array([3., 1.])
    """

    def __init__(
        self,
        n_centers: int = 100,
        *,
        covering: bool = False,
        kernel: RadialKernel | str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_centers = n_centers
        self.covering = covering
        self.kernel = kernel
        self.random_state = random_state

    def _check_parameters(self, n_rows: int) -> None:
        super()._check_parameters(n_rows)
        check.boolean("covering", self.covering)

    def _choose(self, X: Array, weights: Array, kernel: RadialKernel) -> Choice:
        kept = self._sample(X, weights)
        return Choice(kept) if self.covering else equal_shares(kept, weights.sum())

"""Means as basis points: k-means centroids in a subspace of the leading principal axes.

A few centroids span the leading eigenfunctions much better than the same number of rows, because
they average out the directions in which the eigenfunctions hardly vary. In the subspace, kernel
values at the centroids are cheap (:mod:`rskpca._core.subspace`).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .. import _validation as check
from .._core.parallel import single_threaded
from .._core.sampling import sample_rows
from .._core.sparse import densify
from .._core.subspace import Subspace

Array = NDArray[np.floating]

ROWS_PER_MEAN = 20
_FEWEST_ROWS = 2_000
_AXES_ROWS = 4_000  # rows from which principal axes are computed
_STEPS = 3  # Lloyd steps; further ones hardly improve the span


@dataclass(frozen=True, eq=False)
class Basis:
    """Points whose images in feature space span the eigenfunctions of a model.

    Attributes
    ----------
    points : ndarray of shape (n_points, n_features)
        The points.
    subspace : Subspace or None
        A subspace that contains the points and makes kernel values cheaper to compute.
    kind : str
        The kind of points, for descriptions.
    """

    points: Array
    subspace: Subspace | None = None
    kind: str = "points"

    def __post_init__(self) -> None:
        n_features = check.shapes(self, points="md")["d"]
        if self.subspace is not None and len(self.subspace.origin) != n_features:
            raise ValueError(
                f"points must have {len(self.subspace.origin)} features, like the subspace, got "
                f"{n_features}."
            )

    def __len__(self) -> int:
        return int(self.points.shape[0])

    def describe(self) -> str:
        """Return the kind and number of points as part of a sentence."""
        axes = "" if self.subspace is None else f" in {self.subspace.n_axes} principal axes"
        return f"{len(self):,} {self.kind}{axes}"


def default_axes(n_means: Any, n_components: int) -> Any:
    """Return a number of axes for which neither noise nor truncation dominates the error."""
    # Chosen on usps and mnist: with fewer axes, the means miss directions of the eigenfunctions;
    # with more, they follow the noise of the sample.
    return np.maximum(15 + n_means // 5, 2 * n_components)


def sample_size(n_means: int) -> int:
    """Return the number of rows from which means are computed."""
    return max(_FEWEST_ROWS, ROWS_PER_MEAN * n_means)


def sample_for_means(
    X: Any, weights: Array | None, n_means: int, rng: np.random.RandomState
) -> Any:
    """Return a sample of the rows in float64, in which rows with large weights may be repeated."""
    # An integer weight is equivalent to repeating the row.
    size = sample_size(n_means)
    total = X.shape[0] if weights is None or not _integral(weights) else int(weights.sum())
    chosen = sample_rows(X.shape[0], weights, min(size, total), rng)
    return X[chosen].astype(np.float64, copy=False)


def principal_subspace(rows: Any, n_axes: int) -> Subspace:
    """Return the subspace of the leading principal axes of at most 4,000 sampled rows."""
    some = rows[:: -(-rows.shape[0] // _AXES_ROWS)]
    return Subspace.principal(some, np.ones(some.shape[0]), n_axes)


def choose_means(
    rows: Any,
    n_means: int,
    n_axes: int,
    rng: np.random.RandomState,
    subspace: Subspace | None = None,
) -> Basis:
    """Return k-means centroids in the span of the leading principal axes.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        A sample of the data.
    n_means : int
        Number of means. Fewer are returned if there are fewer distinct rows.
    n_axes : int
        Number of principal axes. Fewer are used if the rows span fewer dimensions.
    rng : RandomState
        Random number generator for the initial means.
    subspace : Subspace, default=None
        At least ``n_axes`` principal axes, if they are already known.

    Returns
    -------
    Basis
        The means, and the subspace that contains them if not all features are used.
    """
    if n_axes >= rows.shape[1]:
        return Basis(_cluster(densify(rows), n_means, rng), kind="means")
    subspace = principal_subspace(rows, n_axes) if subspace is None else subspace.leading(n_axes)
    if subspace.axes.shape[1] == 0:
        raise ValueError(
            f"All {rows.shape[0]} sampled rows are equal, so {n_means} distinct means cannot be "
            "computed. Use other data, or pass more rows in the first chunk."
        )
    means = _cluster(subspace.coordinates(rows), n_means, rng)
    return Basis(subspace.points(means), subspace, "means")


def _integral(weights: Array) -> bool:
    return bool(np.all(weights == np.floor(weights)))


def _cluster(Z: Array, n_means: int, rng: np.random.RandomState) -> Array:
    """Return the centroids of non-empty k-means clusters, or the rows if each is a cluster."""
    from sklearn.cluster import KMeans

    if n_means == len(Z):
        return Z
    start = Z[np.sort(rng.permutation(len(Z))[:n_means])]
    model = KMeans(n_means, init=start, n_init=1, max_iter=_STEPS, tol=0.0)
    with single_threaded(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(Z)
    return model.cluster_centers_[np.unique(model.labels_)]

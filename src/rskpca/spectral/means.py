"""Means as basis points: k-means centroids in a subspace of the leading principal axes.

A few centroids span the leading eigenfunctions much better than the same number of rows, because
they average out the directions in which the eigenfunctions hardly vary. In the subspace, kernel
values at the centroids are cheap (:mod:`rskpca._core.subspace`).
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .._core.parallel import single_threaded
from .._core.sampling import sample_rows
from .._core.subspace import Subspace

Array = NDArray[np.floating]

ROWS_PER_MEAN = 20
_FEWEST_ROWS = 2_000
_STEPS = 3  # Lloyd steps; further ones hardly improve the span


def default_axes(n_means: int, n_components: int) -> int:
    """Return a number of axes for which neither noise nor truncation dominates the error."""
    # Chosen on usps and mnist: with fewer axes, the means miss directions of the eigenfunctions;
    # with more, they follow the noise of the sample.
    return max(15 + n_means // 5, 2 * n_components)


def choose_means(
    X: Array,
    weights: Array | None,
    n_means: int,
    n_axes: int,
    rng: np.random.RandomState,
) -> tuple[Array, Subspace]:
    """Choose means of a sample of the rows, in the span of its leading principal axes.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The rows.
    weights : ndarray of shape (n_samples,) or None
        Their weights; an integer weight is equivalent to repeating the row.
    n_means : int
        Number of means, at most the number of distinct rows in the sample.
    n_axes : int
        Number of principal axes. Fewer are used if the sample spans fewer dimensions.
    rng : RandomState
        Source of the sample and of the initial means.

    Returns
    -------
    points : ndarray of shape (n_means, n_features)
        The means.
    subspace : Subspace
        The subspace that contains them.
    """
    rows = _sample(X, weights, max(_FEWEST_ROWS, ROWS_PER_MEAN * n_means), rng)
    subspace = Subspace.principal(rows, np.ones(len(rows)), n_axes)
    if subspace.axes.shape[1] == 0:
        raise ValueError(
            f"All {len(rows)} sampled rows are equal, so there are no {n_means} different means. "
            "Use other data, or pass more rows in the first chunk."
        )
    return subspace.points(_cluster(subspace.coordinates(rows), n_means, rng)), subspace


def _sample(X: Array, weights: Array | None, size: int, rng: np.random.RandomState) -> Array:
    """Return a sample of the rows in float64, in which heavy rows occur several times."""
    total = len(X) if weights is None or not _integral(weights) else int(weights.sum())
    return X[sample_rows(len(X), weights, min(size, total), rng)].astype(np.float64)


def _integral(weights: Array) -> bool:
    return bool(np.all(weights == np.floor(weights)))


def _cluster(Z: Array, n_means: int, rng: np.random.RandomState) -> Array:
    """Return k-means centroids; if there is one per row, the rows."""
    from sklearn.cluster import KMeans

    if n_means == len(Z):
        return Z
    start = Z[np.sort(rng.permutation(len(Z))[:n_means])]
    model = KMeans(n_means, init=start, n_init=1, max_iter=_STEPS, tol=0.0)
    with single_threaded(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(Z)
    found = len(np.unique(model.labels_))
    if found < n_means:
        raise ValueError(
            f"n_centers={n_means} means were requested, but the sample of {len(Z)} rows has only "
            f"{found} distinct ones. Use n_centers={found} or fewer."
        )
    return model.cluster_centers_

"""Clustering of weighted points by their eigenfunction values.

The three methods are those of scikit-learn's ``SpectralClustering``. An integer weight is
equivalent to repeating the point. Each method returns a linear rule that also assigns new points to
clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

Array = NDArray[np.floating]

_MAX_ITERATIONS = 20
_SLOWEST = 1e-10  # smaller rates are rounding errors: the clusters are not connected
# On a line without clusters, the rates (see gap_candidates) are proportional to 1, 4, 9, ..., so
# consecutive ones differ by a factor of at most 4; in more dimensions they are closer together.
_LEAST_RATIO = 4.0
_CLEAR_RATIO = 100.0  # if clusters form groups, several gaps are clear; the last separates them all


def gap_candidates(eigenvalues: Array) -> list[int]:
    """Return the cluster counts suggested by gaps in a walk's eigenvalues, best first.

    1 - eigenvalue is the rate at which the walk forgets an eigenfunction. The rate is small for
    functions that distinguish clusters and larger for those that vary within a cluster. A large
    ratio of rate k + 1 to rate k therefore indicates k clusters. Differences between eigenvalues
    would indicate too many clusters, because they increase for functions that vary along a thin
    cluster. Ratios above 100 count as equal; among these, the largest cluster count comes first.
    """
    ratios = np.minimum(rate_ratios(eigenvalues), _CLEAR_RATIO)
    found = np.flatnonzero(ratios > _LEAST_RATIO)
    return [int(k) + 2 for k in found[np.lexsort([-found, -ratios[found]])]]


def rate_ratios(eigenvalues: Array) -> Array:
    """Return the ratios of rate k + 1 to rate k, for k = 2, 3, ... clusters."""
    rates = np.maximum(1 - eigenvalues, _SLOWEST)
    return rates[2:] / rates[1:-1]


@dataclass(frozen=True, eq=False)
class Partition:
    """Rule that assigns a point to the cluster with the largest score f(x) directions + offsets.

    If ``absolute`` is True, the scores are compared by absolute value.
    """

    directions: Array
    offsets: Array
    absolute: bool = False

    def __post_init__(self) -> None:
        if self.directions.ndim != 2 or self.offsets.shape != self.directions.shape[1:]:
            raise ValueError(
                "directions must be a matrix and offsets must have one entry per column of "
                f"directions, got shapes {self.directions.shape} and {self.offsets.shape}."
            )

    def labels(self, functions: Array) -> NDArray[np.intp]:
        """Return the cluster label of each row."""
        scores = functions.astype(np.float64) @ self.directions + self.offsets
        return np.argmax(np.abs(scores) if self.absolute else scores, axis=1)

    def renumber(self, functions: Array, weights: Array, points: Array) -> Partition:
        """Return the same partition with clusters numbered in lexicographic order of their means.

        The numbering then depends neither on the order of the points nor on a seed. Empty clusters
        come last.
        """
        labels, count = self.labels(functions), len(self.offsets)
        totals = np.bincount(labels, weights, minlength=count)
        sums = [np.bincount(labels, weights * x, minlength=count) for x in points.T]
        means = np.divide(sums, totals, out=np.full((len(sums), count), np.inf), where=totals > 0)
        order = np.lexsort(means[::-1])
        return Partition(self.directions[:, order], self.offsets[order], self.absolute)


def kmeans_partition(
    functions: Array, weights: Array, n_clusters: int, rng: np.random.RandomState
) -> Partition:
    """Return the best partition from ten weighted k-means runs.

    The rule is linear, because the nearest mean maximizes f . mean - ||mean||^2 / 2.
    """
    from sklearn.cluster import KMeans  # slow to import

    functions, weights = _sorted(functions, weights)
    found = KMeans(n_clusters, n_init=10, random_state=rng).fit(functions, sample_weight=weights)
    means = found.cluster_centers_
    return Partition(means.T, -0.5 * np.sum(means**2, axis=1))


def rotation_partition(
    functions: Array, weights: Array, n_clusters: int, rng: np.random.RandomState
) -> Partition:
    """Find the rotation that brings the points closest to the axes (Yu and Shi, 2003)."""
    functions, weights = _sorted(functions, weights)
    lengths = np.sqrt(weights @ functions**2)
    rows = functions / lengths
    norms = np.linalg.norm(rows, axis=1)
    rows /= np.where(norms > 0, norms, 1.0)[:, None]
    rotation = _spread_rows(rows, weights, rng)
    before = 0.0
    for _ in range(_MAX_ITERATIONS):
        chosen = np.eye(len(rotation))[np.argmax(rows @ rotation, axis=1)]
        left, values, right = np.linalg.svd(chosen.T @ (weights[:, None] * rows))
        if abs(values.sum() - before) < np.finfo(np.float64).eps * values.sum():
            break
        before, rotation = values.sum(), right.T @ left.T
    return Partition(rotation / lengths[:, None], np.zeros(len(rotation)))


def _sorted(functions: Array, weights: Array) -> tuple[Array, Array]:
    """Sort points and weights, so that random starts do not depend on the original order."""
    keys = np.round(functions / np.abs(functions).max(axis=0, initial=1e-300), 9)
    order = np.lexsort(keys.T[::-1])
    return functions[order], weights[order]


def _spread_rows(rows: Array, weights: Array, rng: np.random.RandomState) -> Array:
    """Return nearly orthogonal rows as columns: one random row, then the least aligned ones."""
    below = np.cumsum(weights)
    first = np.searchsorted(below, rng.random_sample() * below[-1], side="right")
    chosen = [rows[min(first, len(rows) - 1)]]
    overlap = np.zeros(len(rows))
    for _ in range(1, rows.shape[1]):
        overlap += np.abs(rows @ chosen[-1])
        chosen.append(rows[np.argmin(overlap)])
    return np.column_stack(chosen)


def pivot_partition(
    functions: Array, weights: Array, n_clusters: int, rng: np.random.RandomState
) -> Partition:
    """Find the orthogonal frame nearest to the QR pivot rows (Damle, Minden and Ying, 2019).

    The weights have no effect.
    """
    *_, pivots = qr(functions.T, mode="r", pivoting=True)
    count = functions.shape[1]
    left, _, right = np.linalg.svd(functions[pivots[:count]].T)
    return Partition(left @ right, np.zeros(count), absolute=True)


PARTITIONERS: dict[str, Callable[[Array, Array, int, np.random.RandomState], Partition]] = {
    "kmeans": kmeans_partition,
    "discretize": rotation_partition,
    "cluster_qr": pivot_partition,
}

"""Weighted points in the space of a few eigenfunctions -> clusters, with a rule for new points.

Three ways, those that scikit-learn's ``SpectralClustering`` offers. A whole weight counts as
that many equal points. Each leaves a linear rule, so that a new point gets its cluster from
its eigenfunctions alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

Array = NDArray[np.floating]

_MOST_TURNS = 20


@dataclass(frozen=True, eq=False)
class Partition:
    """A point belongs to the cluster of the largest score, f(x) ``directions`` + ``offsets``.

    ``absolute`` says that the size of the score counts, not its sign.
    """

    directions: Array
    offsets: Array
    absolute: bool = False

    def labels(self, functions: Array) -> NDArray[np.intp]:
        """The cluster of each row."""
        scores = functions.astype(np.float64) @ self.directions + self.offsets
        return np.argmax(np.abs(scores) if self.absolute else scores, axis=1)

    def ordered_by(self, functions: Array, weights: Array, points: Array) -> Partition:
        """The same clusters, numbered as their means of the points come, feature by feature.

        So that numbers do not depend on the order of the points, or on a seed; empty clusters
        come last.
        """
        labels, count = self.labels(functions), len(self.offsets)
        totals = np.bincount(labels, weights, minlength=count)
        sums = [np.bincount(labels, weights * x, minlength=count) for x in points.T]
        means = np.divide(sums, totals, out=np.full((len(sums), count), np.inf), where=totals > 0)
        order = np.lexsort(means[::-1])
        return Partition(self.directions[:, order], self.offsets[order], self.absolute)


def by_means(
    functions: Array, weights: Array, n_clusters: int, rng: np.random.RandomState
) -> Partition:
    """Weighted k-means, the best of ten starts: the nearest mean.

    ||f - mean||^2 is smallest where f . mean - ||mean||^2 / 2 is largest.
    """
    from sklearn.cluster import KMeans  # late: it takes longer to import than all else here

    found = KMeans(n_clusters, n_init=10, random_state=rng).fit(functions, sample_weight=weights)
    means = found.cluster_centers_
    return Partition(means.T, -0.5 * np.sum(means**2, axis=1))


def by_rotation(
    functions: Array, weights: Array, n_clusters: int, rng: np.random.RandomState
) -> Partition:
    """The rotation that brings points closest to the axes (Yu and Shi, 2003)."""
    lengths = np.sqrt(weights @ functions**2)
    rows = functions / lengths
    norms = np.linalg.norm(rows, axis=1)
    rows /= np.where(norms > 0, norms, 1.0)[:, None]
    rotation = _scattered_rows(rows, weights, rng)
    before = 0.0
    for _ in range(_MOST_TURNS):
        chosen = np.eye(len(rotation))[np.argmax(rows @ rotation, axis=1)]
        left, values, right = np.linalg.svd(chosen.T @ (weights[:, None] * rows))
        if abs(values.sum() - before) < np.finfo(np.float64).eps * values.sum():
            break
        before, rotation = values.sum(), right.T @ left.T
    return Partition(rotation / lengths[:, None], np.zeros(len(rotation)))


def _scattered_rows(rows: Array, weights: Array, rng: np.random.RandomState) -> Array:
    """A row drawn by weight, then ever the row that is least along those before, as columns."""
    below = np.cumsum(weights)
    first = np.searchsorted(below, rng.random_sample() * below[-1], side="right")
    chosen = [rows[min(first, len(rows) - 1)]]
    overlap = np.zeros(len(rows))
    for _ in range(1, rows.shape[1]):
        overlap += np.abs(rows @ chosen[-1])
        chosen.append(rows[np.argmin(overlap)])
    return np.column_stack(chosen)


def by_pivots(
    functions: Array, weights: Array, n_clusters: int, rng: np.random.RandomState
) -> Partition:
    """The frame nearest to the rows that pivoted QR picks (Damle, Minden and Ying, 2019).

    How often a row counts does not matter to it.
    """
    *_, pivots = qr(functions.T, mode="r", pivoting=True)
    count = functions.shape[1]
    left, _, right = np.linalg.svd(functions[pivots[:count]].T)
    return Partition(left @ right, np.zeros(count), absolute=True)


WAYS: dict[str, Callable[[Array, Array, int, np.random.RandomState], Partition]] = {
    "kmeans": by_means,
    "discretize": by_rotation,
    "cluster_qr": by_pivots,
}

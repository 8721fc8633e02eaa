"""Random sampling of weighted rows, and the median distance between rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

Array = NDArray[np.floating]

MEDIAN_SAMPLE = 1000


def sample_rows(
    n_rows: int, sample_weight: Array | None, size: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Draw ``size`` rows, in ascending order, treating a weight as a number of repetitions.

    With integer weights, repeated rows are sampled without replacement. Other weights use
    systematic sampling: the rows are put in random order, and ``size`` evenly spaced points are
    located in the cumulative weights. Row i is then drawn ``size`` w_i / sum(w) times, rounded up
    or down, so equal weights result in a sample without replacement.
    """
    if sample_weight is None:
        return np.sort(sample_without_replacement(n_rows, size, random_state=rng)).astype(np.intp)
    if np.all(sample_weight == np.floor(sample_weight)) and np.sum(sample_weight) < 2**53:
        total = int(np.sum(sample_weight))
        points = np.sort(sample_without_replacement(total, size, random_state=rng))
        return np.searchsorted(np.cumsum(sample_weight), points, side="right")
    order = rng.permutation(n_rows)
    ends = np.cumsum(sample_weight[order])
    points = (rng.random_sample() + np.arange(size)) * (ends[-1] / size)
    found = np.searchsorted(ends, points, side="right")
    return np.sort(order[np.minimum(found, n_rows - 1)])


def median_distance(X: Array, sample_weight: Array | None = None, random_state: Any = 0) -> float:
    """Return the median distance between two rows of a seeded sample.

    The sample has at most 1,000 rows, and fewer (at least 100) for more than 400 features. With
    integer weights, the result is bit-identical to that of repeated rows.
    """
    if sample_weight is not None:
        X, sample_weight = X[sample_weight > 0], sample_weight[sample_weight > 0]
    if len(X) < 2:
        raise ValueError(
            f'bandwidth="median" requires at least two rows with positive weight, got {len(X)}. '
            "Set bandwidth to a number, or pass more rows in the first chunk."
        )
    size = median_sample_size(X.shape[1])
    X, sample_weight = limit_rows(X, sample_weight, size, check_random_state(random_state))
    distances = pdist(np.asarray(X, dtype=np.float64))
    if sample_weight is None:
        median = float(np.median(distances))
    else:
        median = _weighted_median(*_repeat_pairs(distances, sample_weight))
    if not median > 0:
        raise ValueError(
            'bandwidth="median" requires distinct rows, but at least half of all pairs of rows are '
            "equal (median distance 0). Set bandwidth to a number."
        )
    return median


def median_sample_size(n_features: int) -> int:
    """Return the largest number of rows from which the median is computed."""
    return int(np.clip(np.sqrt(4e8 / n_features), 100, MEDIAN_SAMPLE))


def limit_rows(
    X: Array, sample_weight: Array | None, size: int, rng: np.random.RandomState
) -> tuple[Array, Array | None]:
    """Sample at most ``size`` rows, treating a weight as a number of repetitions."""
    whole = sample_weight is None or bool(np.all(sample_weight == np.floor(sample_weight)))
    total = len(X) if sample_weight is None else float(np.sum(sample_weight))
    if (total if whole else len(X)) <= size:
        return X, sample_weight
    return X[sample_rows(len(X), sample_weight, size, rng)], None


def _repeat_pairs(distances: Array, weights: Array) -> tuple[Array, Array]:
    """Return the distances and weights of all pairs, including zeros between copies of a row."""
    first, second = np.triu_indices(len(weights), 1)
    copies = np.maximum(weights * (weights - 1) / 2, 0)
    zeros = np.zeros(len(weights))
    return np.append(distances, zeros), np.append(weights[first] * weights[second], copies)


def _weighted_median(values: Array, weights: Array) -> float:
    """Return the median of the values, treating a weight as a number of repetitions."""
    kept = weights > 0
    order = np.argsort(values[kept], kind="stable")
    values, below = values[kept][order], np.cumsum(weights[kept][order])
    half = below[-1] / 2
    lower = np.searchsorted(below, half, side="left")
    upper = min(np.searchsorted(below, half, side="right"), len(values) - 1)
    return float((values[lower] + values[upper]) / 2)

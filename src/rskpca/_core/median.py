"""The median distance between two rows: a bandwidth taken from the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.utils import check_random_state

from .sampling import sampled_rows

Array = NDArray[np.floating]

MEDIAN_SAMPLE = 1000


def median_distance(X: Array, sample_weight: Array | None = None, random_state: Any = 0) -> float:
    """Median distance between two rows, of a seeded sample of at most 1,000 rows.

    Fewer of more than 400 features, down to 100 rows, so that it stays quick.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The data.
    sample_weight : ndarray of shape (n_samples,), default=None
        How often each row counts; whole numbers equal repeated rows to the last bit.
    random_state : int, RandomState or None, default=0
        Seed of the sample.

    Returns
    -------
    float
        The median.
    """
    if sample_weight is not None:
        X, sample_weight = X[sample_weight > 0], sample_weight[sample_weight > 0]
    if len(X) < 2:
        raise ValueError(
            f'bandwidth="median" needs at least two rows of positive weight, got {len(X)}. Give '
            "the bandwidth as a number, or more rows in the first chunk."
        )
    size = median_sample(X.shape[1])
    X, sample_weight = _sampled(X, sample_weight, size, check_random_state(random_state))
    distances = pdist(np.asarray(X, dtype=np.float64))
    if sample_weight is None:
        median = float(np.median(distances))
    else:
        median = _weighted_median(*_with_twins(distances, sample_weight))
    if not median > 0:
        raise ValueError(
            'bandwidth="median" needs data that differ, but at least half of the pairs of rows '
            "are equal (median distance 0). Give the bandwidth as a number."
        )
    return median


def median_sample(n_features: int) -> int:
    """How many rows the median is taken from."""
    return int(np.clip(np.sqrt(4e8 / n_features), 100, MEDIAN_SAMPLE))


def _sampled(
    X: Array, sample_weight: Array | None, size: int, rng: np.random.RandomState
) -> tuple[Array, Array | None]:
    """At most ``size`` rows, as if each stood there as often as it counts."""
    whole = sample_weight is None or bool(np.all(sample_weight == np.floor(sample_weight)))
    total = len(X) if sample_weight is None else float(np.sum(sample_weight))
    if (total if whole else len(X)) <= size:
        return X, sample_weight
    return X[sampled_rows(len(X), sample_weight, size, rng)], None


def _with_twins(distances: Array, weights: Array) -> tuple[Array, Array]:
    """Distances of pairs of rows, each row taken as often as it counts, with their weights."""
    first, second = np.triu_indices(len(weights), 1)
    twins = np.maximum(weights * (weights - 1) / 2, 0)
    zeros = np.zeros(len(weights))
    return np.append(distances, zeros), np.append(weights[first] * weights[second], twins)


def _weighted_median(values: Array, weights: Array) -> float:
    """The middle of the values, each taken as often as its weight says."""
    kept = weights > 0
    order = np.argsort(values[kept], kind="stable")
    values, below = values[kept][order], np.cumsum(weights[kept][order])
    half = below[-1] / 2
    lower = np.searchsorted(below, half, side="left")
    upper = min(np.searchsorted(below, half, side="right"), len(values) - 1)
    return float((values[lower] + values[upper]) / 2)

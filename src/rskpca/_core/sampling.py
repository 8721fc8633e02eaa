"""Random sampling of weighted rows, and bandwidths computed from distances in a sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

from .reconstruction import held_out_errors, squared_distances
from .sparse import densify

Array = NDArray[np.floating]

MEDIAN_SAMPLE = 1000

# The rule "neighbors": 95% of the sampled rows have five other rows within 1.25 bandwidths. The
# remaining 5% allow for outliers. The constants were chosen so that random walks recover two moons,
# two circles, four blobs in four dimensions and a swiss roll, each with 1,000 and with 5,000 rows.
# The bandwidth can be up to 9% larger or 14% smaller before one of these cases fails.
N_NEIGHBORS = 5
_COVERED = 0.95
_NEIGHBOR_FACTOR = 0.8
_LOG_STEP = 0.25  # step in the base-2 logarithm of the scale, for the rule "slope"
# The rule "reconstruction": the candidates, in median distances, and the tolerance, relative to the
# smallest error and to the share of the variance that is reconstructed, whichever is smaller.
# Kernels wider than the data are nearly linear, and their errors are nearly equal.
_CANDIDATES = 2.0 ** np.arange(-3, 2.5, 0.5)
_TOLERANCE = 0.05
_FEWEST_ROWS = 20  # with less than ten distinct rows in each half, the errors are mostly noise


def sample_rows(
    n_rows: int, sample_weight: Array | None, size: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Draw ``size`` sorted row indices, treating each weight as a repetition count.

    With integer weights, repeated rows are sampled without replacement. Other weights use
    systematic sampling: the rows are put in random order, and ``size`` evenly spaced points are
    located in the cumulative weights. Row i is then drawn ``size`` w_i / sum(w) times, rounded up
    or down, so equal weights result in a sample without replacement.
    """
    if sample_weight is None or np.all(sample_weight == 1):
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
    """Return the median distance between two rows of a seeded sample."""
    return rule_bandwidth("median", X, sample_weight, random_state)


def rule_bandwidth(
    rule: str, X: Array, sample_weight: Array | None = None, random_state: Any = 0
) -> float:
    """Return the bandwidth that a rule computes from a seeded sample.

    If the two rows are equal in more than half of all pairs, as in one-hot or count data, the
    median is taken over the positive distances. The sample has at most 1,000 rows, and fewer (at
    least 100) for more than 400 features. With integer weights, the result is bit-identical to that
    for repeated rows.
    """
    rows, weights = bandwidth_sample(rule, X, sample_weight, random_state)
    bandwidth = RULES[rule](rows, weights)
    if not bandwidth > 0:
        raise ValueError(
            f'The "{rule}" rule for the bandwidth requires distinct rows, but all sampled rows '
            "are equal. Set bandwidth or gamma to a number."
        )
    return bandwidth


def bandwidth_sample(
    rule: str, X: Array, sample_weight: Array | None, random_state: Any
) -> tuple[Array, Array]:
    """Return the rows from which a bandwidth is computed, and their weights."""
    if sample_weight is not None:
        X, sample_weight = X[sample_weight > 0], sample_weight[sample_weight > 0]
    n_rows = X.shape[0]
    if n_rows < 2:
        raise ValueError(
            f'bandwidth="{rule}" requires at least two rows with positive weight, got {n_rows}. '
            "Set bandwidth to a number, or pass more rows in the first chunk."
        )
    size = median_sample_size(X.shape[1])
    X, sample_weight = limit_rows(X, sample_weight, size, check_random_state(random_state))
    rows = np.asarray(densify(X), dtype=np.float64)
    return rows, np.ones(len(rows)) if sample_weight is None else sample_weight


def _median(X: Array, weights: Array) -> float:
    """Return the median distance between two rows or, if it is 0, the median positive distance."""
    distances, copies = pdist(X), None
    if not (weights == 1).all():
        distances, copies = _repeat_pairs(distances, weights)
    median = _median_of(distances, copies)
    positive = distances > 0
    if median > 0 or not positive.any():
        return median
    return _median_of(distances[positive], None if copies is None else copies[positive])


def _neighbors(X: Array, weights: Array) -> float:
    """Return a multiple of the distance within which most rows have a few distinct neighbors."""
    rows, first = np.unique(X, axis=0, return_inverse=True)
    if len(rows) == 1:
        return 0.0
    nearest = min(N_NEIGHBORS, len(rows) - 1)
    distances = np.partition(squareform(pdist(rows)), nearest, axis=1)[:, nearest]
    order = np.argsort(distances, kind="stable")
    below = np.cumsum(np.bincount(first.ravel(), weights)[order])
    last = np.searchsorted(below, _COVERED * below[-1] * (1 - 1e-12))
    return _NEIGHBOR_FACTOR * float(distances[order][last])


def _slope(X: Array, weights: Array) -> float:
    return steepest_scale(X, weights)[0]


def steepest_scale(X: Array, weights: Array) -> tuple[float, float]:
    """Return the scale at which the kernel sum grows fastest, and the exponent of its growth.

    Where the sum of exp(-||x - y||^2 / sigma^2) over all pairs grows like sigma^d, the rows look
    like a d-dimensional sheet (Coifman, Shkolnisky, Sigworth and Singer, 2008). If all rows are
    equal, both numbers are 0.
    """
    squares = squared_distances(X)
    first, second = np.triu_indices(len(X), 1)
    apart = squares > 0
    if not apart.any():
        return 0.0, 0.0
    pairs = 2 * (weights[first] * weights[second])[apart]
    squares, equal = squares[apart], weights.sum() ** 2 - pairs.sum()
    ends = np.log2(np.sqrt([squares.min(), squares.max()]))
    scales = 2 ** np.arange(ends[0] - 2, ends[1] + 2, _LOG_STEP)
    slopes = [_log_slope(squares / scale**2, pairs, equal) for scale in scales]
    best = int(np.argmax(slopes))
    return float(scales[best]), float(slopes[best])


def _log_slope(scaled: Array, pairs: Array, equal: float) -> float:
    """Return d log S / d log sigma for S = equal + sum of pairs exp(-scaled)."""
    terms = pairs * np.exp(-scaled)
    return float(2 * (scaled @ terms) / (equal + terms.sum()))


def _reconstruction(X: Array, weights: Array) -> float:
    """Return the smallest bandwidth that reconstructs held-out rows about as well as the best one.

    Copies of a row are held out together. The result is the median distance if there are fewer than
    20 distinct rows, or if no bandwidth is better than the mean as the reconstruction of every row.
    """
    rows, first = np.unique(X, axis=0, return_inverse=True)
    median = _median(X, weights)
    if len(rows) < _FEWEST_ROWS:
        return median
    repeats = np.bincount(first.ravel(), weights).astype(np.float64)
    errors = held_out_errors((rows - rows[0]) / median, repeats, _CANDIDATES)
    best = errors.min()
    if best >= 1:
        return median
    chosen = np.argmax(errors <= best + _TOLERANCE * min(best, 1 - best))
    return median * float(_CANDIDATES[chosen])


RULES: dict[str, Callable[[Array, Array], float]] = {
    "median": _median,
    "neighbors": _neighbors,
    "slope": _slope,
    "reconstruction": _reconstruction,
}


def median_sample_size(n_features: int) -> int:
    """Return the largest number of rows from which a bandwidth is computed."""
    return int(np.clip(np.sqrt(4e8 / n_features), 100, MEDIAN_SAMPLE))


def limit_rows(
    X: Array, sample_weight: Array | None, size: int, rng: np.random.RandomState
) -> tuple[Array, Array | None]:
    """Return the rows and weights, or an unweighted sample if there are more than ``size`` rows."""
    whole = sample_weight is None or bool(np.all(sample_weight == np.floor(sample_weight)))
    total = X.shape[0] if sample_weight is None else float(np.sum(sample_weight))
    if (total if whole else X.shape[0]) <= size:
        return X, sample_weight
    return X[sample_rows(X.shape[0], sample_weight, size, rng)], None


def _repeat_pairs(distances: Array, weights: Array) -> tuple[Array, Array]:
    """Return the distances and weights of all pairs, including zero distances between copies."""
    first, second = np.triu_indices(len(weights), 1)
    copies = np.maximum(weights * (weights - 1) / 2, 0)
    zeros = np.zeros(len(weights))
    return np.append(distances, zeros), np.append(weights[first] * weights[second], copies)


def _median_of(values: Array, weights: Array | None) -> float:
    return float(np.median(values)) if weights is None else _weighted_median(values, weights)


def _weighted_median(values: Array, weights: Array) -> float:
    """Return the median of the values, treating each weight as a repetition count."""
    kept = weights > 0
    order = np.argsort(values[kept], kind="stable")
    values, below = values[kept][order], np.cumsum(weights[kept][order])
    half = below[-1] / 2
    lower = np.searchsorted(below, half, side="left")
    upper = min(np.searchsorted(below, half, side="right"), len(values) - 1)
    return float((values[lower] + values[upper]) / 2)

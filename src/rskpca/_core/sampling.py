"""Random rows of weighted data, and stratified random numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.random import sample_without_replacement

Array = NDArray[np.floating]


def sampled_rows(
    n_rows: int, sample_weight: Array | None, size: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Draw ``size`` rows, in ascending order, treating a weight as a number of repetitions.

    Integer weights are sampled without replacement, exactly as repeated rows. Other weights use
    systematic sampling: rows are put in random order, and ``size`` evenly spaced points are
    located in their cumulative weights. Row i is then drawn ``size`` w_i / sum(w) times, rounded
    up or down, and equal weights give a sample without replacement.
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


def stratified(shape: tuple[int, ...], generator: np.random.Generator) -> Array:
    """Draw uniform numbers, one per interval of length 1 / shape[-1], in random order."""
    intervals = generator.permuted(np.broadcast_to(np.arange(shape[-1]), shape), axis=-1)
    return (intervals + generator.random(shape)) / shape[-1]


def directions(shape: tuple[int, ...], n_features: int, generator: np.random.Generator) -> Array:
    """Draw unit vectors, uniformly on the sphere."""
    normal = generator.standard_normal((*shape, n_features))
    return normal / np.linalg.norm(normal, axis=-1, keepdims=True)

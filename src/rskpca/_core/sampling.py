"""Random rows of weighted data, and random numbers spread more evenly than by chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.random import sample_without_replacement

Array = NDArray[np.floating]


def sampled_rows(
    n_rows: int, sample_weight: Array | None, size: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """``size`` rows in ascending order, as if each stood there as often as it counts.

    Without replacement where weights are whole numbers, so that they equal repeated rows. Other
    weights: one row at each of ``size`` evenly spaced places of the summed weights, rows in
    random order. A row comes up ``size`` w_i / sum(w) times on average, rounded up or down, and
    equal weights give a sample without replacement.
    """
    if sample_weight is None:
        return np.sort(sample_without_replacement(n_rows, size, random_state=rng)).astype(np.intp)
    if np.all(sample_weight == np.floor(sample_weight)) and np.sum(sample_weight) < 2**53:
        total = int(np.sum(sample_weight))
        places = np.sort(sample_without_replacement(total, size, random_state=rng))
        return np.searchsorted(np.cumsum(sample_weight), places, side="right")
    order = rng.permutation(n_rows)
    ends = np.cumsum(sample_weight[order])
    places = (rng.random_sample() + np.arange(size)) * (ends[-1] / size)
    found = np.searchsorted(ends, places, side="right")
    return np.sort(order[np.minimum(found, n_rows - 1)])


def stratified(shape: tuple[int, ...], generator: np.random.Generator) -> Array:
    """Uniform numbers, one in each interval of length 1 / shape[-1], in random order."""
    intervals = generator.permuted(np.broadcast_to(np.arange(shape[-1]), shape), axis=-1)
    return (intervals + generator.random(shape)) / shape[-1]


def directions(shape: tuple[int, ...], n_features: int, generator: np.random.Generator) -> Array:
    """Unit vectors, uniform on the sphere."""
    normal = generator.standard_normal((*shape, n_features))
    return normal / np.linalg.norm(normal, axis=-1, keepdims=True)

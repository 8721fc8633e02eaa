"""Rows drawn at random, as if each stood there as often as it counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.random import sample_without_replacement

Array = NDArray[np.floating]


def draw(
    n_rows: int, weights: Array | None, size: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """``size`` rows, without replacement where weights are whole numbers.

    Whole weights draw from the repeated rows, so that the same seed draws the same points; a row
    that counts more than once may then come more than once. Fractions draw with replacement.
    """
    if weights is None:
        return sample_without_replacement(n_rows, size, random_state=rng).astype(np.intp)
    total = float(np.sum(weights))
    if np.all(weights == np.floor(weights)):
        places = sample_without_replacement(int(total), size, random_state=rng)
    else:
        places = total * rng.random_sample(size)
    rows = np.searchsorted(np.cumsum(weights), places, side="right")
    return np.minimum(rows, n_rows - 1)

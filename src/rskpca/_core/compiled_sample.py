"""Compiled keyed hash of row numbers. Import this module lazily, like ``compiled``."""

from __future__ import annotations

import math

import numpy as np

from .compiled import exact

_STEP, _FIRST, _SECOND = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
)


@exact
def _uniform(salt, number):
    """Return splitmix64 of a row number as a float in (0, 1]."""
    z = np.uint64(salt) + (np.uint64(number) + np.uint64(1)) * _STEP
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    z = z ^ (z >> np.uint64(31))
    return (float(z >> np.uint64(11)) + 1.0) * 2.0**-53


@exact
def find_small_keys(salt, start, weights, threshold, indices, keys):
    """Write the indices and keys of the rows whose key -log(u) / weight is below the threshold.

    u is a hash of the row number, which is ``start`` plus the index. Return the number of rows
    written.
    """
    count = 0
    for i in range(len(weights)):
        if weights[i] == 0:
            continue
        u = _uniform(salt, start + i)
        # -log(u) >= 1 - u, which rules out most rows without a logarithm
        if 1.0 - u >= threshold * weights[i]:
            continue
        key = -math.log(u) / weights[i]
        if key < threshold:
            indices[count], keys[count] = i, key
            count += 1
    return count

"""Sums of waves over rows: what random frequencies see of the data.

A *turn* is a frequency divided by 2 pi. For pairs of frequencies (a, b) the waves are
exp(2 pi i <f, x - origin>) with f one of a, b, a - b and a + b: the products of two waves come
almost free once the waves are there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .parallel import slices, workers

Array = NDArray[np.floating]
Complex = NDArray[np.complex128]

_SPAN = 8192
_UNITS = 2.0**20  # of which a part of a wave is a whole number
_LARGEST = 2.0**33  # sums of them up to here are held without rounding


def pairs_in_tiles(n_pairs: int) -> int:
    """The number of pairs, rounded up to what the compiled loop takes at a time."""
    from .compiled_waves import LANES

    return -(-n_pairs // LANES) * LANES


def add_waves(
    X: Array,
    weights: Array,
    origin: Array,
    turns: Array,
    sums: Complex,
    *,
    n_threads: int | None = None,
) -> Complex:
    """``sums`` and, beyond them, the weighted waves of the rows of X.

    ``turns`` has shape (2, n_pairs, n_features), ``sums`` (4, n_pairs): for a, b, a - b and
    a + b. The same rows give the same bits for any cut of them into calls; for any order, too,
    where all weights are whole and sum to at most 2^33. The number of threads never matters.
    """
    tiles, totals = _tiles(turns), _as_tiles(sums)
    everything = 0, len(totals)
    with workers(n_threads) as run:
        if _exact(totals, weights):  # parts in any order

            def work(rows: slice) -> Array:
                part = np.zeros_like(totals)
                return _add(X[rows], weights[rows], origin, tiles, everything, part)

            totals = sum(run(work, slices(0, len(X), _SPAN)), totals)
        else:
            each = [(tile, tile + 1) for tile in range(*everything)]
            run(lambda some: _add(X, weights, origin, tiles, some, totals), each)
    return _from_tiles(totals)


def _exact(totals: Array, weights: Array) -> bool:
    """Whether all sums from here on are multiples of 2^-20, as waves are, without rounding."""
    if not (weights == np.round(weights)).all():
        return False
    largest = np.abs(totals).max() + np.abs(weights).sum()
    units = totals * _UNITS
    return bool(largest <= _LARGEST and (units == np.round(units)).all())


def _add(
    X: Array, weights: Array, origin: Array, tiles: Array, some: tuple[int, int], totals: Array
) -> Array:
    """Add the rows to some tiles of ``totals``, and return it."""
    from .compiled_waves import add_waves as compiled

    origin = origin.copy()
    for rows in slices(0, len(X), _SPAN):
        block = np.ascontiguousarray(X[rows], dtype=np.float64)
        compiled(_writeable(block), _writeable(weights[rows]), origin, tiles, *some, totals)
    return totals


def _writeable(array: Array) -> Array:
    """The loop is compiled once, for arrays that may be written to."""
    return array if array.flags.writeable else array.copy()


def _tiles(turns: Array) -> Array:
    """(2, n_pairs, d) -> (2 * n_tiles, d padded to 4k + 2, LANES): a, b, a, b, ..."""
    from .compiled_waves import LANES

    n_features = turns.shape[2]
    padded = np.zeros((2, turns.shape[1] // LANES, LANES, n_features + (2 - n_features) % 4))
    padded[..., :n_features] = turns.reshape(2, -1, LANES, n_features)
    return np.ascontiguousarray(padded.transpose(1, 0, 3, 2)).reshape(-1, padded.shape[3], LANES)


def _as_tiles(sums: Complex) -> Array:
    """(4, n_pairs) complex -> (n_tiles, 8, LANES) real: cosines and sines in turn."""
    from .compiled_waves import LANES

    parts = np.stack([sums.real, sums.imag], axis=1).reshape(8, -1, LANES)
    return np.ascontiguousarray(parts.transpose(1, 0, 2))


def _from_tiles(totals: Array) -> Complex:
    parts = totals.transpose(1, 0, 2).reshape(4, 2, -1)
    return parts[:, 0] + 1j * parts[:, 1]

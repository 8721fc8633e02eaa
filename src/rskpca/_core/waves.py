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
    in_order: bool = False,
    n_threads: int | None = None,
) -> Complex:
    """``sums`` and, beyond them, the weighted waves of the rows of X.

    ``turns`` has shape (2, n_pairs, n_features), ``sums`` (4, n_pairs): for a, b, a - b and
    a + b. Whole weights give the same bits for any order of the rows, any others for any cut
    of the rows into calls; the number of threads never matters. ``in_order`` is for sums that
    hold fractions, or more than 2^33 rows: whole weights are added like any others.
    """
    tiles, totals = _tiles(turns), _as_tiles(sums)
    everything = 0, len(totals)
    with workers(n_threads) as run:
        if not in_order and (weights == np.round(weights)).all():  # exact: parts in any order

            def work(rows: slice) -> Array:
                part = np.zeros_like(totals)
                return _add(X[rows], weights[rows], origin, tiles, everything, part)

            totals = sum(run(work, slices(0, len(X), _SPAN)), totals)
        else:
            each = [(tile, tile + 1) for tile in range(*everything)]
            run(lambda some: _add(X, weights, origin, tiles, some, totals), each)
    return _from_tiles(totals)


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

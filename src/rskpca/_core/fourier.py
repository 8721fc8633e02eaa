"""Random frequencies and Fourier sums over rows at these frequencies.

``turns`` are frequencies divided by 2 pi. For a pair of frequencies (a, b), the terms are
exp(2 pi i <f, x - origin>) with f = a, b, a - b and a + b. The last two are computed as products
of the first two, at almost no cost.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .parallel import slices, workers

Array = NDArray[np.floating]
Complex = NDArray[np.complex128]

LANES = 80  # frequency pairs per tile
_CHUNK_ROWS = 8192
_UNITS = 2.0**20  # the terms are multiples of 1 / _UNITS
_LARGEST = 2.0**33  # sums of terms up to here are exact in float64


def stratified_uniform(shape: tuple[int, ...], generator: np.random.Generator) -> Array:
    """Draw uniform numbers, one per interval of length 1 / shape[-1], in random order."""
    intervals = generator.permuted(np.broadcast_to(np.arange(shape[-1]), shape), axis=-1)
    return (intervals + generator.random(shape)) / shape[-1]


def random_directions(
    shape: tuple[int, ...], n_features: int, generator: np.random.Generator
) -> Array:
    """Draw unit vectors uniformly from the sphere."""
    normal = generator.standard_normal((*shape, n_features))
    return normal / np.linalg.norm(normal, axis=-1, keepdims=True)


def round_up_pairs(n_pairs: int) -> int:
    """Round the number of pairs up to a multiple of the tile size of the compiled loop."""
    return -(-n_pairs // LANES) * LANES


def add_fourier_sums(
    X: Array,
    weights: Array,
    origin: Array,
    turns: Array,
    sums: Complex,
    *,
    n_threads: int | None = None,
) -> Complex:
    """Return ``sums`` plus the weighted Fourier sums of the rows of X.

    ``turns`` has shape (2, n_pairs, n_features) and ``sums`` (4, n_pairs), for a, b, a - b and
    a + b. The result has the same bits for any chunking of the rows and any number of threads,
    and for any order of the rows if all weights are integers that sum to at most 2^33.
    """
    tiles, totals = _tiles(turns), _as_tiles(sums)
    all_tiles = 0, len(totals)
    with workers(n_threads) as run:
        if _is_exact(totals, weights):  # then the order does not matter

            def work(rows: slice) -> Array:
                part = np.zeros_like(totals)
                return _add(X[rows], weights[rows], origin, tiles, all_tiles, part)

            totals = sum(run(work, slices(0, len(X), _CHUNK_ROWS)), totals)
        else:
            each = [(tile, tile + 1) for tile in range(*all_tiles)]
            run(lambda some: _add(X, weights, origin, tiles, some, totals), each)
    return _from_tiles(totals)


def _is_exact(totals: Array, weights: Array) -> bool:
    """Return True if all sums remain multiples of 2^-20, like the terms, without rounding."""
    if not (weights == np.round(weights)).all():
        return False
    largest = np.abs(totals).max() + np.abs(weights).sum()
    units = totals * _UNITS
    return bool(largest <= _LARGEST and (units == np.round(units)).all())


def _add(
    X: Array, weights: Array, origin: Array, tiles: Array, some: tuple[int, int], totals: Array
) -> Array:
    """Add the rows to a range of tiles in ``totals``, and return ``totals``."""
    from .compiled_fourier import add_fourier_sums as compiled

    origin = origin.copy()
    for rows in slices(0, len(X), _CHUNK_ROWS):
        chunk = np.ascontiguousarray(X[rows], dtype=np.float64)
        compiled(_writeable(chunk), _writeable(weights[rows]), origin, tiles, *some, totals)
    return totals


def _writeable(array: Array) -> Array:
    """Return a writeable array, so that numba compiles only one version of the loop."""
    return array if array.flags.writeable else array.copy()


def _tiles(turns: Array) -> Array:
    """Reshape (2, n_pairs, d) to (2 * n_tiles, d padded to 4k + 2, LANES): a, b, a, b, ..."""
    n_features = turns.shape[2]
    padded = np.zeros((2, turns.shape[1] // LANES, LANES, n_features + (2 - n_features) % 4))
    padded[..., :n_features] = turns.reshape(2, -1, LANES, n_features)
    return np.ascontiguousarray(padded.transpose(1, 0, 3, 2)).reshape(-1, padded.shape[3], LANES)


def _as_tiles(sums: Complex) -> Array:
    """Reshape (4, n_pairs) complex to (n_tiles, 8, LANES) real, alternating cosines and sines."""
    parts = np.stack([sums.real, sums.imag], axis=1).reshape(8, -1, LANES)
    return np.ascontiguousarray(parts.transpose(1, 0, 2))


def _from_tiles(totals: Array) -> Complex:
    """Invert :func:`_as_tiles`."""
    parts = totals.transpose(1, 0, 2).reshape(4, 2, -1)
    return parts[:, 0] + 1j * parts[:, 1]

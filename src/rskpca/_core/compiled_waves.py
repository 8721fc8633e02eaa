"""The compiled sums of waves. Imported late: ``import rskpca`` does not import numba.

Lanes are pairs of frequencies, eight rows at a time. Phases are float64, so that wide data
keep their digits; the waves themselves are float32, rounded to multiples of 2^-20. Sums of
such numbers are exact in float32 for eight rows, and in float64 up to 2^33 rows, in any order.
With fractional weights the sums go from the first row to the last.
"""

from __future__ import annotations

import numpy as np

from .compiled import _compiled

LANES = 80
ROWS = 8

_ordered = _compiled(fastmath={"contract", "nsz"})

# sin(pi r) = r (S0 + S1 r^2 + ...) and cos(pi r) = 1 + r^2 (C1 + C2 r^2 + ...) for |r| <= 1/2:
# minimax, with errors below 4e-9 and 6e-8.
_S0 = np.float32(3.141592580044488)
_S1 = np.float32(-5.167706878910824)
_S2 = np.float32(2.550031377017159)
_S3 = np.float32(-0.5980451725097375)
_S4 = np.float32(0.07722012571763029)
_C1 = np.float32(-4.934795518112876)
_C2 = np.float32(4.058451340973994)
_C3 = np.float32(-1.3320938609265593)
_C4 = np.float32(0.2200806432383361)
_ONE = np.float32(1)
_TWO = np.float32(2)
_GRID = np.float32(12)  # float32 numbers near 12 are multiples of 2^-20
_WHOLE = 6755399441055744.0  # 1.5 * 2^52: float64 numbers near it are whole


@_ordered
def _first_phases(rows, turns, tile, phases):
    """What the first two features give to the phases of the rows."""
    for r in range(ROWS):
        x, y = rows[r, 0], rows[r, 1]
        for lane in range(LANES):
            phases[r, lane] = x * turns[tile, 0, lane] + y * turns[tile, 1, lane]


@_ordered
def _phases(rows, turns, tile, phases):
    """Phases of the rows in turns, for the lanes of a tile.

    The number of features is 2 more than a multiple of 4 (padded with zeros).
    """
    _first_phases(rows, turns, tile, phases)
    for k in range(2, rows.shape[1], 4):
        for r in range(0, ROWS, 2):
            a0, b0, c0, d0 = rows[r, k], rows[r, k + 1], rows[r, k + 2], rows[r, k + 3]
            q = r + 1
            a1, b1, c1, d1 = rows[q, k], rows[q, k + 1], rows[q, k + 2], rows[q, k + 3]
            for lane in range(LANES):
                s, t = turns[tile, k, lane], turns[tile, k + 1, lane]
                u, v = turns[tile, k + 2, lane], turns[tile, k + 3, lane]
                phases[r, lane] += (a0 * s + b0 * t) + (c0 * u + d0 * v)
                phases[q, lane] += (a1 * s + b1 * t) + (c1 * u + d1 * v)


@_ordered
def _waves(phases, waves, at):
    """cos and sin of 2 pi times the phases, from those of half the angle."""
    for row in range(ROWS):
        for lane in range(LANES):
            phase = phases[row, lane]
            r = np.float32(phase - ((phase + _WHOLE) - _WHOLE))
            q = r * r
            s = r * (_S0 + q * (_S1 + q * (_S2 + q * (_S3 + q * _S4))))
            c = _ONE + q * (_C1 + q * (_C2 + q * (_C3 + q * _C4)))
            waves[at, row, lane] = _ONE - _TWO * s * s
            waves[at + 1, row, lane] = _TWO * s * c


@_ordered
def _multiply(waves):
    """From the waves of a and b those of a - b and a + b, in place."""
    for row in range(ROWS):
        for lane in range(LANES):
            a, b = waves[0, row, lane], waves[1, row, lane]
            c, d = waves[2, row, lane], waves[3, row, lane]
            waves[0, row, lane] = a * c + b * d
            waves[1, row, lane] = b * c - a * d
            waves[2, row, lane] = a * c - b * d
            waves[3, row, lane] = b * c + a * d


@_ordered
def _rounded(value):
    return (value + _GRID) - _GRID


@_ordered
def _add_all(waves, sums, tile, at):
    """Add rows of weight one: exact in float32, so that the order does not matter."""
    for part in range(4):
        for lane in range(LANES):
            total = _rounded(waves[part, 0, lane]) + _rounded(waves[part, 1, lane])
            total += _rounded(waves[part, 2, lane]) + _rounded(waves[part, 3, lane])
            total += _rounded(waves[part, 4, lane]) + _rounded(waves[part, 5, lane])
            total += _rounded(waves[part, 6, lane]) + _rounded(waves[part, 7, lane])
            sums[tile, at + part, lane] += total


@_ordered
def _add_row(waves, row, weight, sums, tile, at):
    """Add one row with its weight."""
    for part in range(4):
        for lane in range(LANES):
            sums[tile, at + part, lane] += weight * _rounded(waves[part, row, lane])


@_ordered
def _add(waves, weights, i, sums, tile, at):
    """Add rows from i on, to the parts from ``at`` on."""
    count = min(ROWS, len(weights) - i)
    n_ones = 0
    for row in range(count):
        n_ones += weights[i + row] == 1
    if n_ones == ROWS:
        _add_all(waves, sums, tile, at)
        return
    for row in range(count):
        _add_row(waves, row, weights[i + row], sums, tile, at)


@_ordered
def _take(X, i, origin, rows):
    """Rows from i on about the origin; behind the last row, the last again."""
    for r in range(ROWS):
        row = min(i + r, X.shape[0] - 1)
        for k in range(X.shape[1]):
            rows[r, k] = X[row, k] - origin[k]


@_ordered
def add_waves(X, weights, origin, turns, first, last, sums):
    """Add to the sums of the tiles ``first`` to ``last`` the weighted waves of the rows.

    ``turns`` has two tiles of frequencies, a and b, for each of ``sums``, whose rows are the
    cosines and sines of a, b, a - b and a + b.
    """
    rows = np.zeros((ROWS, turns.shape[1]))
    phases = np.empty((ROWS, LANES))
    waves = np.empty((4, ROWS, LANES), dtype=np.float32)
    for i in range(0, X.shape[0], ROWS):
        _take(X, i, origin, rows)
        for tile in range(first, last):
            for which in range(2):
                _phases(rows, turns, 2 * tile + which, phases)
                _waves(phases, waves, 2 * which)
            _add(waves, weights, i, sums, tile, 0)
            _multiply(waves)
            _add(waves, weights, i, sums, tile, 4)

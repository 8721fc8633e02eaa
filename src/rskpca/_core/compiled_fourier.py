"""Compiled Fourier sums. Import this module lazily, like ``compiled``.

Lanes are pairs of frequencies, and eight rows are processed at a time. Phases are float64, to
preserve the digits of widely spread data. Cosines and sines are float32, rounded to multiples of
2^-20, so that their sums are exact in any order: in float32 for eight rows, and in float64 for up
to 2^33 rows. With fractional weights, rows are added in order.
"""

from __future__ import annotations

import numpy as np

from .compiled import jit
from .fourier import LANES

ROWS = 8

_ordered = jit(fastmath={"contract", "nsz"})

# sin(pi r) = r (S0 + S1 r^2 + ...) and cos(pi r) = 1 + r^2 (C1 + C2 r^2 + ...) for |r| <= 1/2:
# minimax polynomials with errors below 4e-9 and 6e-8.
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
_INTEGERS = 6755399441055744.0  # 1.5 * 2^52; float64 numbers near it are integers


@_ordered
def _start_phases(rows, turns, tile, phases):
    """Write the contribution of the first two features to the phases."""
    for r in range(ROWS):
        x, y = rows[r, 0], rows[r, 1]
        for lane in range(LANES):
            phases[r, lane] = x * turns[tile, 0, lane] + y * turns[tile, 1, lane]


@_ordered
def _compute_phases(rows, turns, tile, phases):
    """Compute the phases of the rows, in turns, for the lanes of a tile.

    The number of features is 2 more than a multiple of 4 (padded with zeros).
    """
    _start_phases(rows, turns, tile, phases)
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
def _compute_terms(phases, terms, at):
    """Compute cos and sin of 2 pi times the phases by the half-angle formulas."""
    for row in range(ROWS):
        for lane in range(LANES):
            phase = phases[row, lane]
            r = np.float32(phase - ((phase + _INTEGERS) - _INTEGERS))
            q = r * r
            s = r * (_S0 + q * (_S1 + q * (_S2 + q * (_S3 + q * _S4))))
            c = _ONE + q * (_C1 + q * (_C2 + q * (_C3 + q * _C4)))
            terms[at, row, lane] = _ONE - _TWO * s * s
            terms[at + 1, row, lane] = _TWO * s * c


@_ordered
def _combine(terms):
    """Replace the terms of a and b by those of a - b and a + b."""
    for row in range(ROWS):
        for lane in range(LANES):
            a, b = terms[0, row, lane], terms[1, row, lane]
            c, d = terms[2, row, lane], terms[3, row, lane]
            terms[0, row, lane] = a * c + b * d
            terms[1, row, lane] = b * c - a * d
            terms[2, row, lane] = a * c - b * d
            terms[3, row, lane] = b * c + a * d


@_ordered
def _round(value):
    """Round to a multiple of 2^-20."""
    return (value + _GRID) - _GRID


@_ordered
def _add_eight(terms, sums, tile, at):
    """Add eight rows with weight 1; the order does not matter, because the sums are exact."""
    for part in range(4):
        for lane in range(LANES):
            total = _round(terms[part, 0, lane]) + _round(terms[part, 1, lane])
            total += _round(terms[part, 2, lane]) + _round(terms[part, 3, lane])
            total += _round(terms[part, 4, lane]) + _round(terms[part, 5, lane])
            total += _round(terms[part, 6, lane]) + _round(terms[part, 7, lane])
            sums[tile, at + part, lane] += total


@_ordered
def _add_row(terms, row, weight, sums, tile, at):
    """Add one weighted row."""
    for part in range(4):
        for lane in range(LANES):
            sums[tile, at + part, lane] += weight * _round(terms[part, row, lane])


@_ordered
def _add(terms, weights, i, sums, tile, at):
    """Add the rows from i on to the sums from ``at`` on."""
    count = min(ROWS, len(weights) - i)
    n_ones = 0
    for row in range(count):
        n_ones += weights[i + row] == 1
    if n_ones == ROWS:
        _add_eight(terms, sums, tile, at)
        return
    for row in range(count):
        _add_row(terms, row, weights[i + row], sums, tile, at)


@_ordered
def _copy_rows(X, i, origin, rows):
    """Copy the rows from i on, relative to the origin, and pad with the last row."""
    for r in range(ROWS):
        row = min(i + r, X.shape[0] - 1)
        for k in range(X.shape[1]):
            rows[r, k] = X[row, k] - origin[k]


@_ordered
def add_fourier_sums(X, weights, origin, turns, first, last, sums):
    """Add the weighted terms of the rows to the sums of the tiles ``first`` to ``last``.

    ``turns`` has two tiles of frequencies, a and b, per tile of ``sums``, whose rows are the
    cosines and sines of a, b, a - b and a + b.
    """
    rows = np.zeros((ROWS, turns.shape[1]))
    phases = np.empty((ROWS, LANES))
    terms = np.empty((4, ROWS, LANES), dtype=np.float32)
    for i in range(0, X.shape[0], ROWS):
        _copy_rows(X, i, origin, rows)
        for tile in range(first, last):
            for which in range(2):
                _compute_phases(rows, turns, 2 * tile + which, phases)
                _compute_terms(phases, terms, 2 * which)
            _add(terms, weights, i, sums, tile, 0)
            _combine(terms)
            _add(terms, weights, i, sums, tile, 4)

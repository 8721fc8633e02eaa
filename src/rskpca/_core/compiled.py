"""The compiled loops. Imported late: ``import rskpca`` does not import numba.

Every loop is single-threaded and releases the interpreter lock. A *tile* holds 64 centers,
feature by feature, so that one instruction serves many centers. Tiles are float32, scaled
so that the radius is 1, and only ever *rule out* centers; what is left is decided by
:func:`squared_distance`, which adds in the order that ``reference.py`` defines.
"""

from __future__ import annotations

import numpy as np
from numba import njit

LANES = 64


def _compiled(**options):
    def decorate(function):
        try:
            return njit(nogil=True, cache=True, **options)(function)
        except RuntimeError:  # no folder that a cache could be written to
            return njit(nogil=True, **options)(function)

    return decorate


_LOOSE = {"contract", "reassoc", "nsz"}
_exact = _compiled(fastmath=False)  # said, or it would be that of whoever calls it first
_loose = _compiled(fastmath=_LOOSE)
_loose_inline = _compiled(fastmath=_LOOSE, inline="always")


@_exact
def squared_distance(X, i, C, j):
    """||X[i] - C[j]||^2 from differences in float64, features in order."""
    total = 0.0
    for k in range(X.shape[1]):
        difference = X[i, k] - C[j, k]
        total += difference * difference
    return total


@_loose
def scale_rows(X, origin, scale, rows, squared_norms):
    """rows = scale (X - origin), and their squared norms, each in the precision of its array."""
    for i in range(X.shape[0]):
        total = 0.0
        for k in range(X.shape[1]):
            value = (X[i, k] - origin[k]) * scale
            rows[i, k] = value
            total += value * value
        squared_norms[i] = total


@_exact
def fill_tiles(rows32, first, tiles):
    """Write rows of scaled centers into the lanes from position ``first`` on."""
    for j in range(rows32.shape[0]):
        t, lane = (first + j) // LANES, (first + j) % LANES
        for k in range(rows32.shape[1]):
            tiles[t, k, lane] = rows32[j, k]


@_loose_inline
def _any_below(sums, limit):
    found = np.float32(0)
    for lane in range(LANES):
        found += np.float32(1) if sums[lane] < limit else np.float32(0)
    return found > 0


@_loose_inline
def _first_below(sums, limit):
    first = np.int32(LANES)
    for lane in range(LANES):
        candidate = np.int32(lane) if sums[lane] < limit else np.int32(LANES)
        first = min(first, candidate)
    return first


@_loose
def _sums_to_tile(X32, i, tiles, t, limit, sums):
    """Approximate squared distances to the lanes of a tile; the first below ``limit``, or 64.

    Sums of squares only grow, so every 16 features a tile that is already too far is left.
    The number of features is a multiple of 4 (padded with zeros).
    """
    x0, x1, x2, x3 = X32[i, 0], X32[i, 1], X32[i, 2], X32[i, 3]
    for lane in range(LANES):
        a = x0 - tiles[t, 0, lane]
        b = x1 - tiles[t, 1, lane]
        c = x2 - tiles[t, 2, lane]
        d = x3 - tiles[t, 3, lane]
        sums[lane] = a * a + b * b + c * c + d * d
    for k in range(4, X32.shape[1], 4):
        if k % 16 == 0 and not _any_below(sums, limit):
            return np.int32(LANES)
        x0, x1, x2, x3 = X32[i, k], X32[i, k + 1], X32[i, k + 2], X32[i, k + 3]
        for lane in range(LANES):
            a = x0 - tiles[t, k, lane]
            b = x1 - tiles[t, k + 1, lane]
            c = x2 - tiles[t, k + 2, lane]
            d = x3 - tiles[t, k + 3, lane]
            sums[lane] += a * a + b * b + c * c + d * d
    return _first_below(sums, limit)


@_exact
def _first_exact(X, i, C, start, stop, squared_radius, squared):
    """First center of C[start:stop] within the radius of X[i], or -1, without tiles."""
    for j in range(start, stop):
        value = squared_distance(X, i, C, j)
        if value < squared_radius:
            squared[i] = value
            return j
    return -1


@_exact
def _first_in_tile(X, i, limit, sums, lane, base, C, squared_radius, squared):
    """First center of a tile from ``lane`` on within the radius of X[i], or -1."""
    for j in range(base + lane, base + LANES):
        if sums[j - base] < limit:
            value = squared_distance(X, i, C, j)
            if value < squared_radius:
                squared[i] = value
                return j
    return -1


@_exact
def scan_tiles(
    X, X32, limits, tiles, C, start, stop, squared_radius, labels, squared, first_row, last_row
):
    """For each row still without a label, the first center of C[start:stop] within the radius.

    ``start`` begins a tile, and ``stop`` ends one or the centers: lanes behind those are
    infinitely far.
    """
    sums = np.empty(LANES, dtype=np.float32)
    for i in range(first_row, last_row):
        limit = limits[i]
        if labels[i] >= 0:
            continue
        if limit == np.inf:
            labels[i] = _first_exact(X, i, C, start, stop, squared_radius, squared)
            continue
        for t in range(start // LANES, (stop + LANES - 1) // LANES):
            lane = _sums_to_tile(X32, i, tiles, t, limit, sums)
            if lane < LANES:
                j = t * LANES + lane
                value = squared_distance(X, i, C, j)
                if value < squared_radius:  # nearly always
                    squared[i] = value
                else:
                    j = _first_in_tile(
                        X, i, limit, sums, lane + 1, t * LANES, C, squared_radius, squared
                    )
                if j >= 0:
                    labels[i] = j
                    break


@_exact
def scan_balls(
    X, X32, limits, pivots, reach, first_tile, tiles, ids, C, stop, squared_radius, labels, squared
):
    """The same among centers grouped in balls; skips a ball by the triangle inequality.

    ``reach`` is (1 + ball radius)^2: a center of the ball within the radius of x has the pivot
    within 1 + ball radius. ``ids`` are the positions of the lanes, ascending in each ball.
    Returns the number of tiles looked at.
    """
    sums = np.empty(LANES, dtype=np.float32)
    inner = np.empty(LANES, dtype=np.float32)
    n_balls = len(reach)
    visited = 0
    for i in range(X.shape[0]):
        if labels[i] >= 0:
            continue
        limit = limits[i]
        best = stop
        if limit == np.inf:
            best = _first_exact(X, i, C, 0, stop, squared_radius, squared)
            labels[i] = best
            continue
        for p in range(pivots.shape[0]):
            visited += 1
            _sums_to_tile(X32, i, pivots, p, np.float32(np.inf), sums)
            for lane in range(min(LANES, n_balls - p * LANES)):
                ball = p * LANES + lane
                if sums[lane] > reach[ball] * limit:  # both may be infinite: then look
                    continue
                for t in range(first_tile[ball], first_tile[ball + 1]):
                    if ids[t, 0] >= best:
                        break
                    visited += 1
                    first = _sums_to_tile(X32, i, tiles, t, limit, inner)
                    for q in range(first, LANES):
                        j = ids[t, q]
                        if j < best and inner[q] < limit:
                            value = squared_distance(X, i, C, j)
                            if value < squared_radius:
                                squared[i] = value
                                best = j
        if best < stop:
            labels[i] = best
    return visited


@_exact
def nearest_pivots(C32, start, pivots, n_pivots, nearest):
    """Nearest pivot (to float32) of each scaled center from ``start`` on."""
    sums = np.empty(LANES, dtype=np.float32)
    for j in range(start, C32.shape[0]):
        best = np.float32(np.inf)
        nearest[j] = 0
        for p in range(pivots.shape[0]):
            _sums_to_tile(C32, j, pivots, p, np.float32(np.inf), sums)
            for lane in range(min(LANES, n_pivots - p * LANES)):
                if sums[lane] < best:
                    best = sums[lane]
                    nearest[j] = p * LANES + lane


@_loose_inline
def _any_close(products, a, start, stop, base, center_norms, first):
    found = np.float32(0)
    for b in range(start, stop):
        close = base + center_norms[first + b] < products[a, b] + products[a, b]
        found += np.float32(1) if close else np.float32(0)
    return found > 0


@_exact
def _first_in_products(products, a, base, center_norms, X, i, C, first, squared_radius, squared):
    n_panel = products.shape[1]
    for start in range(0, n_panel, LANES):
        stop = min(start + LANES, n_panel)
        if _any_close(products, a, start, stop, base, center_norms, first):
            for b in range(start, stop):
                if base + center_norms[first + b] < products[a, b] + products[a, b]:
                    value = squared_distance(X, i, C, first + b)
                    if value < squared_radius:
                        squared[i] = value
                        return first + b
    return -1


@_exact
def scan_products(
    products,
    rows,
    n_rows,
    norms,
    limits,
    center_norms,
    X,
    C,
    first,
    squared_radius,
    labels,
    squared,
):
    """The same from inner products of ``rows`` with the scaled centers from ``first`` on.

    A center is ruled out where ||x||^2 + ||c||^2 - 2 <x, c> is at least the limit of the row.
    Rows that found no center stay at the front of ``rows``; returns how many.
    """
    left = 0
    for a in range(n_rows):
        i = rows[a]
        base = norms[i] * norms[i] - limits[i]
        labels[i] = _first_in_products(
            products, a, base, center_norms, X, i, C, first, squared_radius, squared
        )
        if labels[i] < 0:
            rows[left] = i
            left += 1
    return left


@_exact
def scan_exact(X, rows, C, stop, squared_radius, labels, squared):
    """The same by plain differences, for the given rows."""
    for i in rows:
        labels[i] = _first_exact(X, i, C, 0, stop, squared_radius, squared)


@_exact
def open_centers(X, X32, limits, squared_radius, first, labels, squared, rows, C, tiles):
    """Algorithm 2 over the rows without a label: join an opened center, or open one.

    Returns the number of centers opened; their rows of ``X`` are in ``rows``.
    """
    opened = 0
    for i in range(X.shape[0]):
        if labels[i] >= 0:
            continue
        scan_tiles(X, X32, limits, tiles, C, 0, opened, squared_radius, labels, squared, i, i + 1)
        if labels[i] < 0:
            labels[i] = opened
            rows[opened] = i
            squared[i] = 0.0
            for k in range(X.shape[1]):
                C[opened, k] = X[i, k]
            for k in range(X32.shape[1]):
                tiles[opened // LANES, k, opened % LANES] = X32[i, k]
            opened += 1
        labels[i] += first
    return opened


@_exact
def accumulate(labels, values, totals):
    """Add each value to the total of its label, first row to last."""
    for i in range(len(labels)):
        totals[labels[i]] += values[i]


@_exact
def accumulate_exactly(labels, values, totals, residues):
    """The same, with what each rounding leaves out in ``residues`` (Knuth's two-sum)."""
    for i in range(len(labels)):
        j = labels[i]
        before = totals[j]
        after = before + values[i]
        taken = after - before
        residues[j] += (before - (after - taken)) + (values[i] - taken)
        totals[j] = after


@_loose
def multiply_few(block, rows, out):
    """out = block @ rows.T for a handful of rows, four at a time."""
    zero = np.zeros(1, dtype=block.dtype)[0]
    n_rows, n = rows.shape
    for i in range(block.shape[0]):
        for c in range(0, n_rows - 3, 4):
            s0, s1, s2, s3 = zero, zero, zero, zero
            for j in range(n):
                value = block[i, j]
                s0 += value * rows[c, j]
                s1 += value * rows[c + 1, j]
                s2 += value * rows[c + 2, j]
                s3 += value * rows[c + 3, j]
            out[i, c], out[i, c + 1], out[i, c + 2], out[i, c + 3] = s0, s1, s2, s3
        for c in range(n_rows // 4 * 4, n_rows):
            s0 = zero
            for j in range(n):
                s0 += block[i, j] * rows[c, j]
            out[i, c] = s0


@_exact
def _take_differences(products, i, X, C, norm, center_norms, near, large, sign):
    """Row i: the squared distances that lost digits by cancelling, anew."""
    for j in range(products.shape[1]):
        size = norm + center_norms[j]
        if size > large and sign * products[i, j] < near * size:
            products[i, j] = sign * squared_distance(X, i, C, j)


@_compiled(fastmath=_LOOSE | {"nnan"})
def finish_distances(products, X, C, norms, center_norms, near, large, sign):
    """Inner products -> sign * squared distances, in place; from differences where they cancel.

    That is where ``size`` = ||x||^2 + ||c||^2 exceeds ``large`` and the distance is below
    ``near * size``. A row whose norm overflows is as far as a number can
    say; ``sign`` is 1 or -1.
    """
    far = np.finfo(products.dtype).max
    zero, one = near - near, near / near  # in the precision of the block, which vectorises
    for i in range(products.shape[0]):
        norm = norms[i]
        if norm == np.inf:
            products[i] = sign * far
            continue
        lost = zero
        for j in range(products.shape[1]):
            size = norm + center_norms[j]
            value = max(size - (products[i, j] + products[i, j]), zero)
            products[i, j] = sign * value
            threshold = near * size if size > large else -one
            lost += one if value < threshold else zero
        if lost > 0:
            _take_differences(products, i, X, C, norm, center_norms, near, large, sign)

"""Compiled loops for Algorithm 2. Import this module lazily, like ``compiled``.

A *tile* stores 64 centers feature by feature, so that one instruction processes many centers.
Tiles are float32 and scaled so that the radius is 1. They are used only to *rule out* centers; the
remaining candidates are checked with :func:`squared_distance`.
"""

from __future__ import annotations

import numpy as np

from .compiled import exact, fast, fast_inline, squared_distance
from .cover import LANES


@exact
def fill_tiles(rows32, first, tiles):
    """Write scaled centers into the tiles, starting at position ``first``."""
    for j in range(rows32.shape[0]):
        t, lane = (first + j) // LANES, (first + j) % LANES
        for k in range(rows32.shape[1]):
            tiles[t, k, lane] = rows32[j, k]


@fast_inline
def _any_below(sums, limit):
    found = np.float32(0)
    for lane in range(LANES):
        found += np.float32(1) if sums[lane] < limit else np.float32(0)
    return found > 0


@fast_inline
def _first_below(sums, limit):
    first = np.int32(LANES)
    for lane in range(LANES):
        candidate = np.int32(lane) if sums[lane] < limit else np.int32(LANES)
        first = min(first, candidate)
    return first


@fast
def _sums_to_tile(X32, i, tiles, t, limit, sums):
    """Approximate the squared distances to a tile; return the first lane below ``limit``, or 64.

    Sums of squares never decrease, so the loop checks every 16 features whether all lanes are
    already too far away and stops if they are. The number of features is a multiple of 4, with
    zeros as padding.
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


@exact
def _first_exact(X, i, C, start, stop, squared_radius, squared):
    """Return the index of the first center in C[start:stop] within the radius of X[i], or -1."""
    for j in range(start, stop):
        value = squared_distance(X, i, C, j)
        if value < squared_radius:
            squared[i] = value
            return j
    return -1


@exact
def _first_in_tile(X, i, limit, sums, lane, base, C, squared_radius, squared):
    """Return the index of the first center within the radius, starting at ``lane``, or -1."""
    for j in range(base + lane, base + LANES):
        if sums[j - base] < limit:
            value = squared_distance(X, i, C, j)
            if value < squared_radius:
                squared[i] = value
                return j
    return -1


@exact
def set_limits(squares, roundoff, factor, product_error, trusted, norms, limits):
    """Write the norms of scaled rows, and limits on their squared distances from near centers.

    A row within the radius of a center has a computed squared distance below its limit, which
    includes the rounding errors of the scaled rows, and of their differences or products. The limit
    is infinite for rows whose norm is not below ``trusted``.
    """
    for i in range(len(squares)):
        norm = np.sqrt(squares[i])
        norms[i] = norm
        if norm < trusted:
            distance = 1 + roundoff * (2 * norm + 3)
            limits[i] = distance * distance * factor + product_error * ((norm + 1) * (norm + 1))
        else:
            limits[i] = np.inf


@exact
def scan_tiles(
    X, X32, limits, tiles, C, start, stop, squared_radius, labels, squared, first_row, last_row
):
    """Label each unlabeled row with the first center in C[start:stop] within the radius.

    ``start`` is the beginning of a tile; ``stop`` is the end of a tile or of all centers (unused
    lanes are infinitely far away).
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


@exact
def scan_balls(
    X, X32, limits, pivots, reach, first_tile, tiles, ids, C, stop, squared_radius, labels, squared
):
    """Label rows like :func:`scan_tiles`, skipping balls of centers by the triangle inequality.

    ``reach`` is (1 + ball radius)^2: if a center of the ball is within the radius of x, the pivot
    is within 1 + ball radius. ``ids`` are the indices of the centers, ascending in each ball.
    Return the number of tiles visited.
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
                if sums[lane] > reach[ball] * limit:  # if both are infinite, scan the ball
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


@exact
def nearest_pivots(C32, start, pivots, n_pivots, nearest):
    """Find the nearest pivot of each scaled center in ``C32[start:]``, in float32 arithmetic."""
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


@fast_inline
def _any_close(products, a, start, stop, base, center_norms, first):
    found = np.float32(0)
    for b in range(start, stop):
        close = base + center_norms[first + b] < products[a, b] + products[a, b]
        found += np.float32(1) if close else np.float32(0)
    return found > 0


@exact
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


@exact
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
    """Label rows like :func:`scan_tiles`, using inner products with a panel of centers.

    The panel starts at center ``first``. A center is ruled out if ||x||^2 + ||c||^2 - 2 <x, c> is
    at least the limit of the row. Rows without a center are moved to the front of ``rows``. Return
    the number of these rows.
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


@exact
def scan_exact(X, rows, C, stop, squared_radius, labels, squared):
    """Label the given rows like :func:`scan_tiles`, using only differences."""
    for i in rows:
        labels[i] = _first_exact(X, i, C, 0, stop, squared_radius, squared)


@exact
def open_centers(X, X32, limits, squared_radius, first, labels, squared, rows, C, tiles):
    """Run Algorithm 2 on the unlabeled rows, which join a new center or become one.

    Write the indices of the rows that became centers to ``rows``, and return how many there are.
    """
    start = opened = np.intp(0)  # typed, because functions are compiled again for a literal 0
    for i in range(X.shape[0]):
        if labels[i] >= 0:
            continue
        scan_tiles(
            X, X32, limits, tiles, C, start, opened, squared_radius, labels, squared, i, i + 1
        )
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


@exact
def aging_cover(X, first, patience, squared_radius, C, last, n_centers, labels, squared):
    """Assign each row to the first active center within the radius, or open a new center.

    Row numbers start at ``first``. ``last`` contains the row number of the last row assigned to
    each center; a center remains active for ``patience`` rows after that row. ``C`` and ``last``
    have room for one new center per row. Return the number of centers.
    """
    for i in range(X.shape[0]):
        home = n_centers
        for j in range(n_centers):
            if first + i - last[j] > patience:
                continue
            squared[i] = squared_distance(X, i, C, j)
            if squared[i] < squared_radius:
                home = j
                break
        if home == n_centers:
            squared[i] = 0.0
            for k in range(X.shape[1]):
                C[home, k] = X[i, k]
            n_centers += 1
        labels[i] = home
        last[home] = first + i
    return n_centers

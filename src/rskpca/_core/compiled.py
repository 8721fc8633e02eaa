"""Compiled loops over distances and sums.

Import this module lazily, because ``import rskpca`` must not import numba. Every loop is
single-threaded and releases the GIL. :func:`squared_distance` sums in the order defined by
``reference.py``, and every comparison that determines a label uses it.
"""

from __future__ import annotations

import pickle
from warnings import warn

import numpy as np
from numba import njit


def jit(**options):
    """Compile with numba, and cache the machine code if a cache directory is writable."""

    def decorate(function):
        try:
            compiled = njit(nogil=True, cache=True, **options)(function)
        except RuntimeError:  # no writable cache directory
            _warn_once("no cache directory is writable")
            return njit(nogil=True, **options)(function)
        compiled._cache = _TolerantCache(compiled._cache)
        return compiled

    return decorate


class _TolerantCache:
    """Numba cache that recompiles instead of failing if files are damaged or the disk is full."""

    def __init__(self, cache):
        self._inner = cache

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def load_overload(self, *args):
        """Load machine code, or return None so that numba compiles the function."""
        try:
            return self._inner.load_overload(*args)
        except Exception as error:  # damaged files raise many kinds of errors
            _warn_once(f"{type(error).__name__}: {error}")
            return None

    def save_overload(self, *args):
        """Save machine code if possible."""
        try:
            self._inner.save_overload(*args)
        except (OSError, EOFError, pickle.PickleError) as error:
            _warn_once(f"{type(error).__name__}: {error}")


_warned: set[str] = set()


def _warn_once(reason):
    """Warn, once per process, that compiled code cannot be cached."""
    if not _warned:
        _warned.add(reason)
        warn(
            f"compiled code cannot be cached ({reason}), so every new process spends a few seconds "
            "compiling it. Set the environment variable NUMBA_CACHE_DIR to an empty, writable "
            "folder.",
            stacklevel=2,
        )


# Always set fastmath; otherwise a function inherits the flags of its first compiled caller.
_FAST = {"contract", "reassoc", "nsz"}
exact = jit(fastmath=False)
fast = jit(fastmath=_FAST)
fast_inline = jit(fastmath=_FAST, inline="always")

# Squared distances from a subspace are recomputed from differences if they are below this fraction
# of the squared norm. The rounding error of the others is 1e-6 in float32, relative to the norm.
_CANCELED = 1e-3


def read_only(X, dtype=None):
    """Return a contiguous read-only view of an array, or of a copy if necessary.

    Numba compiles a loop separately for each memory layout and for read-only arrays. Loops with
    several callers therefore always receive their inputs in this form.
    """
    view = np.ascontiguousarray(X, dtype=dtype).view()
    view.flags.writeable = False
    return view


@exact
def squared_distance(X, i, C, j):
    """Return ||X[i] - C[j]||^2 from float64 differences, summed in feature order."""
    total = 0.0
    for k in range(X.shape[1]):
        difference = X[i, k] - C[j, k]
        total += difference * difference
    return total


@fast
def scale_rows(X, origin, scale, rows, squared_norms):
    """Write scale * (X - origin) to ``rows`` and its squared row norms to ``squared_norms``."""
    for i in range(X.shape[0]):
        total = 0.0
        for k in range(X.shape[1]):
            value = (X[i, k] - origin[k]) * scale
            rows[i, k] = value
            total += value * value
        squared_norms[i] = total


@exact
def _take_differences(products, i, X, C, norm, center_norms, near, large, sign):
    """Use differences to recompute the squared distances of row i that suffer from cancellation."""
    for j in range(products.shape[1]):
        size = norm + center_norms[j]
        if size > large and sign * products[i, j] < near * size:
            products[i, j] = sign * squared_distance(X, i, C, j)


@jit(fastmath=_FAST | {"nnan"})
def finish_distances(products, X, C, norms, center_norms, near, large, sign):
    """Convert inner products to sign * squared distances in place; ``sign`` is 1 or -1.

    With ``size`` = ||x||^2 + ||c||^2, a squared distance below ``near * size`` is recomputed
    from differences if ``size`` exceeds ``large``. A row whose norm overflows gets the largest
    finite distance.
    """
    far = np.finfo(products.dtype).max
    zero, one = (
        near - near,
        near / near,
    )  # in the dtype of the products, so that the loop vectorizes
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


@exact
def compute_distances(X, origin, scale, C, center_norms, near, large, sign, rows, norms, out):
    """Write sign * squared distances from X to C, in units of 1 / scale, to ``out``.

    C is already shifted by the origin and scaled; ``rows`` and ``norms`` are work arrays for X. All
    steps are in one function, because threads wait for the GIL at every call.
    """
    scale_rows(X, origin, scale, rows, norms)
    np.dot(rows, C.T, out)
    finish_distances(out, rows, C, norms, center_norms, near, large, sign)


@fast
def _squared_residual(rows, axes, projected, i):
    """Return the squared distance of a row from its projection, computed from differences."""
    total = 0.0
    for j in range(rows.shape[1]):
        inside = 0.0
        for k in range(axes.shape[1] - 1):
            inside += projected[i, k] * axes[j, k]
        total += (rows[i, j] - inside) ** 2
    return total


@fast
def _append_residuals(rows, norms, axes, large, inside, projected):
    """Copy coordinates and write the distance of each row from the subspace into the last column.

    Where ||x||^2 - ||x'||^2 suffers from cancellation and ``norms`` exceeds ``large``, the distance
    is computed from differences.
    """
    last = projected.shape[1] - 1
    for i in range(projected.shape[0]):
        total = 0.0
        for k in range(last):
            projected[i, k] = inside[i, k]
            total += projected[i, k] * projected[i, k]
        left = norms[i] - total
        if norms[i] > large and left < _CANCELED * norms[i]:
            left = _squared_residual(rows, axes, projected, i)
        projected[i, last] = np.sqrt(max(left, 0.0)) if norms[i] < np.inf else 0.0


@exact
def project_distances(
    X, origin, scale, axes, C, center_norms, near, large, sign, rows, norms, inside, projected, out
):
    """Write squared distances like :func:`compute_distances`, for centers in a subspace.

    The last column of ``axes`` and of C is zero; ``inside`` and ``projected`` are work arrays for
    the coordinates of X in the subspace. In ``projected``, the distances from the subspace follow.
    ``inside`` has the dtype of ``axes``, which may be lower than that of C.
    """
    scale_rows(X, origin, scale, rows, norms)
    np.dot(rows, axes, inside)
    _append_residuals(rows, norms, axes, large, inside, projected)
    np.dot(projected, C.T, out)
    finish_distances(out, projected, C, norms, center_norms, near, large, sign)


@exact
def nearest_of_products(products, norms, center_norms, margins, X, C, labels, squared):
    """Find the nearest center of each row (the first among ties) and its squared distance.

    ``products`` contains the inner products of shifted rows and centers, from which approximate
    squared distances are computed. Centers whose approximate distance is NaN or within
    ``margins[i]`` of the smallest are compared again by distances computed from differences.
    """
    for i in range(products.shape[0]):
        least = np.inf
        for j in range(products.shape[1]):
            least = min(least, norms[i] + center_norms[j] - 2 * products[i, j])
        limit = least + margins[i]
        squared[i] = np.inf
        labels[i] = 0
        for j in range(products.shape[1]):
            if not norms[i] + center_norms[j] - 2 * products[i, j] > limit:
                distance = squared_distance(X, i, C, j)
                if distance < squared[i]:
                    labels[i], squared[i] = j, distance


@exact
def distances_to_labels(X, C, labels, squared):
    """Write the squared distance from each row to the center given by its label."""
    for i in range(X.shape[0]):
        squared[i] = squared_distance(X, i, C, labels[i])


@exact
def spanning_tree(C, squared):
    """Write the squared edge lengths of the minimum spanning tree (Prim's algorithm)."""
    m = C.shape[0]
    outside = np.arange(m)  # outside[:count] are the points not yet in the tree
    nearest = np.full(m, np.inf)  # squared distances from these points to the tree
    newest = m - 1
    for count in range(m - 1, 0, -1):
        best = 0
        for a in range(count):
            distance = squared_distance(C, outside[a], C, newest)
            if distance < nearest[a]:
                nearest[a] = distance
            if nearest[a] < nearest[best]:
                best = a
        newest = outside[best]
        squared[count - 1] = nearest[best]
        outside[best] = outside[count - 1]
        nearest[best] = nearest[count - 1]


@exact
def accumulate(labels, values, totals):
    """Add each value to the total of its label, in row order."""
    for i in range(len(labels)):
        totals[labels[i]] += values[i]


@exact
def accumulate_distances(labels, weights, squared, distances, squares):
    """Add each row's weighted distance and squared distance to the totals of its label."""
    for i in range(len(labels)):
        j = labels[i]
        distances[j] += weights[i] * np.sqrt(squared[i])
        squares[j] += weights[i] * squared[i]


@exact
def accumulate_exactly(labels, values, totals, residues):
    """Accumulate like :func:`accumulate`, and add the rounding errors to ``residues``.

    The errors are computed by Knuth's two-sum.
    """
    for i in range(len(labels)):
        j = labels[i]
        before = totals[j]
        after = before + values[i]
        added = after - before
        residues[j] += (before - (after - added)) + (values[i] - added)
        totals[j] = after


@fast
def multiply_few(block, rows, out):
    """Write ``block @ rows.T`` to ``out`` for a small number of rows, four at a time."""
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

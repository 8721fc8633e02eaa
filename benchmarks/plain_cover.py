"""Algorithm 2 in NumPy, in two ways."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


def transcribed(X: Floats, radius: float) -> Labels:
    """Algorithm 2 line by line: take the first row, take out its shadow, until none is left."""
    labels = np.empty(len(X), dtype=np.intp)
    remaining, rows = X, np.arange(len(X))
    n_centers = 0
    while len(rows):
        differences = remaining - remaining[0]
        shadow = np.einsum("ij,ij->i", differences, differences) < radius * radius
        labels[rows[shadow]] = n_centers
        remaining, rows = remaining[~shadow], rows[~shadow]
        n_centers += 1
    return labels


def tuned(X: Floats, radius: float, compact_below: float = 0.8) -> Labels:
    """The fastest found: a feature at a time, no new arrays, and rows taken out now and then.

    Rows that have a center stay, marked, until they are a fifth; then the rest is copied.
    """
    labels = np.empty(len(X), dtype=np.intp)
    columns, rows = np.ascontiguousarray(X.T), np.arange(len(X))
    open_rows, first = np.ones(len(X), dtype=bool), 0
    buffers = np.empty((2, len(X)))
    n_open, n_centers = len(X), 0
    while n_open:
        first += int(np.argmax(open_rows[first:]))
        squared = _squared_distances(columns[:, first:], *buffers[:, : len(rows) - first])
        shadow = first + np.flatnonzero((squared < radius * radius) & open_rows[first:])
        labels[rows[shadow]] = n_centers
        open_rows[shadow] = False
        n_centers += 1
        n_open -= len(shadow)
        if n_open < compact_below * (len(rows) - first):
            kept = np.flatnonzero(open_rows)
            columns, rows = columns.take(kept, axis=1), rows[kept]
            open_rows, first = open_rows[kept], 0
    return labels


def _squared_distances(columns: Floats, total: Floats, difference: Floats) -> Floats:
    """Of all columns to the first one, in ``total``."""
    total.fill(0)
    for values in columns:
        np.subtract(values, values[0], out=difference)
        np.multiply(difference, difference, out=difference)
        np.add(total, difference, out=total)
    return total

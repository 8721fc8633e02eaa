"""Speed of the cover compared with NumPy, and with each of its two shortcuts disabled."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from rskpca._core import cover as core

from . import datasets
from .datasets import Data, Floats
from .rows import Row, ratio
from .timing import Timed, time_interleaved

OFF = 2**60  # a threshold that is never reached

Labels = NDArray[np.intp]


class Case(NamedTuple):
    """A data set with its full and quick size, and a radius chosen by trial and error."""

    data: Callable[[int], Data]
    n: int
    n_quick: int
    radius: float

    def load(self, quick: bool) -> Data:
        return self.data(self.n_quick if quick else self.n)


AGAINST_NUMPY = (
    Case(datasets.noisy_pendigits, 100_000, 10_000, 50.7),
    Case(datasets.skin, 200_000, 20_000, 7.03),
    Case(datasets.noisy_usps, 30_000, 3_000, 4.99),
)
WITHOUT_BALLS = (
    Case(datasets.cube, 300_000, 30_000, 0.0208),
    Case(datasets.curved_sheet, 200_000, 20_000, 0.0634),
)
WITHOUT_PRODUCTS = (Case(datasets.mnist, 10_000, 1_000, 5.44),)


def run(quick: bool) -> list[Row]:
    rows = [row for case in AGAINST_NUMPY for row in _compare_with_numpy(case, quick)]
    rows += [_switch_off("balls", "BALLS_FROM_CENTERS", case, quick) for case in WITHOUT_BALLS]
    rows += [
        _switch_off("products", "PRODUCTS_FROM_FEATURES", case, quick) for case in WITHOUT_PRODUCTS
    ]
    return rows


def compute_cover(X: Floats, radius: float, n_threads: int | None = None) -> Labels:
    """Return the labels of the library's cover."""
    labels, _ = core.Cover(radius, X[:0], n_threads=n_threads).extend(X)
    return labels


def _compare_with_numpy(case: Case, quick: bool) -> list[Row]:
    X, stand_in = case.load(quick)
    contenders = {
        "rskpca": lambda: compute_cover(X, case.radius),
        "NumPy": lambda: numpy_cover(X, case.radius),
        "tuned NumPy": lambda: tuned_numpy_cover(X, case.radius),
    }
    timed = time_interleaved(contenders, 1 if quick else 5)
    name = _check_and_describe(X, timed)
    return [
        ratio(name, timed, "rskpca", "NumPy", at_least=25, stand_in=stand_in),
        ratio(name, timed, "rskpca", "tuned NumPy", stand_in=stand_in),
    ]


def _switch_off(what: str, constant: str, case: Case, quick: bool) -> Row:
    X, stand_in = case.load(quick)

    def without_shortcut() -> Labels:
        with patch.object(core, constant, OFF):
            return compute_cover(X, case.radius)

    without = f"without {what}"
    contenders = {"rskpca": lambda: compute_cover(X, case.radius), without: without_shortcut}
    timed = time_interleaved(contenders, 1 if quick else 3)
    return ratio(_check_and_describe(X, timed), timed, "rskpca", without, stand_in=stand_in)


def _check_and_describe(X: Floats, timed: dict[str, Timed]) -> str:
    """Check that all contenders agree, and return the shape and the number of centers."""
    labels = timed["rskpca"].result
    for name, other in timed.items():
        if not np.array_equal(labels, other.result):
            raise AssertionError(f"rskpca and {name} disagree on {X.shape[0]} x {X.shape[1]} rows.")
    return f"{len(X):,} x {X.shape[1]}, m {labels.max() + 1:,}"


def numpy_cover(X: Floats, radius: float) -> Labels:
    """Run Algorithm 2 line by line: take the first row, remove its shadow, and repeat."""
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


def tuned_numpy_cover(X: Floats, radius: float, compact_below: float = 0.8) -> Labels:
    """Run the fastest NumPy version that we found: one feature at a time, in preallocated arrays.

    Rows that have a center are only marked. When they make up a fifth of the rows, the others are
    copied.
    """
    labels = np.empty(len(X), dtype=np.intp)
    columns, rows = np.ascontiguousarray(X.T), np.arange(len(X))
    is_open, first = np.ones(len(X), dtype=bool), 0
    buffers = np.empty((2, len(X)))
    n_open, n_centers = len(X), 0
    while n_open:
        first += int(np.argmax(is_open[first:]))
        squared = _squared_distances(columns[:, first:], *buffers[:, : len(rows) - first])
        shadow = first + np.flatnonzero((squared < radius * radius) & is_open[first:])
        labels[rows[shadow]] = n_centers
        is_open[shadow] = False
        n_centers += 1
        n_open -= len(shadow)
        if n_open < compact_below * (len(rows) - first):
            kept = np.flatnonzero(is_open)
            columns, rows = columns.take(kept, axis=1), rows[kept]
            is_open, first = is_open[kept], 0
    return labels


def _squared_distances(columns: Floats, total: Floats, difference: Floats) -> Floats:
    """Write the squared distances of all rows to the first one into ``total``."""
    total.fill(0)
    for values in columns:
        np.subtract(values, values[0], out=difference)
        np.multiply(difference, difference, out=difference)
        np.add(total, difference, out=total)
    return total

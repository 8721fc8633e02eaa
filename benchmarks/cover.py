"""The cover against Algorithm 2 in NumPy, and against itself without its two shortcuts."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from rskpca._core import cover as core

from . import datasets, plain_cover
from .datasets import Data, Floats
from .rows import Row, ratio
from .timing import Timed, interleaved

OFF = 2**60


class Case(NamedTuple):
    """Data of a full and a quick size, and a radius found by trial."""

    data: Callable[[int], Data]
    n: int
    n_quick: int
    radius: float

    def load(self, quick: bool) -> Data:
        return self.data(self.n_quick if quick else self.n)


AGAINST_NUMPY = (
    Case(datasets.pen_strokes, 100_000, 10_000, 50.7),
    Case(datasets.colours, 200_000, 20_000, 7.03),
    Case(datasets.postal_digits, 30_000, 3_000, 4.99),
)
WITHOUT_BALLS = (
    Case(datasets.cube, 300_000, 30_000, 0.0208),
    Case(datasets.curved_sheet, 200_000, 20_000, 0.0634),
)
WITHOUT_PRODUCTS = (Case(datasets.images, 10_000, 1_000, 5.44),)


def run(quick: bool) -> list[Row]:
    rows = [row for case in AGAINST_NUMPY for row in _against_numpy(case, quick)]
    rows += [_without("balls", "BALLS_FROM_CENTERS", case, quick) for case in WITHOUT_BALLS]
    rows += [
        _without("products", "PRODUCTS_FROM_FEATURES", case, quick) for case in WITHOUT_PRODUCTS
    ]
    return rows


def fast_cover(X: Floats, radius: float) -> NDArray[np.intp]:
    labels, _ = core.Cover(radius, X[:0]).extend(X)
    return labels


def _against_numpy(case: Case, quick: bool) -> list[Row]:
    X, stand_in = case.load(quick)
    contenders = {
        "rskpca": lambda: fast_cover(X, case.radius),
        "NumPy": lambda: plain_cover.transcribed(X, case.radius),
        "tuned NumPy": lambda: plain_cover.tuned(X, case.radius),
    }
    timed = interleaved(contenders, 1 if quick else 5)
    name = _checked_name(X, timed)
    return [
        ratio(name, timed, "rskpca", "NumPy", at_least=25, stand_in=stand_in),
        ratio(name, timed, "rskpca", "tuned NumPy", stand_in=stand_in),
    ]


def _without(what: str, constant: str, case: Case, quick: bool) -> Row:
    X, stand_in = case.load(quick)

    def switched_off() -> NDArray[np.intp]:
        with patch.object(core, constant, OFF):
            return fast_cover(X, case.radius)

    without = f"without {what}"
    contenders = {"rskpca": lambda: fast_cover(X, case.radius), without: switched_off}
    timed = interleaved(contenders, 1 if quick else 3)
    return ratio(_checked_name(X, timed), timed, "rskpca", without, stand_in=stand_in)


def _checked_name(X: Floats, timed: dict[str, Timed]) -> str:
    """Shape and number of centers, once all contenders are known to agree."""
    labels = timed["rskpca"].result
    for name, other in timed.items():
        if not np.array_equal(labels, other.result):
            raise AssertionError(f"rskpca and {name} disagree about {X.shape[0]} x {X.shape[1]}")
    return f"{len(X):,} x {X.shape[1]}, m {labels.max() + 1:,}"

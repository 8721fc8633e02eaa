"""One thread against two. No result depends on it."""

from __future__ import annotations

from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from rskpca import ReducedSetKernelPCA
from rskpca._core.cover import Cover

from . import cover, transform
from .datasets import Floats
from .rows import Row, ratio
from .timing import interleaved

NAMES = {1: "1 thread", 2: "2 threads"}


def run(quick: bool) -> list[Row]:
    rounds = 1 if quick else 5
    rows = [_cover(case, quick, rounds) for case in (*cover.AGAINST_NUMPY, cover.WITHOUT_BALLS[0])]
    return [*rows, _transform(quick, rounds)]


def _cover(case: cover.Case, quick: bool, rounds: int) -> Row:
    X, stand_in = case.load(quick)
    timed = interleaved({NAMES[k]: partial(_covered, X, case.radius, k) for k in NAMES}, rounds)
    first, second = (t.result for t in timed.values())
    if not np.array_equal(first, second):
        raise AssertionError("the cover depends on the number of threads")
    return ratio(f"cover, {len(X):,} x {X.shape[1]}", timed, NAMES[2], NAMES[1], stand_in=stand_in)


def _covered(X: Floats, radius: float, n_threads: int) -> Floats:
    return Cover(radius, X[:0], n_threads=n_threads).extend(X)[0]


def _transform(quick: bool, rounds: int) -> Row:
    case = cover.AGAINST_NUMPY[0]
    X, stand_in = case.load(quick)
    model = transform.fitted(X)
    timed = interleaved({NAMES[k]: partial(_transformed, model, X, k) for k in NAMES}, rounds)
    name = f"transform, {len(X):,} x {X.shape[1]}, m {model.n_centers_:,}"
    return ratio(name, timed, NAMES[2], NAMES[1], stand_in=stand_in)


def _transformed(model: ReducedSetKernelPCA, X: Floats, n_threads: int) -> Floats:
    with threadpool_limits(n_threads):
        return model.transform(X)

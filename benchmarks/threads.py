"""Two threads compared with one: results must be equal, and short calls must not be slower."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from rskpca import ReducedSetKernelPCA

from . import cover, datasets, transform
from .datasets import Floats
from .rows import Row, ratio
from .timing import time_interleaved

NAMES = {1: "1 thread", 2: "2 threads"}


def run(quick: bool) -> list[Row]:
    rounds = 1 if quick else 5
    rows = [
        _compare_cover(case, quick, rounds)
        for case in (*cover.AGAINST_NUMPY, cover.WITHOUT_BALLS[0])
    ]
    return [*rows, _compare_transform(quick, rounds), *_compare_short_calls(quick)]


def _compare_cover(case: cover.Case, quick: bool, rounds: int) -> Row:
    X, stand_in = case.load(quick)
    calls = {NAMES[k]: partial(cover.compute_cover, X, case.radius, k) for k in NAMES}
    timed = time_interleaved(calls, rounds)
    first, second = (t.result for t in timed.values())
    if not np.array_equal(first, second):
        raise AssertionError("The cover depends on the number of threads.")
    return ratio(f"cover, {len(X):,} x {X.shape[1]}", timed, NAMES[2], NAMES[1], stand_in=stand_in)


def _compare_transform(quick: bool, rounds: int) -> Row:
    case = cover.AGAINST_NUMPY[0]
    X, stand_in = case.load(quick)
    model = transform.fit_uncentered(X)
    calls = {NAMES[k]: partial(_transform, model, X, k) for k in NAMES}
    timed = time_interleaved(calls, rounds)
    name = f"transform, {len(X):,} x {X.shape[1]}, m {model.n_centers_:,}"
    return ratio(name, timed, NAMES[2], NAMES[1], stand_in=stand_in)


def _compare_short_calls(quick: bool) -> Iterator[Row]:
    """Compare calls of a few milliseconds, which threads can only slow down."""
    X, stand_in = datasets.covtype(1_000 if quick else 16_000)
    model, rounds = _fit_two_scales(X, 2), 1 if quick else 25
    calls: dict[str, Callable[[int], Any]] = {
        f"fit, basis='auto', {len(X):,} x {X.shape[1]}": partial(_fit_two_scales, X),
        f"transform, 5,000 rows, m {len(model.basis_)}": partial(_transform, model, X[:5000]),
    }
    for name, call in calls.items():
        timed = time_interleaved({NAMES[k]: partial(call, k) for k in NAMES}, rounds)
        yield ratio(name, timed, NAMES[2], NAMES[1], at_least=0.9, stand_in=stand_in)


def _fit_two_scales(X: Floats, n_threads: int) -> ReducedSetKernelPCA:
    with threadpool_limits(n_threads):
        return ReducedSetKernelPCA(5, basis="auto").fit(X)


def _transform(model: ReducedSetKernelPCA, X: Floats, n_threads: int) -> Floats:
    with threadpool_limits(n_threads):
        return model.transform(X)

"""One thread against two. No result depends on it; small work must not take longer with two."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from rskpca import ReducedSetKernelPCA
from rskpca._core.cover import Cover

from . import cover, datasets, transform
from .datasets import Floats
from .rows import Row, ratio
from .timing import interleaved

NAMES = {1: "1 thread", 2: "2 threads"}


def run(quick: bool) -> list[Row]:
    rounds = 1 if quick else 5
    rows = [_cover(case, quick, rounds) for case in (*cover.AGAINST_NUMPY, cover.WITHOUT_BALLS[0])]
    return [*rows, _transform(quick, rounds), *_small(quick)]


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


def _small(quick: bool) -> Iterator[Row]:
    """Work of milliseconds, which threads can only delay."""
    X, stand_in = datasets.forest(1_000 if quick else 16_000)
    model, rounds = _two_scales(X, 2), 1 if quick else 25
    calls: dict[str, Callable[[int], Any]] = {
        f"fit, basis='auto', {len(X):,} x {X.shape[1]}": partial(_two_scales, X),
        f"transform, 5,000 rows, m {len(model.basis_)}": partial(_transformed, model, X[:5000]),
    }
    for name, call in calls.items():
        timed = interleaved({NAMES[k]: partial(call, k) for k in NAMES}, rounds)
        yield ratio(name, timed, NAMES[2], NAMES[1], at_least=0.9, stand_in=stand_in)


def _two_scales(X: Floats, n_threads: int) -> ReducedSetKernelPCA:
    with threadpool_limits(n_threads):
        return ReducedSetKernelPCA(5, basis="auto").fit(X)


def _transformed(model: ReducedSetKernelPCA, X: Floats, n_threads: int) -> Floats:
    with threadpool_limits(n_threads):
        return model.transform(X)

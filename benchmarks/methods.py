"""Every method of the registry at equal m: held-out embedding error, and time.

m is what the shadow selection keeps at ell = 4. The error is that of :mod:`benchmarks.accuracy`.
Coordinates are about the mean in feature space, because some methods know no others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from rskpca import Gaussian, RadialKernel, ShadowDensity
from rskpca.baselines.methods import METHODS, Method, embedding_error

from . import datasets
from .datasets import Data, Floats
from .rows import Row
from .timing import Timed, interleaved

R, ELL = 5, 4.0
SEEDS = 3
LONG = 3.0  # seconds, from which on one call is enough
SLOW_UP_TO = 1_000_000  # rows times centers: methods that take minutes are run below this only


class Case(NamedTuple):
    """A data set, its rows, and the bandwidth: that of the paper's Table 1, or the median."""

    data: Callable[[int], Data]
    n: int
    kernel: RadialKernel


CASES = {
    "german": Case(datasets.credit, 1_000, Gaussian(30.0)),
    "pendigits": Case(datasets.strokes, 3_500, Gaussian(120.0)),
    "usps": Case(datasets.post, 9_298, Gaussian(18.0)),
    "covtype": Case(datasets.forest, 20_000, Gaussian()),
}
QUICK_CASES, QUICK_ROWS = ["german"], 250


def run(quick: bool) -> list[Row]:
    names = QUICK_CASES if quick else CASES
    return [row for name in names for row in _compared(name, quick)]


def _compared(name: str, quick: bool) -> list[Row]:
    case = CASES[name]
    data = case.data(min(case.n, QUICK_ROWS) if quick else case.n)
    train, test = np.split(data.X, [len(data.X) * 4 // 5])
    kernel = case.kernel.resolve(train)
    m = ShadowDensity(kernel, ELL).fit(train).reduced_set_.n_centers
    exact = METHODS["kpca"].make(R, kernel).fit(train).transform(test)
    return [
        _row(f"{name} {len(train):,} x {train.shape[1]}, m {m:,}", method, seen, data.stand_in)
        for method, seen in _measured(train, test, kernel, m, exact, quick).items()
    ]


def _measured(
    train: Floats, test: Floats, kernel: RadialKernel, m: int, exact: Floats, quick: bool
) -> Mapping[str, tuple[float, float, float]]:
    """Of each method the median error over seeds, and median seconds of fit and transform."""
    sizes = {"n_centers": m, "ell": ELL, None: None}

    def fitted(method: Method, seed: int) -> Any:
        return method.make(R, kernel, sizes[method.size], random_state=seed).fit(train)

    small = len(train) * m < SLOW_UP_TO
    chosen = {k: v for k, v in METHODS.items() if small or not v.slow}
    fits = _timed({k: lambda v=v: fitted(v, 0) for k, v in chosen.items()}, quick)
    transforms = _timed({k: lambda t=t: t.result.transform(test) for k, t in fits.items()}, quick)
    seen = {}
    for name, method in chosen.items():
        others = range(1, SEEDS) if method.random and not quick else ()
        errors = [embedding_error(exact, transforms[name].result)]
        errors += [embedding_error(exact, fitted(method, seed).transform(test)) for seed in others]
        seen[name] = median(errors), fits[name].seconds, transforms[name].seconds
    return seen


def _timed(calls: Mapping[str, Callable[[], Any]], quick: bool) -> dict[str, Timed]:
    """Once each; what is quick three times more, in turns, and the median of those."""
    once = interleaved(calls, 1, warm=False)
    again = {k: call for k, call in calls.items() if once[k].seconds < LONG and not quick}
    return once | interleaved(again, 3, warm=False)


def _row(case: str, name: str, seen: tuple[float, float, float], stand_in: str) -> Row:
    parts = {"fit": seen[1], "transform": seen[2]}
    return Row(f"{case}: {METHODS[name].title}", seen[0], "", parts=parts, stand_in=stand_in)

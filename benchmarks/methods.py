"""Held-out embedding error and times of all methods at the same m.

m is the number of shadow centers at ell = 4. The error is defined as in :mod:`benchmarks.accuracy`.
All methods center the data in feature space, because some of them do not support anything else.
Methods of scikit-learn are timed with their fastest solver and number of threads. The measurements
are in ``results/methods/<data>.json``; a run measures only data sets without a file, and
``python -m benchmarks.methods NAME ...`` repeats the measurements.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from experiments.results import describe_environment
from rskpca import Gaussian, RadialKernel, ShadowDensity
from rskpca.baselines.methods import METHODS, Method, Setting, embedding_error

from . import datasets, results
from .datasets import Data, Floats
from .rows import Row
from .timing import time_interleaved

R, ELL = 5, 4.0
SEEDS = 3
LONG, ROUNDS = 3.0, 3  # seconds; longer fits are timed once, the others in several rounds
MAX_SLOW = 1_000_000  # rows times centers, above which slow methods would take minutes


class Case(NamedTuple):
    """A data set, its number of rows, and its bandwidth: from Table 1 or the median."""

    data: Callable[[int], Data]
    n: int
    kernel: RadialKernel


CASES = {
    "german": Case(datasets.german, 1_000, Gaussian(30.0)),
    "pendigits": Case(datasets.pendigits, 3_500, Gaussian(120.0)),
    "usps": Case(datasets.usps, 9_298, Gaussian(18.0)),
    "covtype": Case(datasets.covtype, 20_000, Gaussian()),
}
QUICK_CASES, QUICK_ROWS = ["german"], 250


def run(quick: bool) -> list[Row]:
    if quick:
        found = [_measure_case(name, quick) for name in QUICK_CASES]
    else:
        found = [STORE.get(name) for name in CASES]
    return [row for one in found for row in _rows(one)]


def _rows(found: Mapping[str, Any]) -> list[Row]:
    n, d = found["shape"]
    case, stand_in = f"{found['data']} {n:,} x {d}, m {found['m']:,}", found["stand_in"]
    return [_row(case, method, seen, stand_in) for method, seen in found["methods"].items()]


def _measure_case(name: str, quick: bool) -> dict[str, Any]:
    case = CASES[name]
    data = case.data(min(case.n, QUICK_ROWS) if quick else case.n)
    train, test = np.split(data.X, [len(data.X) * 4 // 5])
    kernel = case.kernel.resolve(train)
    m = ShadowDensity(kernel, ELL).fit(train).reduced_set_.n_centers
    exact = METHODS["kpca"].make(R, kernel).fit(train).transform(test)
    return {
        "data": name,
        "shape": train.shape,
        "m": m,
        "methods": _measure(train, test, kernel, m, exact, quick),
        "stand_in": data.stand_in,
        "environment": describe_environment(),
    }


def _measure(
    train: Floats, test: Floats, kernel: RadialKernel, m: int, exact: Floats, quick: bool
) -> Mapping[str, tuple[float, float, float]]:
    """Return the median error over seeds, and the median fit and transform times, by method."""
    sizes = {"n_centers": m, "ell": ELL, None: None}

    def fit(method: Method, seed: int, setting: Setting) -> Any:
        model = method.make(R, kernel, sizes[method.size], random_state=seed)
        return (model.set_params(**setting) if setting else model).fit(train)

    small = len(train) * m < MAX_SLOW
    chosen = {k: v for k, v in METHODS.items() if small or not v.slow}
    fast = {k: v.fastest(len(train), partial(fit, v, 0), 1) for k, v in chosen.items()}
    timed = _time({k: partial(fit, v, 0, fast[k]) for k, v in chosen.items()}, test, quick)
    seen = {}
    for name, method in chosen.items():
        others = range(1, SEEDS) if method.random and not quick else ()
        errors = [embedding_error(exact, timed[name].coordinates)]
        errors += [embedding_error(exact, fit(method, s, {}).transform(test)) for s in others]
        seen[name] = median(errors), timed[name].fit, timed[name].transform
    return seen


class Measured(NamedTuple):
    """Seconds for a fit and for a transform, and the coordinates of the test rows."""

    fit: float
    transform: float
    coordinates: Floats


def _time(calls: Mapping[str, Callable[[], Any]], test: Floats, quick: bool) -> dict[str, Measured]:
    """Measure each method once; repeat short fits three times and use the median of these.

    A transform is timed after a first one, which is not measured.
    """
    found = {name: [_time_once(call, test)] for name, call in calls.items()}
    short = [name for name in calls if found[name][0].fit < LONG and not quick]
    found |= {name: [] for name in short}
    for _ in range(ROUNDS):
        for name in short:
            found[name].append(_time_once(calls[name], test))
    return {name: _median(parts) for name, parts in found.items()}


def _time_once(fit: Callable[[], Any], test: Floats) -> Measured:
    # The model is not kept: together, the models of all methods would not fit into memory.
    fitted = time_interleaved({"fit": fit}, 1, warm=False)["fit"]
    transformed = time_interleaved({"transform": lambda: fitted.result.transform(test)}, 1)
    return Measured(fitted.seconds, *transformed["transform"])


def _median(parts: list[Measured]) -> Measured:
    fits, transforms, coordinates = zip(*parts, strict=True)
    return Measured(median(fits), median(transforms), coordinates[-1])


def _row(case: str, name: str, seen: tuple[float, float, float], stand_in: str) -> Row:
    parts = {"fit": seen[1], "transform": seen[2]}
    return Row(f"{case}: {METHODS[name].title}", seen[0], "", parts=parts, stand_in=stand_in)


STORE = results.Store("methods", lambda name: _measure_case(name, quick=False))


if __name__ == "__main__":
    for chosen in sys.argv[1:]:
        STORE.measure(chosen)

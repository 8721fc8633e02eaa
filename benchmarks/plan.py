"""Predictions of ``plan`` from 5% of the rows, compared with actual fits, and its own time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from rskpca import ReducedSetKernelPCA, plan
from rskpca.planning import Plan, PlannedFit

from . import datasets
from .datasets import Data, Floats
from .defaults import SETS, SHARE_QUICK
from .rows import Row, Wanted
from .timing import time_interleaved

ELLS = (3.0, 4.0, 5.0)
N_QUICK = 5_000


class Case(NamedTuple):
    """A data set and the values of ell at which a fit is timed."""

    name: str
    data: Callable[[int], Data]
    n: int
    timed: tuple[float, ...] = ELLS


# The law that predicts the number of centers was chosen on other data sets.
CASES = (
    Case("covtype", datasets.covtype, 581_012),
    Case("covtype, four fifths", datasets.covtype, 464_809),
    Case("skin", datasets.skin, 245_057),
    Case("pendigits", datasets.pendigits, 10_992),
    Case("mnist", datasets.mnist, 20_000, timed=(4.0,)),  # a fit takes more than a minute
)


def run(quick: bool) -> list[Row]:
    return [_time_of_plan(quick), *(row for case in CASES for row in _rows(case, quick))]


def _time_of_plan(quick: bool) -> Row:
    """Return the time of ``plan`` itself on data that do not compress."""
    X, stand_in = SETS["mixture"](SHARE_QUICK if quick else 1.0)
    seconds = time_interleaved({"plan": lambda: plan(X)}, 1 if quick else 3)["plan"].seconds
    case = f"plan, mixture {len(X):,} x {X.shape[1]}"
    return Row(case, seconds, "s", Wanted("<", 5), stand_in=stand_in)


def _rows(case: Case, quick: bool) -> Iterator[Row]:
    X, stand_in = case.data(min(case.n, N_QUICK) if quick else case.n)
    planned = plan(X)
    for fit in planned.fits:
        if fit.ell in ELLS:
            yield _centers(case.name, planned, fit, X, stand_in)
        if fit.ell in case.timed:
            yield _time(case.name, fit, X, stand_in, 1 if quick else 5)


def _centers(name: str, planned: Plan, fit: PlannedFit, X: Floats, stand_in: str) -> Row:
    """Return the percentage error of the predicted number of centers."""
    measured = ReducedSetKernelPCA(5, ell=fit.ell).partial_fit(X).n_centers_
    inside = "in" if fit.low <= measured <= fit.high else "not in"
    note = f"{inside} {fit.low:,} to {fit.high:,}; from {planned.n_sampled:,} rows"
    return Row(
        f"{name}, ell {fit.ell:g}, centers",
        100 * abs(fit.n_centers / measured - 1),
        "%",
        Wanted("<", 30),
        {"predicted": fit.n_centers, "measured": measured},
        parts_unit="",
        note=note,
        stand_in=stand_in,
    )


def _time(name: str, fit: PlannedFit, X: Floats, stand_in: str, rounds: int) -> Row:
    """Return the ratio of predicted to measured time or its inverse, whichever is larger."""
    fits = {"fit": lambda: ReducedSetKernelPCA(5, ell=fit.ell).fit(X)}
    slow = fit.seconds > 60
    measured = time_interleaved(fits, 1 if slow else rounds, warm=not slow)["fit"].seconds
    factor = max(fit.seconds / measured, measured / fit.seconds)
    return Row(
        f"{name}, ell {fit.ell:g}, time",
        factor,
        "x",
        Wanted("<", 2),
        {"predicted": fit.seconds, "measured": measured},
        stand_in=stand_in,
    )

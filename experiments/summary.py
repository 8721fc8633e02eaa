"""From rows to the lines of a figure: means, medians, speed-ups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import style
from .data import Data
from .protocol import Rows, Setup, ells
from .registry import Results
from .settings import Settings

Table = Mapping[str, list[Any]]
ByEll = dict[Any, list[float]]  # None is the ell of what does not depend on it
Spread = Callable[[Sequence[float]], Any]
BASELINES = ("kpca", "sklearn-kpca", "kpca-dense")


def columns(rows: Rows) -> dict[str, list[Any]]:
    """A list a column, which takes less room than a name a number."""
    return {name: [row[name] for row in rows] for name in rows[0]}


def about(data: Data, setup: Setup, settings: Settings) -> Results:
    """What the numbers were made with."""
    return {
        "data": data.name,
        "note": data.note,
        "shape": list(data.X.shape),
        "bandwidth": setup.bandwidth,
        "rank": setup.rank,
        "ells": list(ells(settings)),
        "threads": "one thread each",
        "processes": settings.jobs,
    }


def described(results: Results, runs: str) -> str:
    """The data set in a few words, for the note below a picture; ``runs`` is what to call them."""
    table = results["rows"]
    note = f" ({results['note']})" if results["note"] else ""
    return (
        f"{results['data']}{note}: {table['n'][0]:,} rows to fit, {results['shape'][1]} features, "
        f"bandwidth {results['bandwidth']:g}, rank {results['rank']}, "
        f"{runs}: {max(table['run']) + 1}{_fewer(table)}, one thread"
    )


def _fewer(table: Table) -> str:
    """Which methods were run less often."""
    runs: dict[str, int] = {}
    for method, run in zip(table["method"], table["run"], strict=True):
        runs[method] = max(runs.get(method, 0), run + 1)
    few = [f"{style.LOOKS[m].text}: {n}" for m, n in runs.items() if n < max(runs.values())]
    return f" ({'; '.join(few)})" if few else ""


def by_run(table: Table, method: str, *fields: str) -> dict[Any, dict[int, float]]:
    """For each ell the value of each run; fields are added up."""
    found: dict[Any, dict[int, float]] = {}
    for i, name in enumerate(table["method"]):
        if name == method:
            value = sum(table[field][i] for field in fields)
            found.setdefault(table["ell"][i], {})[table["run"][i]] = value
    return dict(sorted(found.items(), key=lambda item: item[0] or 0))


def by_ell(table: Table, method: str, *fields: str) -> ByEll:
    """For each ell the values over runs, in the order of the runs; fields are added up."""
    found = by_run(table, method, *fields)
    return {ell: [values[run] for run in sorted(values)] for ell, values in found.items()}


def overall(table: Table, method: str, field: str) -> float:
    """The mean over runs of what does not depend on ell."""
    return float(np.mean(by_ell(table, method, field)[None]))


def speedups(
    table: Table,
    method: str,
    steps: Sequence[str],
    baseline: str = "kpca",
    baseline_steps: Sequence[str] | None = None,  # where it does without some of the steps
) -> ByEll:
    """How many times faster than a baseline, run by run; its median where it has fewer runs."""
    slow = by_ell(table, baseline, *(baseline_steps or steps))[None]
    fast = by_ell(table, method, *steps)
    return {
        ell: [_paired(slow, run) / seconds for run, seconds in enumerate(values)]
        for ell, values in fast.items()
    }


def _paired(slow: Sequence[float], run: int) -> float:
    return slow[run] if run < len(slow) else float(np.median(slow))


def draw_mean(
    ax: Any, table: Table, method: str, field: str, spread: Spread = np.std, scale: float = 1.0
) -> None:
    """A line of means over runs, with a band of their spread."""
    values = by_ell(table, method, field)
    means, band = ([scale * f(v) for v in values.values()] for f in (np.mean, spread))
    style.line(ax, method, list(values), means, band)


def standard_error(values: Sequence[float]) -> float:
    """Of the mean."""
    return float(np.std(values) / np.sqrt(len(values)))


def draw_speedups(ax: Any, table: Table, methods: Sequence[str], steps: Sequence[str]) -> None:
    """Lines of medians over runs with quartiles, and the exact methods across."""
    for method in (*methods, "sklearn-nystroem"):
        found = speedups(table, method, steps)
        low, middle, high = (
            [float(np.quantile(v, q)) for v in found.values()] for q in (0.25, 0.5, 0.75)
        )
        style.line(ax, method, list(found), middle)
        look = style.LOOKS[method]
        ax.fill_between(list(found), low, high, color=look.colour, alpha=0.18, linewidth=0)
    for method in BASELINES:
        style.level(ax, method, float(np.median(speedups(table, method, steps)[None])))
    style.logarithmic(ax)
    ax.set_ylabel("times as fast as KPCA")

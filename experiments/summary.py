"""Conversion of result rows to the lines of a figure: means, medians and speed-ups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import style
from .data import Data
from .experiment import Results, Settings
from .protocol import Rows, Setup, ells

Table = Mapping[str, list[Any]]
ByEll = dict[Any, list[float]]  # the key is None for methods that do not depend on ell
Spread = Callable[[Sequence[float]], Any]
BASELINES = ("kpca", "sklearn-kpca", "kpca-dense")


def to_columns(rows: Rows) -> dict[str, list[Any]]:
    """Convert rows to one list per column, which is more compact in JSON."""
    return {name: [row[name] for row in rows] for name in rows[0]}


def describe_setup(data: Data, setup: Setup, settings: Settings) -> Results:
    """Describe the data set and the parameters that were used."""
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


def describe_data(results: Results, runs: str) -> str:
    """Summarize the data set for the note below a figure; ``runs`` is "runs" or "folds"."""
    table = results["rows"]
    note = f" ({results['note']})" if results["note"] else ""
    return (
        f"{results['data']}{note}: {table['n'][0]:,} training rows, {results['shape'][1]} features,"
        f" bandwidth {results['bandwidth']:g}, rank {results['rank']}, "
        f"{max(table['run']) + 1} {runs}{_describe_fewer_runs(table)}, one thread"
    )


def _describe_fewer_runs(table: Table) -> str:
    """Name the methods that were run less often than the others."""
    runs: dict[str, int] = {}
    for method, run in zip(table["method"], table["run"], strict=True):
        runs[method] = max(runs.get(method, 0), run + 1)
    few = [f"{style.LOOKS[m].label}: {n}" for m, n in runs.items() if n < max(runs.values())]
    return f" ({'; '.join(few)})" if few else ""


def by_run(table: Table, method: str, *fields: str) -> dict[Any, dict[int, float]]:
    """Return the sum of the given fields, by ell and run."""
    found: dict[Any, dict[int, float]] = {}
    for i, name in enumerate(table["method"]):
        if name == method:
            value = sum(table[field][i] for field in fields)
            found.setdefault(table["ell"][i], {})[table["run"][i]] = value
    return dict(sorted(found.items(), key=lambda item: item[0] or 0))


def by_ell(table: Table, method: str, *fields: str) -> ByEll:
    """Return the sum of the given fields by ell, as a list ordered by run."""
    found = by_run(table, method, *fields)
    return {ell: [values[run] for run in sorted(values)] for ell, values in found.items()}


def overall_mean(table: Table, method: str, field: str) -> float:
    """Return the mean over runs for a method that does not depend on ell."""
    return float(np.mean(by_ell(table, method, field)[None]))


def speedups(
    table: Table,
    method: str,
    steps: Sequence[str],
    baseline: str = "kpca",
    baseline_steps: Sequence[str] | None = None,  # if the baseline needs fewer steps
) -> ByEll:
    """Return the speed-up over a baseline in each run, or over its median if it has fewer runs."""
    slow = by_ell(table, baseline, *(baseline_steps or steps))[None]
    fast = by_ell(table, method, *steps)
    return {
        ell: [_baseline_time(slow, run) / seconds for run, seconds in enumerate(values)]
        for ell, values in fast.items()
    }


def _baseline_time(slow: Sequence[float], run: int) -> float:
    return slow[run] if run < len(slow) else float(np.median(slow))


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean."""
    return float(np.std(values) / np.sqrt(len(values)))


def draw_mean(
    ax: Any, table: Table, method: str, field: str, spread: Spread = np.std, scale: float = 1.0
) -> None:
    """Draw the mean over runs, with a band of plus and minus the spread."""
    values = by_ell(table, method, field)
    means, width = (np.array([scale * f(v) for v in values.values()]) for f in (np.mean, spread))
    style.draw_line(ax, method, list(values), means, (means - width, means + width))


def draw_speedups(ax: Any, table: Table, methods: Sequence[str], steps: Sequence[str]) -> None:
    """Draw medians over runs with quartiles, and horizontal lines for the exact methods."""
    for method in (*methods, "sklearn-nystroem"):
        found = speedups(table, method, steps)
        low, middle, high = (
            [float(np.quantile(v, q)) for v in found.values()] for q in (0.25, 0.5, 0.75)
        )
        style.draw_line(ax, method, list(found), middle, (low, high))
    for method in BASELINES:
        style.draw_level(ax, method, float(np.median(speedups(table, method, steps)[None])))
    style.use_log_scale(ax)
    ax.set_ylabel("speed-up over KPCA")

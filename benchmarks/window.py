"""Sliding windows over drifting points, and the cost of windows and fading.

``python -m benchmarks.window N_ROWS WINDOW`` measures the memory of a stream in a fresh process.
"""

from __future__ import annotations

import json
import sys
from functools import partial

import numpy as np
from sklearn.base import clone

from rskpca import FadingDensity, Gaussian, ReducedSet, ShadowDensity, WindowDensity
from rskpca._core import reference
from rskpca.density import BaseDensity

from .datasets import Floats
from .rows import Row, Wanted
from .timing import process_memory, run_python, time_interleaved

CHUNK = 10_000
WINDOW = 50_000
RADIUS = 1.0
N, N_QUICK = 1_000_000, 30_000
DISTANCE = 40.0  # drift of the mean over N rows, in standard deviations


def run(quick: bool) -> list[Row]:
    n, window = (N_QUICK, WINDOW // 10) if quick else (N, WINDOW)
    costs = [row for n_features in (3, 16) for row in _measure_cost(n_features, quick)]
    return [_compare_with_direct_count(n, window), _measure_memory(n, window), *costs]


def _make_chunk(i: int, n_features: int = 3) -> Floats:
    """Return a chunk of rows around a drifting mean."""
    means = DISTANCE / N * (CHUNK * i + np.arange(CHUNK))
    return np.random.default_rng(i).normal(size=(CHUNK, n_features)) + means[:, None]


def _make_window(window: int) -> WindowDensity:
    return WindowDensity(window, ShadowDensity(Gaussian(4 * RADIUS), ell=4.0))


def _compare_with_direct_count(n: int, window: int) -> Row:
    """Return the number of values in the reduced set that differ from a row-by-row count."""
    density = _make_window(window)
    X = np.concatenate([_make_chunk(i) for i in range(n // CHUNK)])
    homes, squared = reference.aging_cover(X, RADIUS, window)
    differing = 0
    for start in range(0, n, CHUNK):
        stop = start + CHUNK
        s = density.partial_fit(X[start:stop]).reduced_set_
        rows = slice(max(stop - window, 0), stop)
        differing += _count_differences(s, X, homes[rows], squared[rows])
    return Row(
        f"{n:,} x 3 drifting, window {window:,}: numbers that differ from a direct count",
        differing,
        "",
        Wanted("<", 1),
        {"centers": s.n_centers, "weight": s.n_samples, "all centers": len(np.unique(homes))},
        parts_unit="",
        note=f"after each of {n // CHUNK} chunks; parts refer to the last",
    )


def _count_differences(s: ReducedSet, X: Floats, homes: Floats, squared: Floats) -> int:
    """Count the values that differ from the statistics of rows whose centers are ``X[homes]``."""
    opened, labels = np.unique(homes, return_inverse=True)
    sums = np.zeros((3, len(opened)))
    values = np.ones(len(homes)), np.sqrt(squared), squared
    for total, each in zip(sums, values, strict=True):
        reference.accumulate(labels, each, total)
    seen = (s.centers, s.weights, s.displacement, s.scatter, np.array([s.n_samples]))
    counted = (X[opened], *sums, np.array([sums[0].sum()]))
    return sum(_count_unequal(a, b) for a, b in zip(seen, counted, strict=True))


def _count_unequal(a: Floats, b: Floats) -> int:
    return int(np.count_nonzero(a != b)) if a.shape == b.shape else max(a.size, b.size)


def _measure_memory(n: int, window: int) -> Row:
    first, last = run_python("-m", __name__, str(n), str(window))
    note = "peak at the end minus peak after a tenth of the rows plus two windows"
    parts = {"first": first, "last": last}
    case = f"{n:,} x 3 drifting, window {window:,}: memory growth"
    return Row(case, last - first, "MB", Wanted("<", 5), parts, "MB", note=note)


def _measure_cost(n_features: int, quick: bool) -> list[Row]:
    """Divide the times of a window and of fading by that of a plain stream, without drift."""
    n_chunks, rounds = (4, 1) if quick else (40, 5)
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(3, n_features))
    X = np.tanh(rng.normal(size=(n_chunks * CHUNK, 3)) @ mixing)
    radius = {3: 0.15, 16: 0.8}[n_features]
    shadow = ShadowDensity(Gaussian(4 * radius), ell=4.0)
    densities = {
        "plain": shadow,
        "window": WindowDensity(len(X) // 4, shadow),
        "fading": FadingDensity(len(X) / 8, shadow),
    }
    calls = {name: partial(_stream, density, X) for name, density in densities.items()}
    timed = time_interleaved(calls, rounds)
    rows = []
    for name in ("window", "fading"):
        parts = {which: timed[which].seconds for which in (name, "plain")}
        case = f"{len(X):,} x {n_features}: {name} / plain"
        note = f"m {timed[name].result:,} and {timed['plain'].result:,}"
        rows.append(Row(case, parts[name] / parts["plain"], "x", Wanted("<", 3), parts, note=note))
    return rows


def _stream(density: BaseDensity, X: Floats) -> int:
    stream = clone(density)
    for start in range(0, len(X), CHUNK):
        stream.partial_fit(X[start : start + CHUNK])
    return stream.reduced_set_.n_centers


def _main(n: int, window: int) -> None:
    """Print the peak memory early in the stream and at its end as JSON."""
    density = _make_window(window)
    early = n // CHUNK // 10 + 2 * window // CHUNK
    for i in range(n // CHUNK):
        density.partial_fit(_make_chunk(i)).score_samples(_make_chunk(i)[:10])
        if i == early:
            first = process_memory("VmHWM")
    print(json.dumps([first, process_memory("VmHWM")]))


if __name__ == "__main__":
    _main(*map(int, sys.argv[1:]))

"""A sliding window over points that drift, and what windows and fading cost.

``python -m benchmarks.window N_ROWS`` is a process that tells how its memory grows.
"""

from __future__ import annotations

import json
import sys
from functools import partial

import numpy as np
from sklearn.base import clone

from rskpca import FadingDensity, Gaussian, ReducedSet, ShadowDensity, WindowDensity
from rskpca._core import reference
from rskpca.cli.memory import megabytes
from rskpca.density import BaseDensity

from .children import in_fresh_process
from .datasets import Floats
from .rows import Row, Wanted
from .timing import interleaved

CHUNK = 10_000
WINDOW = 50_000
RADIUS = 1.0
N, N_QUICK = 1_000_000, 30_000
DISTANCE = 40.0  # that the middle of the points goes in N rows, in standard deviations


def run(quick: bool) -> list[Row]:
    n, window = (N_QUICK, WINDOW // 10) if quick else (N, WINDOW)
    cases = (3, 160), (3, 0), (16, 160), (16, 0)
    costs = [row for d, n_frequencies in cases for row in _cost(d, n_frequencies, quick)]
    return [_against_a_direct_count(n, window), _memory(n, window), *costs]


def _chunk(i: int, n_features: int = 3) -> Floats:
    """Rows of a chunk, about a middle that drifts."""
    middles = DISTANCE / N * (CHUNK * i + np.arange(CHUNK))
    return np.random.default_rng(i).normal(size=(CHUNK, n_features)) + middles[:, None]


def _windowed(window: int) -> WindowDensity:
    return WindowDensity(window, ShadowDensity(Gaussian(4 * RADIUS), ell=4.0))


def _against_a_direct_count(n: int, window: int) -> Row:
    """How many numbers of the reduced set differ from those counted row by row."""
    density = _windowed(window)
    X = np.concatenate([_chunk(i) for i in range(n // CHUNK)])
    homes, squared = reference.aging_cover(X, RADIUS, window)
    differing = 0
    for start in range(0, n, CHUNK):
        stop = start + CHUNK
        s = density.partial_fit(X[start:stop]).reduced_set_
        rows = slice(max(stop - window, 0), stop)
        differing += _differing_from(s, X, homes[rows], squared[rows])
    return Row(
        f"{n:,} x 3 drifting, window {window:,}: numbers that differ from a direct count",
        differing,
        "",
        Wanted("<", 1),
        {"centers": s.n_centers, "mass": s.n_samples, "centers opened": len(np.unique(homes))},
        parts_unit="",
        note=f"after each of {n // CHUNK} chunks; the parts are of the last",
    )


def _differing_from(s: ReducedSet, X: Floats, homes: Floats, squared: Floats) -> int:
    """How many numbers differ from those of these rows, whose centers are rows of X."""
    opened, labels = np.unique(homes, return_inverse=True)
    sums = np.zeros((3, len(opened)))
    values = np.ones(len(homes)), np.sqrt(squared), squared
    for total, each in zip(sums, values, strict=True):
        reference.accumulate(labels, each, total)
    seen = (s.centers, s.weights, s.displacement, s.scatter, np.array([s.n_samples]))
    counted = (X[opened], *sums, np.array([sums[0].sum()]))
    return sum(_differing(a, b) for a, b in zip(seen, counted, strict=True))


def _differing(a: Floats, b: Floats) -> int:
    return int(np.count_nonzero(a != b)) if a.shape == b.shape else max(a.size, b.size)


def _memory(n: int, window: int) -> Row:
    first, last = in_fresh_process("-m", __name__, str(n), str(window))
    note = "peak over the last nine tenths less that of the first tenth and two windows"
    parts = {"first": first, "last": last}
    case = f"{n:,} x 3 drifting, window {window:,}: growth of the memory"
    return Row(case, last - first, "MB", Wanted("<", 5), parts, "MB", note=note)


def _cost(n_features: int, n_frequencies: int, quick: bool) -> list[Row]:
    """Seconds of a window and of fading over those of the plain stream, without drift."""
    n_chunks, rounds = (4, 1) if quick else (40, 5)
    rng = np.random.default_rng(0)
    mixed = rng.normal(size=(3, n_features))
    X = np.tanh(rng.normal(size=(n_chunks * CHUNK, 3)) @ mixed)
    radius = {3: 0.15, 16: 0.8}[n_features]
    shadow = ShadowDensity(Gaussian(4 * radius), ell=4.0, n_frequencies=n_frequencies)
    densities = {
        "plain": shadow,
        "window": WindowDensity(len(X) // 4, shadow),
        "fading": FadingDensity(len(X) / 8, shadow),
    }
    calls = {name: partial(_streamed, density, X) for name, density in densities.items()}
    timed = interleaved(calls, rounds)
    rows = []
    for name in ("window", "fading"):
        parts = {which: timed[which].seconds for which in (name, "plain")}
        case = f"{len(X):,} x {n_features}, {n_frequencies} frequencies: {name} over plain"
        note = f"m {timed[name].result:,} and {timed['plain'].result:,}"
        rows.append(Row(case, parts[name] / parts["plain"], "x", Wanted("<", 3), parts, note=note))
    return rows


def _streamed(density: BaseDensity, X: Floats) -> int:
    stream = clone(density)
    for start in range(0, len(X), CHUNK):
        stream.partial_fit(X[start : start + CHUNK])
    return stream.reduced_set_.n_centers


def _child(n: int, window: int) -> None:
    """Peaks of the memory early and at the end, as JSON."""
    density = _windowed(window)
    early = n // CHUNK // 10 + 2 * window // CHUNK
    for i in range(n // CHUNK):
        density.partial_fit(_chunk(i)).score_samples(_chunk(i)[:10])
        if i == early:
            first = megabytes("VmHWM")
    print(json.dumps([first, megabytes("VmHWM")]))


if __name__ == "__main__":
    _child(*map(int, sys.argv[1:]))

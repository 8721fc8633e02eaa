"""The HTML report on a large fit: its size, and its time relative to reading and fitting."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from rskpca import ReducedSetKernelPCA, report

from . import datasets
from .fit import N_QUICK, N, fit_reduced
from .rows import Row, Wanted
from .timing import time_interleaved

ALLOWANCE = 5.0  # seconds, in addition to a fifth of the time to read and fit

Fit = Callable[[datasets.Floats], ReducedSetKernelPCA]


def run(quick: bool) -> list[Row]:
    rounds = 1 if quick else 5
    return [
        *_measure(datasets.covtype(N_QUICK if quick else N), fit_reduced, rounds),
        *_measure(datasets.mnist(500 if quick else 6000), _fit_uncompressed, rounds),
    ]


def _fit_uncompressed(X: datasets.Floats) -> ReducedSetKernelPCA:
    """Fit high-dimensional data, in which nearly every row becomes a center."""
    return ReducedSetKernelPCA(5).fit(X)


def _measure(data: datasets.Data, fit: Fit, rounds: int) -> list[Row]:
    X, stand_in = data
    model = fit(X)
    with tempfile.TemporaryDirectory() as folder:
        data_file, page = Path(folder) / "X.npy", Path(folder) / "report.html"
        np.save(data_file, X)
        contenders = {
            "read": lambda: np.load(data_file),
            "fit": lambda: fit(X),
            "report": lambda: report.write(model, X, page),
        }
        timed = time_interleaved(contenders, rounds)
        size = page.stat().st_size / 1e6
    parts = {name: t.seconds for name, t in timed.items()}
    allowed = (parts["read"] + parts["fit"]) / 5 + ALLOWANCE
    case = f"{len(X):,} x {X.shape[1]}, m {model.n_centers_:,}"
    return [
        Row(
            f"{case}, time / allowance", parts["report"] / allowed, "x", Wanted("<", 1),
            parts, note=f"allowance: {allowed:.1f} s", stand_in=stand_in,
        ),
        Row(f"{case}, size", size, "MB", Wanted("<", 8), stand_in=stand_in),
    ]  # fmt: skip

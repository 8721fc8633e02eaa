"""The report of a large fit: its time against that of reading and fitting, and its size."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from rskpca import ReducedSetKernelPCA, report

from . import datasets
from .fit import N_QUICK, N, fitted
from .rows import Row, Wanted
from .timing import interleaved

ALLOWANCE = 5.0  # seconds, beside a fifth of the time to read and fit


Fit = Callable[[datasets.Floats], ReducedSetKernelPCA]


def run(quick: bool) -> list[Row]:
    rounds = 1 if quick else 5
    return [
        *_rows(datasets.forest(N_QUICK if quick else N), fitted, rounds),
        *_rows(datasets.images(500 if quick else 6000), _uncompressed, rounds),
    ]


def _uncompressed(X: datasets.Floats) -> ReducedSetKernelPCA:
    """Wide data, nearly every row of which becomes a center."""
    return ReducedSetKernelPCA(5).fit(X)


def _rows(data: datasets.Data, fit: Fit, rounds: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        return _measured(data.X, data.stand_in, fit, Path(folder), rounds)


def _measured(X: datasets.Floats, stand_in: str, fit: Fit, folder: Path, rounds: int) -> list[Row]:
    np.save(folder / "X.npy", X)
    model = fit(X)
    contenders = {
        "read": lambda: np.load(folder / "X.npy"),
        "fit": lambda: fit(X),
        "report": lambda: report.write(model, X, folder / "report.html"),
    }
    parts = {name: timed.seconds for name, timed in interleaved(contenders, rounds).items()}
    allowed = (parts["read"] + parts["fit"]) / 5 + ALLOWANCE
    case = f"{len(X):,} x {X.shape[1]}, m {model.n_centers_:,}"
    size = (folder / "report.html").stat().st_size / 1e6
    return [
        Row(
            f"{case}, time over what is allowed", parts["report"] / allowed, "x", Wanted("<", 1),
            parts, note=f"allowed: {allowed:.1f} s", stand_in=stand_in,
        ),
        Row(f"{case}, size", size, "MB", Wanted("<", 8), stand_in=stand_in),
    ]  # fmt: skip

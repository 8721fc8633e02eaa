"""Fitting 20,000,000 rows with 16 features from Parquet: memory, time and linearity.

``python -m benchmarks.scale FOLDER`` fits a folder written by ``benchmarks.make_rows``, and prints
its peak memory and its progress over time.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rskpca import Gaussian, ShadowDensity, scaling
from rskpca.data import open_source

from .make_rows import N_FEATURES, write
from .rows import Row, Wanted, ratio
from .timing import process_memory, run_python, time_interleaved

N, N_QUICK = 20_000_000, 500_000
BATCH_ROWS = 2**16


def run(quick: bool) -> list[Row]:
    n = N_QUICK if quick else N
    with tempfile.TemporaryDirectory() as folder:
        rows = write(Path(folder) / "rows", n)
        child = run_python("-m", __name__, str(rows))
        contenders = {
            "fit": lambda: fit_density(rows, sample_size=0),
            "fit with certificate": lambda: fit_density(rows),
            "reading": lambda: read(rows),
        }
        timed = time_interleaved(contenders, 1 if quick else 5, warm=quick)
    case = f"{n:,} x {N_FEATURES}, m {timed['fit'].result.reduced_set_.n_centers}"
    size = {"data": n * N_FEATURES * 8 / 1e6}
    return [
        Row(f"peak memory, {case}", child["peak"], "MB", Wanted("<", 1000), size, "MB"),
        ratio(f"speed relative to reading, {case}", timed, "fit", "reading", at_least=0.5),
        ratio(
            f"the same with certificate, {case}",
            timed,
            "fit with certificate",
            "reading",
            at_least=0.6,
        ),
        measure_slope(case, child["progress"]),
    ]


def fit_density(source: Any, progress: Any = None, **options: Any) -> ShadowDensity:
    """Fit a density in one pass; kernel PCA would only add an m x m eigenproblem."""
    return scaling.fit(ShadowDensity(Gaussian(9.6), **options), source, progress=progress)


def read(folder: Path) -> int:
    """Read the rows into float64 arrays with pyarrow alone, and return their number."""
    import pyarrow.parquet as pq

    n_rows = 0
    for path in sorted(folder.iterdir()):
        for batch in pq.ParquetFile(path).iter_batches(BATCH_ROWS):
            n_rows += len(np.column_stack([column.to_numpy() for column in batch.columns]))
    return n_rows


def measure_slope(case: str, progress: Sequence[Sequence[float]]) -> Row:
    """Return the slope of log time vs. log rows after the first tenth; 1 means linear time.

    The slope of the processor time does not depend on other load on the machine.
    """
    rows, *clocks = np.array(progress).T
    late = rows >= rows[-1] / 10
    wall, processor = (
        float(np.polyfit(np.log(rows[late]), np.log(seconds[late]), 1)[0]) for seconds in clocks
    )
    parts = {"processor time": processor}
    return Row(f"slope of log time, {case}", wall, "", Wanted("<", 1.1), parts, "")


class Progress(list[tuple[int, float, float]]):
    """Callback that records rows, wall time and processor time since its creation."""

    def __init__(self) -> None:
        super().__init__()
        self._start = time.perf_counter(), time.process_time()

    def __call__(self, rows: int, n_centers: int) -> None:
        now = time.perf_counter(), time.process_time()
        self.append((rows, now[0] - self._start[0], now[1] - self._start[1]))


def _main(folder: str) -> None:
    fit_density(next(open_source(folder, block_rows=1000).blocks()).rows)  # compile first
    progress = Progress()
    fit_density(folder, progress)
    print(json.dumps({"peak": process_memory("VmHWM"), "progress": progress}))


if __name__ == "__main__":
    _main(*sys.argv[1:])

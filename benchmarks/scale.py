"""A fit of 20,000,000 x 16 rows from Parquet: memory, time against reading alone, linearity.

``python -m benchmarks.scale FOLDER`` fits a folder that ``benchmarks.make_rows`` has written, and
prints its peak memory and when it had counted how many rows.
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
from rskpca.cli.memory import megabytes
from rskpca.data import open_source

from .children import in_fresh_process
from .make_rows import N_FEATURES, write
from .rows import Row, Wanted, ratio
from .timing import interleaved

N, N_QUICK = 20_000_000, 500_000
BATCH_ROWS = 2**16


def run(quick: bool) -> list[Row]:
    n = N_QUICK if quick else N
    with tempfile.TemporaryDirectory() as folder:
        parts = write(Path(folder) / "rows", n)
        child = in_fresh_process("-m", __name__, str(parts))
        contenders = {
            "fit": lambda: fitted(parts, n_frequencies=0),
            "fit with certificate": lambda: fitted(parts),
            "reading": lambda: read(parts),
        }
        timed = interleaved(contenders, 1 if quick else 2, warm=quick)
    case = f"{n:,} x {N_FEATURES}, m {timed['fit'].result.reduced_set_.n_centers}"
    size = {"data": n * N_FEATURES * 8 / 1e6}
    return [
        Row(f"peak memory, {case}", child["peak"], "MB", Wanted("<", 1000), size, "MB"),
        ratio(f"speed of reading kept, {case}", timed, "fit", "reading", at_least=0.5),
        ratio(f"the same with certificate, {case}", timed, "fit with certificate", "reading"),
        slope(case, child["passed"]),
    ]


def fitted(source: Any, progress: Any = None, **options: Any) -> ShadowDensity:
    """One pass. A kernel PCA adds its eigenproblem of m centers to this, whatever n."""
    return scaling.fit(ShadowDensity(Gaussian(9.6), **options), source, progress=progress)


def read(folder: Path) -> int:
    """What pyarrow alone takes to hand over the rows, as float64 arrays."""
    import pyarrow.parquet as pq

    n_rows = 0
    for path in sorted(folder.iterdir()):
        for batch in pq.ParquetFile(path).iter_batches(BATCH_ROWS):
            n_rows += len(np.column_stack([column.to_numpy() for column in batch.columns]))
    return n_rows


def slope(case: str, passed: Sequence[Sequence[float]]) -> Row:
    """Of log seconds on log rows, over the last nine tenths: 1 where the cost is linear.

    That of the processor's time does not depend on what else the machine does.
    """
    rows, *clocks = np.array(passed).T
    late = rows >= rows[-1] / 10
    found, processor = (
        float(np.polyfit(np.log(rows[late]), np.log(seconds[late]), 1)[0]) for seconds in clocks
    )
    parts = {"of processor time": processor}
    return Row(f"slope of log time, {case}", found, "", Wanted("<", 1.1), parts, "")


class Passed(list[tuple[int, float, float]]):
    """Rows, and seconds since it was made: on the wall and of the processor."""

    def __init__(self) -> None:
        super().__init__()
        self._start = time.perf_counter(), time.process_time()

    def __call__(self, rows: int, n_centers: int) -> None:
        now = time.perf_counter(), time.process_time()
        self.append((rows, now[0] - self._start[0], now[1] - self._start[1]))


def _child(folder: str) -> None:
    fitted(next(open_source(folder, block_rows=1000).blocks()).rows)  # compiled from here on
    passed = Passed()
    fitted(folder, passed)
    print(json.dumps({"peak": megabytes("VmHWM"), "passed": passed}))


if __name__ == "__main__":
    _child(*sys.argv[1:])

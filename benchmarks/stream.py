"""Fitting a generated stream of 100,000,000 rows with 16 features: memory, time and predictions.

``python -m benchmarks.stream N`` runs the stream in a fresh process.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from rskpca import ShadowDensity
from rskpca.data import open_source

from .make_rows import N_FEATURES, make_chunks
from .rows import Row, Wanted
from .scale import Progress, fit_density, measure_slope
from .scale_model import Measured
from .timing import process_memory, run_python, time_interleaved

N, N_QUICK = 100_000_000, 1_000_000
CLUSTERS = ((1e9, 16), (1e9, 256), (1e12, 256), (1e12, 4096))


def run(quick: bool) -> list[Row]:
    n = N_QUICK if quick else N
    stream = run_python("-m", __name__, str(n))
    case = f"{n:,} x {N_FEATURES}, m {stream['centers'][-1]}"
    progress = np.array(stream["progress"])
    tenths = {f"{i + 1}": rate / 1e6 for i, rate in enumerate(_rates(progress))}
    growth = stream["memory"][-1] - stream["memory"][len(progress) // 10]
    return [
        Row(f"memory growth after a tenth, {case}", growth, "MB", Wanted("<", 50),
            {"at the end": stream["memory"][-1]}, "MB"),
        Row(f"speed, {case}", n / progress[-1, 1] / 1e6, "M/s", None, tenths, "M/s"),
        measure_slope(case, progress),
        *_check_predictions(stream, n),
        *(_predict(_measured(stream, n, clock=2), rows, cores) for rows, cores in CLUSTERS),
    ]  # fmt: skip


def _rates(progress: Any) -> list[float]:
    """Return the rows per second in each tenth."""
    ends = np.linspace(0, progress[-1, 0], 11)
    seconds = np.interp(ends, [0, *progress[:, 0]], [0, *progress[:, 1]])
    return list(np.diff(ends) / np.diff(seconds))


def _check_predictions(stream: dict[str, Any], n: int) -> Iterator[Row]:
    """Yield the errors, in percent, of predictions for the whole stream from its first tenth."""
    _, wall, processor = stream["progress"][-1]
    by_wall, by_processor = (_measured(stream, n // 10, clock) for clock in (1, 2))
    for what, predicted, measured, unit in (
        ("time", by_wall.pass_seconds(n), wall, "s"),
        ("processor time", by_processor.pass_seconds(n), processor, "s"),
        ("centers", by_wall.n_centers(n), stream["centers"][-1], ""),
    ):
        case = f"{what} predicted from {n // 10:,} rows"
        error = 100 * abs(predicted / measured - 1)
        parts = {"predicted": predicted, "measured": measured}
        yield Row(case, error, "%", Wanted("<", 20), parts, unit)


def _predict(measured: Measured, rows: float, cores: int) -> Row:
    job = measured.job(rows, cores)
    note = f"m {job.n_centers:,.0f}, depth {job.depth}, summary {job.summary_bytes / 1e3:,.0f} kB"
    parts = {"passes": job.pass_seconds / 3600, "merges": job.merge_seconds / 3600}
    case = f"predicted: {rows:.0e} rows on {cores} cores"
    return Row(case, job.seconds / 3600, "h", parts=parts, parts_unit="h", note=note)


def _measured(stream: dict[str, Any], stop: int, clock: int) -> Measured:
    """Return about 60 measurements up to row ``stop``, evenly spaced in log rows."""
    rows, seconds = np.array(stream["progress"]).T[[0, clock]]
    early = rows <= stop
    picked = np.unique(np.geomspace(1, early.sum(), 60).astype(int)) - 1
    centers = np.array(stream["centers"], dtype=float)
    return Measured(
        rows[picked], centers[picked], seconds[picked],
        stream["merge_seconds"], stream["summary_bytes"], stream["certificate_bytes"],
    )  # fmt: skip


def _main(n_rows: str) -> None:
    fit_density(next(make_chunks(50_000)))  # compile first
    progress, centers, memory = Progress(), [], []

    def record(rows: int, n_centers: int) -> None:
        progress(rows, n_centers)
        centers.append(n_centers)
        memory.append(process_memory("VmRSS"))

    n, block_rows = int(n_rows), min(2**16, int(n_rows) // 400)
    model = fit_density(open_source(lambda: make_chunks(n), block_rows=block_rows), record)
    stream = {"progress": progress, "centers": centers, "memory": memory}
    print(json.dumps(stream | _measure_summary(model)))


def _measure_summary(model: ShadowDensity) -> dict[str, float]:
    """Return the size of a summary, and the time to merge it with a summary of other rows."""
    own = model.reduced_set_
    other = fit_density(lambda: make_chunks(200_000, 100_000)).reduced_set_
    merged = time_interleaved({"merge": lambda: own.merge(other)}, 5)["merge"]
    sums = (own.weights, own.displacement, own.scatter, own.residue)
    per_center = sum(array.nbytes for array in (own.centers, *sums)) / own.n_centers
    sample = own.sample
    certificate = sum(a.nbytes for a in (sample.rows, sample.weights, sample.labels, sample.keys))
    seconds = merged.seconds * own.n_centers / other.n_centers
    return {
        "merge_seconds": seconds, "summary_bytes": per_center, "certificate_bytes": certificate
    }  # fmt: skip


if __name__ == "__main__":
    _main(*sys.argv[1:])

"""100,000,000 x 16 rows, made as they are read: memory, time, and a model of both checked.

``python -m benchmarks.stream N`` is the stream, in a process of its own.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from rskpca import ShadowDensity
from rskpca.cli.memory import megabytes
from rskpca.data import open_source

from .children import in_fresh_process
from .make_rows import N_FEATURES, spans
from .rows import Row, Wanted
from .scale import Passed, fitted, slope
from .scale_model import Measured
from .timing import interleaved

N, N_QUICK = 100_000_000, 1_000_000
CLUSTERS = ((1e9, 16), (1e9, 256), (1e12, 256), (1e12, 4096))


def run(quick: bool) -> list[Row]:
    n = N_QUICK if quick else N
    seen = in_fresh_process("-m", __name__, str(n))
    case = f"{n:,} x {N_FEATURES}, m {seen['centers'][-1]}"
    passed = np.array(seen["passed"])
    tenths = {f"{i + 1}": rate / 1e6 for i, rate in enumerate(_rates(passed))}
    growth = seen["memory"][-1] - seen["memory"][len(passed) // 10]
    measured = _measured(seen, n // 10)
    return [
        Row(f"memory from a tenth on, {case}", growth, "MB", Wanted("<", 50),
            {"at the end": seen["memory"][-1]}, "MB"),
        Row(f"speed, {case}", n / passed[-1, 1] / 1e6, "M/s", None, tenths, "M/s"),
        slope(case, passed),
        _off(f"time told from {n // 10:,} rows", measured.pass_seconds(n), passed[-1, 1], "s"),
        _off(f"processor time told from {n // 10:,} rows",
             _measured(seen, n // 10, clock=2).pass_seconds(n), passed[-1, 2], "s"),
        _off(f"centers told from {n // 10:,} rows", measured.n_centers(n), seen["centers"][-1], ""),
        *(_told(_measured(seen, n, clock=2), rows, cores) for rows, cores in CLUSTERS),
    ]  # fmt: skip


def _rates(passed: Any) -> list[float]:
    """Rows a second in each tenth."""
    ends = np.linspace(0, passed[-1, 0], 11)
    seconds = np.interp(ends, [0, *passed[:, 0]], [0, *passed[:, 1]])
    return list(np.diff(ends) / np.diff(seconds))


def _off(case: str, told: float, found: float, unit: str) -> Row:
    """How far what was told is from what was found."""
    parts = {"told": told, "found": found}
    return Row(case, 100 * abs(told / found - 1), "%", Wanted("<", 20), parts, unit)


def _told(measured: Measured, rows: float, cores: int) -> Row:
    job = measured.job(rows, cores)
    note = f"m {job.n_centers:,.0f}, depth {job.depth}, summary {job.summary_bytes / 1e3:,.0f} kB"
    parts = {"passes": job.pass_seconds / 3600, "merges": job.merge_seconds / 3600}
    case = f"model: {rows:.0e} rows on {cores} cores"
    return Row(case, job.seconds / 3600, "h", parts=parts, parts_unit="h", note=note)


def _measured(seen: dict[str, Any], up_to: int, clock: int = 1) -> Measured:
    rows, seconds = np.array(seen["passed"]).T[[0, clock]]
    early = rows <= up_to
    picked = np.unique(np.geomspace(1, early.sum(), 60).astype(int)) - 1
    centers = np.array(seen["centers"], dtype=float)
    return Measured(
        rows[picked], centers[picked], seconds[picked],
        seen["merge_seconds"], seen["summary_bytes"], seen["certificate_bytes"],
    )  # fmt: skip


def _child(n_rows: str) -> None:
    fitted(next(spans(50_000)))  # compiled from here on
    passed, centers, memory = Passed(), [], []

    def told(rows: int, n_centers: int) -> None:
        passed(rows, n_centers)
        centers.append(n_centers)
        memory.append(megabytes("VmRSS"))

    n, block_rows = int(n_rows), min(2**16, int(n_rows) // 400)
    model = fitted(open_source(lambda: spans(n), block_rows=block_rows), told)
    found = {"passed": passed, "centers": centers, "memory": memory}
    print(json.dumps(found | _summary(model)))


def _summary(model: ShadowDensity) -> dict[str, float]:
    """Size of a summary, and the time of a merge with one of other rows."""
    own = model.reduced_set_
    other = fitted(lambda: spans(200_000, 100_000)).reduced_set_
    merged = interleaved({"merge": lambda: own.merge(other)}, 5)["merge"]
    sums = (own.weights, own.displacement, own.scatter, own.residue)
    per_center = sum(array.nbytes for array in (own.centers, *sums)) / own.n_centers
    spectrum = own.spectrum
    certificate = spectrum.turns.nbytes + spectrum.sums.nbytes + spectrum.origin.nbytes
    seconds = merged.seconds * own.n_centers / other.n_centers
    return {
        "merge_seconds": seconds, "summary_bytes": per_center, "certificate_bytes": certificate
    }  # fmt: skip


if __name__ == "__main__":
    _child(*sys.argv[1:])

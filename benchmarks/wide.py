"""Fitting 1,000,000 rows with 784 features from a memory-mapped file: time and memory.

``python -m benchmarks.wide FILE`` fits a file of rows, and prints its peak memory, which does not
include the pages of the file that the operating system keeps in memory.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from rskpca import NystromKernelPCA, scaling

from .make_rows import make_embeddings
from .rows import Row, Wanted
from .timing import process_memory, run_python, time_interleaved

N, N_QUICK = 1_000_000, 5_000
N_DIFFERENT = 100_000  # the other rows differ from these by noise
N_FEATURES, BLOCK_ROWS = 784, 4_096
N_MEANS = 100  # enough for an error of about 2%


def run(quick: bool) -> list[Row]:
    n = N_QUICK if quick else N
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "rows.npy", n)
        peak = run_python("-m", __name__, str(path))
        contenders = {"fit": lambda: fit(path), "reading twice": lambda: [read(path), read(path)]}
        timed = time_interleaved(contenders, 1 if quick else 3)
    case = f"{n:,} x {N_FEATURES}, float32"
    times = {name: one.seconds for name, one in timed.items()}
    relative, error = (
        times["fit"] / times["reading twice"],
        timed["fit"].result.certificate_.embedding,
    )
    note = f"{N_MEANS} means, estimated error {error.estimate:.1%}"
    return [
        Row(f"time relative to reading twice, {case}", relative, "x", Wanted("<", 2.5), times, "s",
            note),
        Row(f"peak memory, {case}", peak, "MB", Wanted("<", 1000), {"data": n * 0.003136}, "MB"),
    ]  # fmt: skip


def write(path: Path, n: int) -> Path:
    """Write vectors like sentence embeddings to a NumPy file."""
    rng, some = np.random.default_rng(0), make_embeddings(min(n, N_DIFFERENT), N_FEATURES)
    rows = np.lib.format.open_memmap(path, "w+", np.float32, (n, N_FEATURES))
    for start in range(0, n, len(some)):
        part = some[: n - start]
        noise = rng.standard_normal(part.shape, dtype=np.float32)
        rows[start : start + len(part)] = part + np.float32(0.003) * noise
    rows.flush()
    return path


def fit(path: Path) -> Any:
    """Fit kernel PCA on means, at the median bandwidth."""
    return scaling.fit(NystromKernelPCA(10, landmarks="means", n_centers=N_MEANS), path)


def read(path: Path) -> float:
    """Copy the rows of the file block by block, and return a sum that uses all of them."""
    rows = np.load(path, mmap_mode="r")
    blocks = (rows[i : i + BLOCK_ROWS] for i in range(0, len(rows), BLOCK_ROWS))
    return float(sum(float(np.array(block).sum()) for block in blocks))


class PeakMemory(threading.Thread):
    """Thread that records the peak of the memory that is not backed by files."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = 0.0

    def run(self) -> None:
        while True:
            self.peak = max(self.peak, process_memory("RssAnon"))
            time.sleep(0.01)


def _main(path: str) -> None:
    memory = PeakMemory()
    memory.start()
    fit(Path(path))
    print(json.dumps(memory.peak))


if __name__ == "__main__":
    _main(*sys.argv[1:])

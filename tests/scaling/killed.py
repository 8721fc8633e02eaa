"""Kill a fit at random times and resume it from its checkpoint.

``python -m tests.scaling.killed --count 20`` kills the fit 20 times and compares the result with
that of an uninterrupted fit.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from rskpca import ReducedSet, ReducedSetKernelPCA, scaling
from rskpca.data import open_source

BLOCK_ROWS = 1000
BLOCKS_PER_KILL = 10


def fit(data: Path, checkpoint: Path | None, progress: Callable[[int, int], object]) -> ReducedSet:
    source = open_source(data, block_rows=BLOCK_ROWS)
    options = {"checkpoint": checkpoint, "checkpoint_every": 0}
    return scaling.fit(ReducedSetKernelPCA(2), source, progress=progress, **options).reduced_set_


def fit_and_kill(data: Path, checkpoint: Path, rng: random.Random) -> bool:
    """Start a fit in another process and kill it milliseconds after it has processed a few blocks.

    Return False if the fit completed before it was killed.
    """
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        fit(data, checkpoint, lambda rows, n_centers: os.write(sender, b"."))
        os._exit(0)
    os.close(sender)
    os.read(receiver, 1)  # the fit has started
    for _ in range(rng.randrange(BLOCKS_PER_KILL)):
        os.read(receiver, 1)
    time.sleep(rng.uniform(0, 0.01))
    os.kill(child, signal.SIGKILL)
    os.close(receiver)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    n_rows, rng = (BLOCKS_PER_KILL + 3) * options.count * BLOCK_ROWS, random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        data, checkpoint = Path(folder) / "data.npy", Path(folder) / "checkpoint"
        drift = np.linspace(0, 3, n_rows)[:, None]  # new centers are opened until the end
        np.save(data, np.random.default_rng(0).normal(size=(n_rows, 4)) + drift)
        expected = fit(data, None, lambda rows, n_centers: None)  # triggers compilation
        kills = sum(fit_and_kill(data, checkpoint, rng) for _ in range(options.count))
        rows: list[int] = []
        found = fit(data, checkpoint, lambda n_rows, n_centers: rows.append(n_rows))
    print(f"killed {kills} times, resumed before row {rows[0]:,} of {n_rows:,}: {found}")
    if found != expected:
        sys.exit("the reduced set differs from that of an uninterrupted fit")


if __name__ == "__main__":
    main()

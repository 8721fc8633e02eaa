"""A fit of a file that is killed at random moments, and goes on from its checkpoint.

``python -m tests.scaling.killed --count 20`` kills it so many times, and compares it with a fit
that nobody disturbs.
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
BLOCKS_A_KILL = 10


def fit(data: Path, checkpoint: Path | None, told: Callable[[int, int], object]) -> ReducedSet:
    source = open_source(data, block_rows=BLOCK_ROWS)
    notes = {"checkpoint": checkpoint, "checkpoint_every": 0}
    return scaling.fit(ReducedSetKernelPCA(2), source, progress=told, **notes).reduced_set_


def killed(data: Path, checkpoint: Path, rng: random.Random) -> bool:
    """Whether a fit in another process was killed before its end.

    The moment: some blocks after it has started, and up to some milliseconds later.
    """
    heard, told = os.pipe()
    child = os.fork()
    if child == 0:
        fit(data, checkpoint, lambda rows, n_centers: os.write(told, b"."))
        os._exit(0)
    os.close(told)
    os.read(heard, 1)  # it has started
    for _ in range(rng.randrange(BLOCKS_A_KILL)):
        os.read(heard, 1)
    time.sleep(rng.uniform(0, 0.01))
    os.kill(child, signal.SIGKILL)
    os.close(heard)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    n_rows, rng = (BLOCKS_A_KILL + 3) * options.count * BLOCK_ROWS, random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        data, checkpoint = Path(folder) / "data.npy", Path(folder) / "checkpoint"
        drift = np.linspace(0, 3, n_rows)[:, None]  # brings new centers to the end
        np.save(data, np.random.default_rng(0).normal(size=(n_rows, 4)) + drift)
        expected = fit(data, None, lambda rows, n_centers: None)  # compiled from here on
        kills = sum(killed(data, checkpoint, rng) for _ in range(options.count))
        taken_up: list[int] = []
        found = fit(data, checkpoint, lambda rows, n_centers: taken_up.append(rows))
    last = f"the last time taken up before row {taken_up[0]:,} of {n_rows:,}"
    print(f"killed {kills} times, {last}: {found}")
    if found != expected:
        sys.exit("it is not the reduced set of a fit that nobody disturbs")


if __name__ == "__main__":
    main()

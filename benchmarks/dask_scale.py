"""Fitting on two Dask worker processes with one thread each, compared with one process."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import numpy as np

from rskpca import ReducedSet, ReducedSetKernelPCA
from rskpca.scaling import dask as rskpca_dask

from .datasets import Floats
from .rows import Row, ratio
from .timing import time_interleaved

N, N_QUICK, N_FEATURES, N_BLOCKS = 5_000_000, 100_000, 16, 40
NAMES = {1: "1 worker", 2: "2 workers"}


def run(quick: bool) -> list[Row]:
    n, rounds = (N_QUICK, 1) if quick else (N, 3)
    with ExitStack() as stack:
        fits = {
            name: partial(_fit, *stack.enter_context(_start_cluster(n_workers, n)))
            for n_workers, name in NAMES.items()
        }
        timed = time_interleaved(fits, rounds)
    first, second = (t.result for t in timed.values())
    if first != second:
        raise AssertionError("The reduced set depends on the number of workers.")
    case = f"fit, {n:,} x {N_FEATURES} in {N_BLOCKS} blocks, m {first.n_centers:,}"
    return [ratio(case, timed, NAMES[2], NAMES[1], at_least=1.5)]


@contextmanager
def _start_cluster(n_workers: int, n: int) -> Iterator[tuple[Any, Any]]:
    """Yield a client and the rows, which are held in the memory of its workers."""
    from distributed import Client, LocalCluster, wait

    workers = LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        silence_logs=logging.ERROR,
    )
    with workers, Client(workers) as client:
        rows = _make_rows(n).persist()
        wait(rows)
        yield client, rows


def _make_rows(n: int) -> Any:
    """Return a Dask array of noisy points along a closed curve."""
    import dask.array as da

    shape = (n // N_BLOCKS, N_FEATURES)
    return da.map_blocks(
        _make_block,
        len_block=shape[0],
        chunks=((shape[0],) * N_BLOCKS, shape[1:]),
        meta=np.empty((0, N_FEATURES)),
    )


def _make_block(len_block: int, block_id: tuple[int, int]) -> Floats:
    curve = np.random.default_rng(0).normal(size=(6, N_FEATURES))
    rng = np.random.default_rng((1, block_id[0]))
    angles = np.outer(rng.uniform(0, 2 * np.pi, len_block), [1, 2, 3])
    noise = 0.02 * rng.normal(size=(len_block, N_FEATURES))
    return np.hstack([np.cos(angles), np.sin(angles)]) @ curve + noise


def _fit(client: Any, rows: Any) -> ReducedSet:
    with client.as_current():
        return rskpca_dask.fit(ReducedSetKernelPCA(5, ell=30.0), rows).reduced_set_

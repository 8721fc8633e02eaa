"""Threads over blocks of rows, with BLAS held to one thread in each.

The number of threads is the one that BLAS has been allowed (``OMP_NUM_THREADS``,
``threadpoolctl.threadpool_limits``, and so joblib and Dask workers), at most one a core.
No result depends on it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any

import joblib
from threadpoolctl import ThreadpoolController


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


class _SingleThreadedBlas:
    """Limit BLAS to one thread while anyone is inside; the last one out restores it.

    The limit is global to the process, so overlapping users (Dask runs tasks in threads)
    must not restore it one by one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limit = _blas().limit(limits=1)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


_single_threaded_blas = _SingleThreadedBlas()

Map = Callable[[Callable[[Any], Any], Iterable[Any]], list[Any]]


def allowed_threads() -> int:
    """Threads that a call may use now."""
    allowed = max((lib["num_threads"] for lib in _blas().info()), default=1)
    return max(1, min(allowed, joblib.cpu_count()))


@contextmanager
def workers(n_threads: int | None = None) -> Iterator[Map]:
    """Yield an ordered map that runs a function over blocks in ``n_threads`` threads."""
    n_threads = allowed_threads() if n_threads is None else n_threads
    with _single_threaded_blas:
        if n_threads == 1:
            yield lambda function, blocks: [function(block) for block in blocks]
            return
        with ThreadPoolExecutor(n_threads) as pool:
            yield lambda function, blocks: list(pool.map(function, blocks))


def slices(start: int, stop: int, size: int) -> list[slice]:
    """Cut ``range(start, stop)`` into blocks of at most ``size``."""
    return [slice(a, min(a + size, stop)) for a in range(start, stop, size)]

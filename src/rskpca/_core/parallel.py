"""Threads over blocks of rows, with BLAS held to one thread in each.

The number of threads is the one that BLAS has been allowed (``OMP_NUM_THREADS``,
``threadpoolctl.threadpool_limits``, and so joblib and Dask workers), at most one a core. What
is computed here has the same bits for any number.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

import joblib
import threadpoolctl
from threadpoolctl import ThreadpoolController

_WORTH = 0.002  # seconds of work that a thread is started for
_SMALL = 2**20  # elements of a matrix that BLAS has one thread for


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


@cache
def _cores() -> int:
    return int(joblib.cpu_count())


class _SingleThreadedBlas:
    """BLAS at one thread for as long as anybody is inside: the first sets it, the last lifts it.

    The limit is global to the process, and users overlap (Dask runs tasks in threads). Lifted
    while somebody is inside, it would change how BLAS cuts up products, and so their last bits.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limiter: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limiter = _blas().limit(limits=1)
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                _take_control()
                self._limiter.__exit__(None, None, None)


def _take_control() -> None:
    """Let this thread lift what another has set: threadpoolctl 3.7 ties OpenBLAS to one thread."""
    release = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)


_single_threaded_blas = _SingleThreadedBlas()


@contextmanager
def undivided(elements: int = 0) -> Iterator[None]:
    """Hold BLAS to one thread, unless matrices have so many elements that it is quicker with more:
    on small ones its threads wait for each other longer than they work.
    """
    with _single_threaded_blas if elements <= _SMALL else nullcontext():
        yield


@contextmanager
def single_threaded() -> Iterator[None]:
    """Hold BLAS and OpenMP to one thread, for sums whose order depends on their number.

    OpenMP keeps its limit by Python thread, so that overlapping users do not meet.
    """
    with _single_threaded_blas, ThreadpoolController().select(user_api="openmp").limit(limits=1):
        yield


Map = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]


def allowed_threads() -> int:
    """Threads that a call may use now."""
    allowed = max((lib["num_threads"] for lib in _blas().info()), default=1)
    return max(1, min(allowed, _cores()))


@contextmanager
def workers(n_threads: int | None = None) -> Iterator[Map]:
    """Yield an ordered map that runs a function over blocks in ``n_threads`` threads, the caller's
    among them.
    """
    n_threads = allowed_threads() if n_threads is None else n_threads
    with _single_threaded_blas, ThreadPoolExecutor(max(n_threads - 1, 1)) as pool:

        def run(function: Callable[[Any], Any], blocks: Sequence[Any]) -> list[Any]:
            others = min(n_threads, len(blocks)) - 1
            return _shared(function, blocks, pool, others)

        yield run


def _shared(
    function: Callable[[Any], Any], blocks: Sequence[Any], pool: ThreadPoolExecutor, others: int
) -> list[Any]:
    """Each thread takes the next block until none is left: a task a thread, and not a block, since
    each start and end of a task is a wait for the interpreter's lock.
    """
    results: list[Any] = [None] * len(blocks)
    left = deque(range(len(blocks)))

    def work() -> None:
        try:
            for i in _taken(left):
                results[i] = function(blocks[i])
        except BaseException:
            left.clear()
            raise

    tasks = [pool.submit(work) for _ in range(others)]
    work()
    for task in tasks:
        task.result()
    return results


def _taken(left: deque[int]) -> Iterator[int]:
    """What is left, each for the thread that asks first."""
    while True:
        try:
            yield left.popleft()
        except IndexError:
            return


def worthwhile(seconds: float) -> int:
    """Threads for work of so many seconds: as many as are allowed and pay for their start."""
    wanted = int(seconds / _WORTH)
    return min(allowed_threads(), wanted) if wanted > 1 else 1


def slices(start: int, stop: int, size: int) -> list[slice]:
    """Cut ``range(start, stop)`` into blocks of at most ``size``."""
    return [slice(a, min(a + size, stop)) for a in range(start, stop, size)]

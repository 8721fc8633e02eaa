"""Thread pools for batches of rows, with BLAS limited to one thread.

The number of threads is the number that BLAS may use, at most one per core. It is set by
``OMP_NUM_THREADS`` or ``threadpoolctl.threadpool_limits``, and hence by joblib and Dask workers.
Results are bit-identical for any number of threads.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from functools import cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import joblib
import threadpoolctl
from threadpoolctl import ThreadpoolController

_SECONDS_PER_THREAD = 0.001  # minimum amount of work that justifies another thread
_SMALL = 2**20  # matrices with at most this many elements are faster with one BLAS thread


@cache
def _blas() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401  loads SciPy's BLAS library

    return ThreadpoolController().select(user_api="blas")


@cache
def _openmp() -> ThreadpoolController:
    import sklearn.cluster  # noqa: F401  loads scikit-learn's OpenMP library

    return ThreadpoolController().select(user_api="openmp")


@cache
def _cores() -> int:
    return int(joblib.cpu_count())


class _OneBlasThread:
    """Reference-counted context manager that limits BLAS to one thread.

    The limit is global to the process, and contexts may overlap, because Dask runs tasks in
    threads. Lifting the limit while another thread is inside a context would change how BLAS splits
    products, and thus their last bits.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._before: list[int] = []

    def __enter__(self) -> None:
        with self._lock:
            if self._count == 0:
                libraries = _blas().lib_controllers
                self._before = [library.get_num_threads() for library in libraries]
                _set_threads([1] * len(libraries))
            self._count += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._count -= 1
            if self._count == 0:
                _set_threads(self._before)
                _release_control()


def _set_threads(counts: list[int]) -> None:
    """Set the number of threads for each BLAS library.

    This takes a third of the time that a threadpoolctl limiter object would take.
    """
    _release_control()
    for library, count in zip(_blas().lib_controllers, counts, strict=True):
        library.set_num_threads(count)


def _release_control() -> None:
    """Allow any thread to set the number of BLAS threads; threadpoolctl 3.7 allows only one."""
    release = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)


_one_blas_thread = _OneBlasThread()


@contextmanager
def single_threaded_blas(elements: int = 0) -> Iterator[None]:
    """Limit BLAS to one thread, unless matrices with this many elements benefit from more."""
    with _one_blas_thread if elements <= _SMALL else nullcontext():
        yield


@contextmanager
def single_threaded() -> Iterator[None]:
    """Limit BLAS and scikit-learn to one thread, for sums whose order depends on the thread count.

    The OpenMP limit applies per Python thread, so overlapping contexts do not interfere.
    """
    with _one_blas_thread, _openmp().limit(limits=1):
        yield


P = ParamSpec("P")
R = TypeVar("R")
Owner = TypeVar("Owner")

_locks: WeakKeyDictionary[Any, threading.RLock] = WeakKeyDictionary()
_locks_lock = threading.Lock()


def one_at_a_time(
    method: Callable[Concatenate[Owner, P], R],
) -> Callable[Concatenate[Owner, P], R]:
    """Decorate a method that reads and replaces the state of its object.

    Calls from several threads run one at a time. The locks are not attributes, so that the
    object can still be copied and pickled.
    """

    @wraps(method)
    def run(owner: Owner, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with _locks_lock:
            lock = _locks.setdefault(owner, threading.RLock())
        with lock:
            return method(owner, *args, **kwargs)

    return run


def interruptible(function: Callable[..., R], *args: Any) -> R:
    """Call a function that releases the GIL, so that Ctrl-C is handled while it runs.

    Python handles signals between instructions of the main thread, which here only waits. An
    interrupted function continues in its thread, which does not keep the process alive.
    """
    future: Future[R] = Future()

    def run() -> None:
        try:
            future.set_result(function(*args))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future.result()


Map = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]


def allowed_threads() -> int:
    """Return the number of threads that a call may currently use."""
    allowed = max((lib["num_threads"] for lib in _blas().info()), default=1)
    return max(1, min(allowed, _cores()))


@contextmanager
def workers(n_threads: int | None = None) -> Iterator[Map]:
    """Yield an ordered ``map(function, items)`` that uses up to ``n_threads`` threads.

    The calling thread is one of these threads.
    """
    n_threads = allowed_threads() if n_threads is None else n_threads
    with _one_blas_thread:

        def run(function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
            return _run_in_pool(function, items, min(n_threads, len(items)) - 1)

        yield run


@cache
def _pool(process_id: int) -> ThreadPoolExecutor:
    """Return the threads of a process, which are kept because starting them takes time."""
    return ThreadPoolExecutor(_cores(), "rskpca")


def _run_in_pool(function: Callable[[Any], Any], items: Sequence[Any], n_helpers: int) -> list[Any]:
    """Process the items in the calling thread and ``n_helpers`` pool threads.

    Each thread takes the next item from a queue. There is one task per thread rather than per item,
    because every task waits for the GIL twice.
    """
    results: list[Any] = [None] * len(items)
    queue = deque(range(len(items)))

    def work() -> None:
        try:
            for i in _pop_all(queue):
                results[i] = function(items[i])
        except BaseException:
            queue.clear()
            raise

    tasks: list[Future[None]] = []
    try:
        if n_helpers > 0:
            pool = _pool(os.getpid())
            tasks += (pool.submit(copy_context().run, work) for _ in range(n_helpers))
        work()
    finally:
        queue.clear()
        _wait_for_started(tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()
    return results


def _wait_for_started(tasks: list[Future[None]]) -> None:
    """Cancel tasks that have not started, and wait for the others even if interrupted."""
    started = [task for task in tasks if not task.cancel()]
    try:
        wait(started)
    except BaseException:
        wait(started)
        raise


def _pop_all(queue: deque[int]) -> Iterator[int]:
    """Yield items until the queue is empty, while other threads may also pop from it."""
    while True:
        try:
            yield queue.popleft()
        except IndexError:
            return


def threads_for(seconds: float, allowed: int | None = None) -> int:
    """Return a suitable number of threads for work that takes ``seconds`` in one thread."""
    wanted = int(seconds / _SECONDS_PER_THREAD)
    if wanted <= 1:
        return 1
    return min(allowed_threads() if allowed is None else allowed, wanted)


def slices(start: int, stop: int, size: int) -> list[slice]:
    """Split ``range(start, stop)`` into slices of length at most ``size``."""
    return [slice(a, min(a + size, stop)) for a in range(start, stop, size)]

"""Test that thread pools return ordered results and restore the BLAS thread limits."""

import hashlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
import threadpoolctl
from threadpoolctl import threadpool_info, threadpool_limits

from rskpca._core.parallel import (
    allowed_threads,
    interruptible,
    single_threaded,
    single_threaded_blas,
    slices,
    threads_for,
    workers,
)


def blas_threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


def release_control():
    """Allow any thread to limit OpenBLAS. Since threadpoolctl 3.7, only one at a time can."""
    release = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)


@pytest.fixture(autouse=True)
def two_blas_threads():
    """Set a limit of two threads outside any thread's control, so that losing it is detected."""
    release_control()
    limiter = threadpoolctl.ThreadpoolController().limit(limits=2, user_api="blas")
    release_control()
    yield
    release_control()
    limiter.restore_original_limits()
    release_control()


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_results_are_returned_in_the_order_of_the_items(n_threads):
    with workers(n_threads) as run:
        assert run(lambda i: i * i, range(100)) == [i * i for i in range(100)]


def test_blas_threads_are_limited_inside_and_restored_afterwards():
    before = blas_threads()
    with workers(2) as run:
        inside = run(lambda _: blas_threads(), range(3))
    assert all(set(threads) == {1} for threads in inside)
    assert blas_threads() == before
    assert max(before) == 2


def test_limits_are_restored_after_nested_use():
    before = blas_threads()
    with workers(2) as outer:

        def nested(_):
            with workers(2) as inner:
                inner(np.sqrt, range(4))
            return blas_threads()

        assert all(set(threads) == {1} for threads in outer(nested, range(4)))
    assert blas_threads() == before


@pytest.mark.parametrize("leaving", [(0, 1), (1, 0)])
def test_limits_are_restored_after_overlapping_use(leaving):
    """Two threads are inside simultaneously and leave in either order, as in a pool."""
    before = blas_threads()
    with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
        threads, insides = (first, second), (workers(2), workers(2))
        for thread, inside in zip(threads, insides, strict=True):
            thread.submit(inside.__enter__).result(20)
        assert set(blas_threads()) == {1}
        for i in leaving:
            assert set(blas_threads()) == {1}
            threads[i].submit(insides[i].__exit__, None, None, None).result(20)
        assert blas_threads() == before
    assert max(before) == 2


def test_any_thread_can_limit_blas_threads():
    """This must work even after the main thread has set a limit, because Dask uses threads."""
    with workers(2):
        pass

    def inside():
        with workers(2):
            return blas_threads()

    with ThreadPoolExecutor(1) as pool:
        assert set(pool.submit(inside).result(20)) == {1}


@pytest.mark.parametrize("n_threads", [1, 3])
def test_errors_are_propagated_and_limits_are_restored(n_threads):
    before = blas_threads()
    with pytest.raises(ZeroDivisionError), workers(n_threads) as run:
        run(lambda i: 1 / i, [1, 0, 2])
    assert blas_threads() == before


def test_no_items_are_started_after_an_error():
    """The first item fails while the second is being processed."""
    started, failed, taken = threading.Event(), threading.Event(), []

    def work(i):
        taken.append(i)
        if i == 0:
            assert started.wait(10)
            threading.Timer(0.5, failed.set).start()
            raise IndexError("the first")
        started.set()
        assert failed.wait(10)

    with pytest.raises(IndexError, match="the first"), workers(2) as run:
        run(work, range(50))
    assert sorted(taken) == [0, 1]


def test_the_calling_thread_also_does_work():
    together = threading.Barrier(2)  # the barrier raises unless two threads work at the same time
    with workers(2) as run:
        threads = run(lambda _: (together.wait(10), threading.current_thread())[1], range(2))
    assert threading.current_thread() in threads
    assert len(set(threads)) == 2


def test_helper_threads_are_kept():
    used, most = set(), joblib.cpu_count()
    for _ in range(2 * most + 2):
        with workers(2) as run:
            used.update(run(_meet(), range(2)))
    assert len(used) <= 1 + most


def _meet():
    """Return a function that two threads have to call, and that returns the thread."""
    together = threading.Barrier(2)
    return lambda _: (together.wait(10), threading.current_thread())[1]


@pytest.mark.skipif(os.name == "nt", reason="requires POSIX signals")
def test_an_interrupted_call_waits_for_its_helpers():
    """The interrupt arrives while the calling thread waits for a helper."""
    begun, finished = threading.Barrier(2), threading.Event()

    def work(i):
        begun.wait(10)
        if threading.current_thread() is not threading.main_thread():
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
            finished.set()

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), workers(2) as run:
            run(work, range(2))
        assert finished.is_set()
    finally:
        signal.signal(signal.SIGINT, handler)


def test_helpers_use_the_numpy_error_settings_of_the_caller():
    together = _meet()
    with workers(2) as run, np.errstate(over="raise"):
        settings = run(lambda _: (together(_), np.geterr()["over"])[1], range(2))
    assert settings == ["raise", "raise"]


def test_scipy_is_limited_even_if_it_is_loaded_later():
    code = (
        "from rskpca._core.parallel import single_threaded_blas\n"
        "with single_threaded_blas():\n"
        "    import scipy.linalg, threadpoolctl\n"
        "    info = threadpoolctl.threadpool_info()\n"
        "    print({lib['num_threads'] for lib in info if lib['user_api'] == 'blas'})\n"
    )
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "2"}
    call = [sys.executable, "-c", code]
    found = subprocess.run(call, env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "{1}"


def test_a_busy_pool_does_not_delay_other_calls():
    release, begun = threading.Event(), threading.Barrier(2 * joblib.cpu_count() + 1)

    def occupy(_):
        begun.wait(10)
        assert release.wait(10)

    with workers(2) as run, ThreadPoolExecutor(joblib.cpu_count()) as callers:
        busy = [callers.submit(run, occupy, range(2)) for _ in range(joblib.cpu_count())]
        begun.wait(10)  # all helper threads are occupied
        assert run(np.sqrt, range(4)) == [np.sqrt(i) for i in range(4)]
        release.set()
        assert all(call.result(10) == [None, None] for call in busy)


@pytest.mark.skipif(sys.platform != "linux", reason="requires a safe fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_starts_its_own_threads():
    with workers(2) as run:
        run(np.sqrt, range(4))
    with multiprocessing.get_context("fork").Pool(1) as child:
        assert child.apply_async(_count_threads).get(20) == 2


def _count_threads():
    """Return the number of threads that are used at the same time."""
    with workers(2) as run:
        return len(set(run(_meet(), range(2))))


def test_the_number_of_threads_depends_on_the_amount_of_work():
    most = allowed_threads()
    counts = [threads_for(seconds) for seconds in (0.0, 0.0019, 0.0021, 10.0)]
    assert counts == [1, 1, most, most]


@pytest.mark.parametrize(("elements", "threads"), [(1000**2, 1), (2000**2, 2)])
def test_small_matrices_use_one_blas_thread(elements, threads):
    before = blas_threads()
    with single_threaded_blas(elements):
        assert set(blas_threads()) == {threads}
    assert blas_threads() == before


def test_the_blas_limit_equals_the_number_of_threads():
    with threadpool_limits(1, user_api="blas"):
        assert allowed_threads() == 1


def test_a_nested_call_uses_one_thread():
    with workers(2) as run:
        assert run(lambda _: allowed_threads(), range(2)) == [1, 1]


@pytest.mark.parametrize(("start", "stop", "size"), [(0, 10, 3), (5, 5, 2), (2, 9, 100)])
def test_slices_cover_the_range_exactly_once(start, stop, size):
    parts = slices(start, stop, size)
    assert [i for part in parts for i in range(part.start, part.stop)] == list(range(start, stop))
    assert all(part.stop - part.start <= size for part in parts)


def test_single_threaded_limits_both_blas_and_openmp_and_restores_them():
    import sklearn.cluster  # noqa: F401  loads OpenMP

    def counts():
        return [lib["num_threads"] for lib in threadpool_info()]

    before = counts()
    with single_threaded():
        assert set(counts()) == {1}
    assert counts() == before


def derive_key():
    """Compute for a second or so without the GIL and without checking for signals."""
    return hashlib.pbkdf2_hmac("sha256", b"", b"", 2_000_000)


@pytest.mark.skipif(os.name == "nt", reason="requires POSIX signals")
def test_a_long_computation_can_be_interrupted():
    start = time.perf_counter()
    expected = derive_key()
    uninterrupted = time.perf_counter() - start
    assert interruptible(derive_key) == expected
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.1 * uninterrupted, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.perf_counter()
    try:
        with pytest.raises(KeyboardInterrupt):
            interruptible(derive_key)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert time.perf_counter() - start < 0.7 * uninterrupted


def test_errors_of_an_interruptible_computation_are_raised():
    with pytest.raises(ZeroDivisionError):
        interruptible(divmod, 1, 0)

"""Parallel execution of the parts of an experiment, with one thread per process."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from functools import cache
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

from . import results
from .experiment import Settings


class Part(NamedTuple):
    """A call ``compute(settings, *arguments)`` whose result is cached under ``name``."""

    name: str
    compute: Callable[..., Any]
    arguments: tuple[Any, ...]


def run(title: str, parts: Sequence[Part], settings: Settings) -> list[Any]:
    """Return the results of all parts in order; results of an earlier run are read from disk."""
    done = dict(_show_progress(title, len(parts), _run_parts(parts, settings)))
    return [done[i] for i in range(len(parts))]


def _run_parts(parts: Sequence[Part], settings: Settings) -> Iterator[tuple[int, Any]]:
    """Yield the index and result of each part as it finishes."""
    if settings.jobs == 1:
        yield from ((i, _run_part(part, settings)) for i, part in enumerate(parts))
        return
    pool = _pool(settings.jobs)
    indices: dict[Future[Any], int] = {
        pool.submit(_run_part, part, settings): i for i, part in enumerate(parts)
    }
    try:
        yield from ((indices[future], future.result()) for future in as_completed(indices))
    finally:
        for future in indices:
            future.cancel()


def _run_part(part: Part, settings: Settings) -> Any:
    path = settings.part(part.name)
    with threadpool_limits(1):
        return results.load_or_compute(
            path, settings.key, lambda: part.compute(settings, *part.arguments)
        )


@cache
def _pool(jobs: int) -> ProcessPoolExecutor:
    """Return the process pool, which all experiments share so that it stays warmed up."""
    return ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_exit_with_parent)


def _exit_with_parent() -> None:
    """Start a thread that ends this worker when its parent process is killed."""
    Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _show_progress(
    title: str, total: int, items: Iterable[tuple[int, Any]]
) -> Iterator[tuple[int, Any]]:
    """Print a progress bar with the remaining time to stderr, in logs only every 30 seconds."""
    on_screen = sys.stderr.isatty()
    start = printed = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - printed < (0.2 if on_screen else 30) and (done < total or now - start < 30):
            continue
        printed = now
        bar = "#" * (20 * done // total)
        left = (now - start) / done * (total - done)
        line = f"{title} [{bar:<20}] {done} of {total}, {left:,.0f} s left"
        end = "\r" if on_screen and done < total else "\n"
        print(f"{line:<79}", end=end, file=sys.stderr, flush=True)

"""Parts of an experiment over processes of one thread each; finished parts are kept."""

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
from .settings import Settings


class Part(NamedTuple):
    """A piece of work: ``make(settings, *arguments)``, whose numbers are kept under ``name``."""

    name: str
    make: Callable[..., Any]
    arguments: tuple[Any, ...]


def run(title: str, parts: Sequence[Part], settings: Settings) -> list[Any]:
    """The numbers of all parts, in their order; those of an earlier run are read."""
    done = dict(_progress(title, len(parts), _finished(parts, settings)))
    return [done[i] for i in range(len(parts))]


def _finished(parts: Sequence[Part], settings: Settings) -> Iterator[tuple[int, Any]]:
    """Parts as they come, by their place."""
    if settings.jobs == 1:
        yield from ((i, _kept(part, settings)) for i, part in enumerate(parts))
        return
    pool = _pool(settings.jobs)
    places: dict[Future[Any], int] = {
        pool.submit(_kept, part, settings): i for i, part in enumerate(parts)
    }
    try:
        yield from ((places[future], future.result()) for future in as_completed(places))
    finally:
        for future in places:
            future.cancel()


def _kept(part: Part, settings: Settings) -> Any:
    path = settings.part(part.name)
    with threadpool_limits(1):
        return results.kept(path, settings.key, lambda: part.make(settings, *part.arguments))


@cache
def _pool(jobs: int) -> ProcessPoolExecutor:
    """One pool for all experiments, so that its processes are warm."""
    return ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    """A killed run leaves no process behind."""
    Thread(target=_wait_for_end, daemon=True).start()


def _wait_for_end() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _progress(
    title: str, total: int, items: Iterable[tuple[int, Any]]
) -> Iterator[tuple[int, Any]]:
    """A bar on standard error, with the time left; in a log a line every half minute."""
    on_screen = sys.stderr.isatty()
    start = said = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - said < (0.2 if on_screen else 30) and (done < total or now - start < 30):
            continue
        said = now
        bar = "#" * (20 * done // total)
        left = (now - start) / done * (total - done)
        line = f"{title} [{bar:<20}] {done} of {total}, {left:,.0f} s left"
        end = "\r" if on_screen and done < total else "\n"
        print(f"{line:<79}", end=end, file=sys.stderr, flush=True)

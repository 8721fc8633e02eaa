"""Reading ahead in a thread, so that reading and computing overlap."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterable
from typing import Any, TypeVar

T = TypeVar("T")

_DEPTH = 2
_END = object()


def read_ahead(items: Iterable[T], depth: int = _DEPTH) -> Generator[T]:
    """The same items, drawn by a thread: ``depth`` of them wait, and one more is in its hand.

    An error of the thread is raised here, in its turn. However the generator ends, the thread has
    ended before.
    """
    drawn: queue.Queue[Any] = queue.Queue(depth)
    stopped = threading.Event()
    thread = threading.Thread(target=_draw, args=(items, drawn, stopped), daemon=True)
    thread.start()
    try:
        while True:
            item, error = drawn.get()
            if error is not None:
                raise error
            if item is _END:
                return
            yield item
    finally:
        stopped.set()
        while thread.is_alive():  # it may wait for a place
            _empty(drawn)
            thread.join(0.05)


def _draw(items: Iterable[Any], drawn: queue.Queue[Any], stopped: threading.Event) -> None:
    try:
        for item in items:
            drawn.put((item, None))
            if stopped.is_set():
                return
        drawn.put((_END, None))
    except BaseException as error:  # it is raised where the items are used
        drawn.put((None, error))


def _empty(drawn: queue.Queue[Any]) -> None:
    try:
        while True:
            drawn.get_nowait()
    except queue.Empty:
        return

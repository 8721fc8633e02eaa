"""Who is told how far a pass is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .. import _validation as check
from .._core.progress import ProgressLine
from ..data import Source

Progress = bool | Callable[[int, int], object] | None


@contextmanager
def shown(
    progress: Progress, source: Source, name: str, before: int = 0
) -> Iterator[Callable[[int, int], object]]:
    """What to call with rows and centers so far."""
    if callable(progress):
        yield progress
        return
    if progress is not None:
        check.boolean("progress", progress)
    if progress or (progress is None and sys.stderr.isatty()):
        line = ProgressLine(source.n_rows, name, before)
        try:
            yield line
        finally:
            line.end()
    else:
        yield lambda rows, n_centers: None

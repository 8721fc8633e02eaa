"""Who is told how far a pass is."""

from __future__ import annotations

import sys
from collections.abc import Callable

from .. import _validation as check
from .._core.progress import ProgressLine
from ..sources import Source

Progress = bool | Callable[[int, int], object] | None


def shown(
    progress: Progress, source: Source, name: str, before: int = 0
) -> Callable[[int, int], object]:
    """What to call with rows and centers so far."""
    if callable(progress):
        return progress
    if progress is not None:
        check.boolean("progress", progress)
    if progress or (progress is None and sys.stderr.isatty()):
        return ProgressLine(source.n_rows, name, before)
    return lambda rows, n_centers: None

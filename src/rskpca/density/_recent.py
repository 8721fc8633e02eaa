"""The rows of a window, in segments that are never modified."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.parallel import slices
from ._base import Array

SEGMENT = 1024


@dataclass(frozen=True, eq=False)
class WindowRows:
    """Rows with their weights and centers.

    A center is identified by the number of the row that opened it (``homes``); ``squared`` contains
    the squared distances between rows and centers.
    """

    X: Array
    weights: Array
    homes: NDArray[np.int64]
    squared: Array

    def __post_init__(self) -> None:
        shape = self.X.shape[:1]
        if not self.weights.shape == self.homes.shape == self.squared.shape == shape:
            raise ValueError("X, weights, homes and squared must have the same number of rows.")

    def __len__(self) -> int:
        return len(self.weights)

    def part(self, some: slice | NDArray[np.bool_]) -> WindowRows:
        """Return the selected rows; a slice returns views."""
        return WindowRows(*(getattr(self, f.name)[some] for f in fields(self)))


Segments = tuple[WindowRows, ...]


def concatenate(segments: Segments) -> WindowRows:
    """Return all rows in one segment."""
    columns: list[Any] = [column(segments, f.name) for f in fields(WindowRows)]
    return WindowRows(*columns)


def column(segments: Segments, name: str) -> Array:
    """Return one column of all rows."""
    return np.concatenate([getattr(segment, name) for segment in segments])


def append(segments: Segments, rows: WindowRows) -> Segments:
    """Append copies of the rows to the segments, first filling up a short last segment."""
    if segments and len(segments[-1]) + len(rows) <= SEGMENT:
        return (*segments[:-1], concatenate((segments[-1], rows)))
    parts = [concatenate((rows.part(some),)) for some in slices(0, len(rows), SEGMENT)]
    return (*segments, *parts)


def split(segments: Segments, n: int) -> tuple[Segments, Segments]:
    """Return the first ``n`` rows and the remaining rows."""
    first: list[WindowRows] = []
    for i, segment in enumerate(segments):
        if n < len(segment):
            cut = (segment.part(slice(0, n)),) if n else ()
            return (*first, *cut), (segment.part(slice(n, None)), *segments[i + 1 :])
        first.append(segment)
        n -= len(segment)
    return segments, ()

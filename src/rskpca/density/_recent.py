"""The rows of a window, in blocks that are never written to."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from .._core.parallel import slices
from ._base import Array

BLOCK = 1024


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with their weights, and the center that each was given to.

    ``homes`` are the numbers of the rows that opened the centers, ``squared`` the squared
    distances from them.
    """

    X: Array
    weights: Array
    homes: NDArray[np.int64]
    squared: Array

    def __len__(self) -> int:
        return len(self.weights)

    def part(self, some: slice | NDArray[np.bool_]) -> Rows:
        """Some of them; views of a slice."""
        return Rows(*(getattr(self, f.name)[some] for f in fields(self)))


Blocks = tuple[Rows, ...]


def joined(blocks: Blocks) -> Rows:
    """All rows in one."""
    columns = [[getattr(block, f.name) for block in blocks] for f in fields(Rows)]
    return Rows(*(np.concatenate(column) for column in columns))


def column(blocks: Blocks, name: str) -> Array:
    """One column of all rows."""
    return np.concatenate([getattr(block, name) for block in blocks])


def appended(blocks: Blocks, rows: Rows) -> Blocks:
    """The blocks and copies of these rows; a short last block is filled up."""
    if blocks and len(blocks[-1]) + len(rows) <= BLOCK:
        return (*blocks[:-1], joined((blocks[-1], rows)))
    parts = [joined((rows.part(some),)) for some in slices(0, len(rows), BLOCK)]
    return (*blocks, *parts)


def split(blocks: Blocks, n: int) -> tuple[Blocks, Blocks]:
    """The first ``n`` rows, and the others."""
    first: list[Rows] = []
    for i, block in enumerate(blocks):
        if n < len(block):
            cut = (block.part(slice(0, n)),) if n else ()
            return (*first, *cut), (block.part(slice(n, None)), *blocks[i + 1 :])
        first.append(block)
        n -= len(block)
    return blocks, ()

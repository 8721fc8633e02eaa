"""Rows in which nothing is missing, of a table in which something may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._table import Batch, Picked, Table, dropped


class Whole(Table):
    """A table without its rows that lack a number, or hold one that is not finite.

    Its rows are numbered as if the others were not there; so what reads it gets what it would
    get from a file without them. How many are left out is known after a pass.
    """

    n_rows = None

    def __init__(self, table: Table) -> None:
        self.table, self.where, self.fields = table, table.where, table.fields
        self.again, self.ids_are_text = table.again, table.ids_are_text
        self.n_skipped: int | None = None

    def batches(self, picked: Picked, start: int, size: int) -> Iterator[Batch]:
        """What is left of the table's own; rows before the start are read and dropped."""
        return dropped(self._left(picked, size), start)

    def _left(self, picked: Picked, size: int) -> Iterator[Batch]:
        skipped = 0
        for batch in self.table.batches(picked, 0, size):
            whole = _is_whole(batch, picked)
            skipped += len(batch) - int(np.count_nonzero(whole))
            yield batch if whole.all() else batch.at(np.flatnonzero(whole))
        self.n_skipped = skipped

    def counting(self, picked: Picked) -> Picked:
        """All numbers: each may be the missing one."""
        return Picked(picked.features, weight=picked.weight)

    def arrow_type(self, j: int) -> Any:
        """As in the table."""
        return self.table.arrow_type(j)

    def check(self, picked: Picked) -> None:
        """As of the table."""
        self.table.check(picked)

    def identity(self) -> Any:
        """Not that of the table: other rows have the same numbers."""
        return ["whole", self.table.identity()]


def _is_whole(batch: Batch, picked: Picked) -> NDArray[np.bool_]:
    """Which rows lack none of their numbers; what is carried through may be missing."""
    found = np.ones(len(batch), dtype=bool)
    for k, (_, number) in enumerate(picked.read):
        if number:
            found &= np.isfinite(batch.column(k))
    return found

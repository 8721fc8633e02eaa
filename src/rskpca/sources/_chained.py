"""Tables one after the other: the parts of a folder, the items of an iterator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ._table import Batch, Field, Picked, Rows, Table, dropped, kept_dtype


class Parts(Table):
    """The files of a folder, in the order of their names."""

    def __init__(self, tables: Sequence[Table], where: str) -> None:
        self.tables, self.where = tables, where
        self.fields = tables[0].fields
        for table in tables[1:]:
            _check_alike(table, self.fields, tables[0].where)
        sizes = [table.n_rows for table in tables]
        self.n_rows = None if None in sizes else sum(sizes)  # type: ignore[arg-type]

    def batches(self, picked: Picked, start: int, size: int) -> Iterator[Batch]:
        """Of one part after the other."""
        return _chained(self.tables, picked, start, size)

    def take(self, picked: Picked, rows: Rows, size: int) -> Iterator[Batch]:
        """From the parts that hold some of the rows."""
        if self.n_rows is None:
            yield from super().take(picked, rows, size)
            return
        ends = np.cumsum([table.n_rows for table in self.tables])
        for table, end, inside in zip(
            self.tables, ends, np.split(rows, np.searchsorted(rows, ends[:-1])), strict=True
        ):
            if len(inside):
                yield from table.take(picked, inside - (end - table.n_rows), size)

    def identity(self) -> Any:
        """Of all parts."""
        return [table.identity() for table in self.tables]


class Iterated(Table):
    """Items of an iterator, each a table in memory.

    ``make`` gives an iterator over the items, each time a new one unless ``again`` is False;
    ``as_table`` makes a table of an item.
    """

    n_rows = None

    def __init__(
        self,
        make: Callable[[], Iterable[Any]],
        as_table: Callable[[Any, str], Table],
        *,
        again: bool,
    ) -> None:
        self.where, self.again = "the iterator", again
        self._make, self._as_table = make, as_table
        self._items: Iterator[Any] | None = iter(make())
        first = next(self._items, None)
        if first is None:
            raise ValueError("the iterator is empty: it yields no block of rows.")
        table = self._table(0, first)
        self.fields, self._identity = table.fields, table.identity()
        self._items = None if again else chain([first], self._items)

    def _table(self, i: int, item: Any) -> Table:
        return self._as_table(item, f"block {i} of the iterator")

    def _tables(self) -> Iterator[Table]:
        """All items as tables; an error where one differs from the first."""
        items = iter(self._make()) if self.again else self._items
        if items is None:
            raise ValueError(
                "the iterator was read once and is used up; to read it again give a function "
                "that makes it, such as lambda: blocks()."
            )
        self._items = None
        for i, item in enumerate(items):
            table = self._table(i, item)
            _check_alike(table, self.fields, "block 0")
            yield table

    def batches(self, picked: Picked, start: int, size: int) -> Iterator[Batch]:
        """Of one item after the other; rows before the start are drawn and dropped."""
        return _chained(self._tables(), picked, start, size)

    def identity(self) -> Any:
        """Of the first item: nothing else is known."""
        return self._identity


def _chained(tables: Iterable[Table], picked: Picked, start: int, size: int) -> Iterator[Batch]:
    """The batches of all tables, without the first ``start`` rows."""
    for table in tables:
        if table.n_rows is None:
            for batch in table.batches(picked, 0, size):
                yield from dropped([batch], start)
                start = max(start - len(batch), 0)
        else:
            yield from table.batches(picked, start, size)
            start = max(start - table.n_rows, 0)


def _check_alike(table: Table, fields: Sequence[Field], first: str) -> None:
    if len(table.fields) != len(fields):
        raise ValueError(
            f"{table.where} has {len(table.fields)} columns, but {first} has {len(fields)}; all "
            "parts must have the same columns."
        )
    for j, (own, other) in enumerate(zip(table.fields, fields, strict=True)):
        if own.name != other.name:
            raise ValueError(
                f"{table.where} has a column {own.name!r} where {first} has {other.name!r}; all "
                "parts must have the same columns."
            )
        if kept_dtype(own.dtype) != kept_dtype(other.dtype):
            name = j if own.name is None else repr(own.name)
            raise ValueError(
                f"column {name} of {table.where} is kept as {kept_dtype(own.dtype)}, but that of "
                f"{first} as {kept_dtype(other.dtype)}; convert one of them."
            )

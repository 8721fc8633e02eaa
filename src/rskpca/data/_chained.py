"""Tables one after the other: the parts of a folder, the items of an iterator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from inspect import isgenerator
from itertools import chain
from typing import Any

import numpy as np

from ._columns import label
from ._table import Batch, Field, Picked, Rows, Table, dropped, kept_dtype, promoted


class Parts(Table):
    """The files of a folder, in the order of their names."""

    def __init__(self, tables: Sequence[Table], where: str) -> None:
        self.tables, self.where = tables, where
        for table in tables[1:]:
            _check_names(table, tables[0].fields, tables[0].where)
        columns = zip(*(table.fields for table in tables), strict=True)
        self.fields = tuple(_merged(fields) for fields in columns)
        self.ids_are_text = tables[0].ids_are_text
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

    def check(self, picked: Picked) -> None:
        """The parts keep each column alike, whatever those keep that are not picked."""
        for j in _compared(self, picked):
            kept = [table for table in self.tables if not table.fields[j].empty]
            for table in kept[1:]:
                _check_kind(table, j, kept[0].fields[j], kept[0].where)

    def arrow_type(self, j: int) -> Any:
        """Of numbers one that holds all; else that of the first part with some value."""
        if self.fields[j].dtype is not None and not self.ids_are_text:
            return super().arrow_type(j)
        kept = [table for table in self.tables if not table.fields[j].empty]
        return (kept or self.tables)[0].arrow_type(j)

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
        self._drawn: Iterator[Any] = iter(make())
        first = next(self._drawn, None)
        if first is None:
            raise ValueError("the iterator is empty: it yields no block of rows.")
        self._first = self._table(0, first)
        self.fields, self._identity = self._first.fields, self._first.identity()
        self._items = None if again else chain([first], self._drawn)
        if again and isgenerator(self._drawn):
            self._drawn.close()  # of what it has open

    def _table(self, i: int, item: Any) -> Table:
        return self._as_table(item, f"block {i} of the iterator")

    def _made(self) -> Iterator[Any]:
        """The items from the first on, from an iterator of their own."""
        items = iter(self._make())
        first = None if items is self._drawn else next(items, None)
        if first is None or self._table(0, first).identity() != self._identity:
            raise ValueError(
                "the function that makes the iterator does not begin anew each time: rows would "
                "be lost. Let it make a new one, or give the iterator itself, to be read once."
            )
        return chain([first], items)

    def _left(self) -> Iterator[Any]:
        """The items of what can be read only once."""
        if self._items is None:
            raise ValueError(
                "the iterator was read once and is used up; to read it again give a function "
                "that makes it, such as lambda: blocks()."
            )
        items, self._items = self._items, None
        return items

    def _tables(self, picked: Picked) -> Iterator[Table]:
        """All items as tables; an error where one differs from the first."""
        for i, item in enumerate(self._made() if self.again else self._left()):
            table = self._table(i, item)
            _check_names(table, self.fields, "block 0")
            for j in _compared(self, picked):
                _check_kind(table, j, self.fields[j], "block 0")
            _check_promoted(table, self.fields, picked)
            yield table

    def batches(self, picked: Picked, start: int, size: int) -> Iterator[Batch]:
        """Of one item after the other; rows before the start are drawn and dropped."""
        return _chained(self._tables(picked), picked, start, size)

    def arrow_type(self, j: int) -> Any:
        """That of the first item."""
        return self._first.arrow_type(j)

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


def _merged(fields: Sequence[Field]) -> Field:
    """A column of all parts: its numbers are promoted as numpy does, and nothing fits anything."""
    kept = [field for field in fields if not field.empty]
    if not kept or any(field.dtype is None for field in kept):
        return fields[0] if not kept else kept[0]
    together = np.result_type(*[field.dtype for field in kept])
    return kept[0]._replace(dtype=together)


def _check_names(table: Table, fields: Sequence[Field], first: str) -> None:
    if len(table.fields) != len(fields):
        raise ValueError(
            f"{table.where} has {len(table.fields)} columns, but {first} has {len(fields)}; all "
            "parts must have the same columns."
        )
    for own, other in zip(table.fields, fields, strict=True):
        if own.name != other.name:
            raise ValueError(
                f"{table.where} has a column {own.name!r} where {first} has {other.name!r}; all "
                "parts must have the same columns."
            )


def _compared(table: Table, picked: Picked) -> Sequence[int]:
    """Columns that must be kept alike in all parts."""
    if not table.ids_are_text:
        return picked.all
    return [j for j, number in picked.read if number]


def _check_kind(table: Table, j: int, other: Field, first: str) -> None:
    own = table.fields[j]
    if not (own.empty or other.empty) and kept_dtype(own.dtype) != kept_dtype(other.dtype):
        raise ValueError(
            f"column {label(table.fields, j)} of {table.where} is kept as "
            f"{kept_dtype(own.dtype)}, but that of {first} as {kept_dtype(other.dtype)}; convert "
            "one of them."
        )


def _check_promoted(table: Table, fields: Sequence[Field], picked: Picked) -> None:
    """The features of a later item do not need more digits than those of the first."""
    own, other = (promoted(of[j] for j in picked.features) for of in (table.fields, fields))
    if own != other:
        raise ValueError(
            f"the features of {table.where} are kept as {own}, but those of block 0 as {other}; "
            "convert one of them."
        )

"""Tables built from other tables: folders, iterators and tables with rows skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import isgenerator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._ids import TypeInference
from ._table import (
    Batch,
    Field,
    Rows,
    Selection,
    Table,
    column_label,
    feature_dtype,
    skip_rows,
)


class _Reordered(Table):
    """Selected columns of a table, in a given order."""

    def __init__(self, table: Table, positions: Sequence[int]) -> None:
        self.table, self._positions = table, positions
        self.name, self.n_rows, self.ids_are_text = table.name, table.n_rows, table.ids_are_text
        self.fields = tuple(table.fields[j] for j in positions)

    def batches(self, selection: Selection, start: int, size: int) -> Iterator[Batch]:
        return self.table.batches(self._original(selection), start, size)

    def take(self, selection: Selection, rows: Rows, size: int) -> Iterator[Batch]:
        return self.table.take(self._original(selection), rows, size)

    def infer_types(self, columns: Mapping[int, TypeInference]) -> None:
        self.table.infer_types({self._positions[j]: column for j, column in columns.items()})

    def identity(self) -> Any:
        return self.table.identity()

    def _original(self, selection: Selection) -> Selection:
        features, ids = (tuple(self._positions[j] for j in part) for part in selection[:2])
        weight = None if selection.weight is None else self._positions[selection.weight]
        return Selection(features, ids, weight)


def _align(files: Sequence[Table]) -> tuple[list[Table], tuple[str, ...]]:
    """Return the files with only their common columns, and the names of the other columns."""
    keys = [[_key(file, j) for j in range(len(file.fields))] for file in files]
    common = [key for key in keys[0] if all(key in others for others in keys)]
    other_keys = dict.fromkeys(key for own in keys for key in own if key not in common)
    unnamed = [key for key in other_keys if not isinstance(key, str)]
    if unnamed or not common:
        for file in files[1:]:
            check_names(file, files[0].fields, files[0].name)
    aligned: list[Table] = []
    for file, own in zip(files, keys, strict=True):
        same = own == common
        aligned.append(file if same else _Reordered(file, [own.index(key) for key in common]))
    return aligned, tuple(map(str, other_keys))


def _key(file: Table, j: int) -> Any:
    """Return the name of a column, or its position if it is unnamed."""
    name = file.fields[j].name
    return j if name is None else name


class Folder(Table):
    """The concatenated files of a folder, which need to share only some of their columns."""

    def __init__(self, files: Sequence[Table], name: str) -> None:
        self.original, self.name = files, name
        self.files, self.partial = _align(files)
        files = self.files
        columns = zip(*(file.fields for file in files), strict=True)
        self.fields = tuple(_common_field(fields) for fields in columns)
        self.ids_are_text = files[0].ids_are_text
        sizes = [file.n_rows for file in files if file.n_rows is not None]
        self.n_rows = sum(sizes) if len(sizes) == len(files) else None

    def batches(self, selection: Selection, start: int, size: int) -> Iterator[Batch]:
        return _chain(self.files, selection, start, size)

    def take(self, selection: Selection, rows: Rows, size: int) -> Iterator[Batch]:
        """Yield the given rows, reading only the files that contain them."""
        if self.n_rows is None:
            yield from super().take(selection, rows, size)
            return
        sizes = [file.n_rows for file in self.files]
        starts = np.cumsum([0, *sizes[:-1]])
        parts = np.split(rows, np.searchsorted(rows, starts[1:]))
        for file, start, part in zip(self.files, starts, parts, strict=True):
            if len(part):
                yield from file.take(selection, part - start, size)

    def check_same_columns(self) -> None:
        """Raise an error unless all files have the same columns, in any order."""
        first = self.original[0]
        for file in self.original[1:]:
            check_names(file, first.fields, first.name)

    def check_parts(self, selection: Selection) -> None:
        """Raise an error unless each selected column has the same kind of values in all files."""
        for j in _columns_to_compare(self, selection):
            files = [file for file in self.files if not file.fields[j].empty]
            for file in files[1:]:
                _check_kind(file, j, files[0].fields[j], files[0].name)

    def infer_types(self, columns: Mapping[int, TypeInference]) -> None:
        for file in self.files:
            file.infer_types(columns)

    def identity(self) -> Any:
        return [file.identity() for file in self.files]


class IteratorTable(Table):
    """A table that concatenates the arrays or data frames produced by an iterator.

    ``iterate`` returns a new iterator on each call, unless ``again`` is False. ``as_table``
    converts an item to a table, given the name to use in error messages.
    """

    name = "the iterator"
    n_rows = None

    def __init__(
        self,
        iterate: Callable[[], Iterable[Any]],
        as_table: Callable[[Any, str], Table],
        *,
        again: bool,
    ) -> None:
        self._iterate, self._as_table, self.again = iterate, as_table, again
        self._first_iterator: Iterator[Any] = iter(iterate())
        item = next(self._first_iterator, None)
        if item is None:
            raise ValueError("the iterator is empty; it must yield at least one block of rows.")
        first = self._table(0, item)
        self.fields, self._identity = first.fields, first.identity()
        self._unread = None if again else chain([item], self._first_iterator)
        if again and isgenerator(self._first_iterator):
            self._first_iterator.close()  # lets a generator close its files

    def batches(self, selection: Selection, start: int, size: int) -> Iterator[Batch]:
        return _chain(self._tables(selection), selection, start, size)

    def identity(self) -> Any:
        """Return the identity of the first item, since later items are not known yet."""
        return self._identity

    def _table(self, i: int, item: Any) -> Table:
        return self._as_table(item, f"block {i} of the iterator")

    def _tables(self, selection: Selection) -> Iterator[Table]:
        """Yield the items as tables, checking that they are compatible with the first one."""
        for i, item in enumerate(self._new_iterator() if self.again else self._only_iterator()):
            table = self._table(i, item)
            check_names(table, self.fields, "block 0")
            for j in _columns_to_compare(self, selection):
                _check_kind(table, j, self.fields[j], "block 0")
            _check_dtype(table, self.fields, selection)
            yield table

    def _new_iterator(self) -> Iterator[Any]:
        items = iter(self._iterate())
        item = None if items is self._first_iterator else next(items, None)
        if item is None or self._table(0, item).identity() != self._identity:
            raise ValueError(
                "the function returned an iterator that was already used, so rows would be lost. "
                "Return a new iterator from each call, or pass the iterator itself to read it "
                "only once."
            )
        return chain([item], items)

    def _only_iterator(self) -> Iterator[Any]:
        if self._unread is None:
            raise ValueError(
                "the iterator is exhausted because it has already been read. To read it again, "
                "pass a function that returns a new iterator, such as lambda: blocks()."
            )
        items, self._unread = self._unread, None
        return items


class CompleteRows(Table):
    """The rows of a table whose features and weight are all finite.

    Rows are numbered as if the skipped rows did not exist. The number of skipped rows is known
    only after a full pass.
    """

    n_rows = None

    def __init__(self, table: Table) -> None:
        self.table, self.name, self.fields = table, table.name, table.fields
        self.partial = table.partial
        self.again, self.ids_are_text = table.again, table.ids_are_text
        self.n_skipped: int | None = None

    def batches(self, selection: Selection, start: int, size: int) -> Iterator[Batch]:
        return skip_rows(self._complete_batches(selection, size), start)

    def _complete_batches(self, selection: Selection, size: int) -> Iterator[Batch]:
        n_skipped = 0
        for batch in self.table.batches(selection, 0, size):
            complete = _is_complete(batch, selection)
            n_skipped += len(batch) - int(np.count_nonzero(complete))
            yield batch if complete.all() else batch.rows(np.flatnonzero(complete))
        self.n_skipped = n_skipped

    def infer_types(self, columns: Mapping[int, TypeInference]) -> None:
        self.table.infer_types(columns)

    def identity(self) -> Any:
        """Return an identity distinct from the wrapped table's, because the row numbers differ."""
        return ["whole", self.table.identity()]


def _is_complete(batch: Batch, selection: Selection) -> NDArray[np.bool_]:
    complete = np.ones(len(batch), dtype=bool)
    for k, (_, numeric) in enumerate(selection.reads):
        if numeric:
            complete &= np.isfinite(batch.column(k))
    return complete


def _chain(tables: Iterable[Table], selection: Selection, start: int, size: int) -> Iterator[Batch]:
    """Yield the batches of all tables, skipping the first ``start`` rows."""
    for table in tables:
        if table.n_rows is None:
            for batch in table.batches(selection, 0, size):
                yield from skip_rows([batch], start)
                start = max(start - len(batch), 0)
        else:
            yield from table.batches(selection, start, size)
            start = max(start - table.n_rows, 0)


def _common_field(fields: Sequence[Field]) -> Field:
    """Combine the fields of one column across tables, promoting numeric dtypes as NumPy does."""
    known = [field for field in fields if not field.empty]
    if not known or any(field.dtype is None for field in known):
        return (known or fields)[0]
    dtype = np.result_type(*[field.dtype for field in known])
    return known[0]._replace(dtype=dtype, id_type=None)


def _columns_to_compare(table: Table, selection: Selection) -> Sequence[int]:
    """Return the selected columns that must have the same kind of values in all tables."""
    return [j for j, numeric in selection.reads if numeric or not table.ids_are_text]


def check_names(table: Table, fields: Sequence[Field], first: str) -> None:
    """Raise an error unless a table has these columns, in this order."""
    if len(table.fields) != len(fields):
        raise ValueError(
            f"{table.name} has {len(table.fields)} columns, but {first} has {len(fields)}; all "
            "files or blocks must have the same columns."
        )
    for field, expected in zip(table.fields, fields, strict=True):
        if field.name != expected.name:
            raise ValueError(
                f"{table.name} has a column {field.name!r} where {first} has {expected.name!r}; "
                "all files or blocks must have the same columns."
            )


def _check_kind(table: Table, j: int, expected: Field, first: str) -> None:
    field = table.fields[j]
    if not (field.empty or expected.empty) and _kind(field) != _kind(expected):
        raise ValueError(
            f"column {column_label(table.fields, j)} contains {_kind(field)} values in "
            f"{table.name}, but {_kind(expected)} values in {first}; convert one of them."
        )


def _kind(field: Field) -> str:
    return "text" if field.dtype is None else str(feature_dtype([field]))


def _check_dtype(table: Table, fields: Sequence[Field], selection: Selection) -> None:
    """Raise an error unless the features have the same common dtype as in the first block."""
    dtype = feature_dtype(table.fields[j] for j in selection.features)
    expected = feature_dtype(fields[j] for j in selection.features)
    if dtype != expected:
        raise ValueError(
            f"the features of {table.name} are {dtype}, but the features of block 0 are "
            f"{expected}; convert one of them."
        )

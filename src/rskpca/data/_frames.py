"""Tables for pandas, polars and pyarrow data frames, and for Parquet and Arrow (Feather) files."""

# We benchmarked pyarrow.dataset and decided against it. Its scanner decodes whole row groups
# (twice the memory and three times the CPU time for one group of 100,000 x 784 values), cannot
# start in the middle of an Arrow file, is half as fast for LZ4 files, and is no faster for CSV.

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._table import (
    Batch,
    Field,
    Rows,
    Selection,
    Table,
    file_errors,
    file_identity,
    pyarrow_for,
    skip_rows,
)

_PARQUET_BUFFER = 1 << 16  # bytes per column; larger buffers are slower with many columns
_STREAM_START = b"\xff\xff\xff\xff"  # start of an Arrow stream; an Arrow file starts with ARROW1


class FrameTable(Table):
    """A data frame in memory, with missing numbers read as NaN."""

    def __init__(self, frame: Any, name: str) -> None:
        self.frame, self.name = frame, name
        self.fields = tuple(self._describe())
        self.n_rows: int = len(frame)

    def batches(self, selection: Selection, start: int, size: int) -> Iterator[Batch]:
        for first in range(start, self.n_rows, size):
            stop = min(first + size, self.n_rows)
            yield self._batch(slice(first, stop), selection, range(first, stop))

    def take(self, selection: Selection, rows: Rows, size: int) -> Iterator[Batch]:
        yield self._batch(rows, selection, rows)

    def _batch(self, rows: slice | Rows, selection: Selection, numbers: Any) -> Batch:
        part = self._part(rows)
        columns = [self._column(part, j, numeric) for j, numeric in selection.reads]
        return Batch(columns, self, numbers)

    @abstractmethod
    def _describe(self) -> Iterator[Field]:
        """Yield one field per column."""

    @abstractmethod
    def _part(self, rows: slice | Rows) -> Any:
        """Return a frame with the selected rows."""

    @staticmethod
    @abstractmethod
    def _column(part: Any, j: int, numeric: bool) -> NDArray[Any]:
        """Return a column as an array, converted to numbers if ``numeric`` is True."""


class _PandasTable(FrameTable):
    def _describe(self) -> Iterator[Field]:
        for j, (name, dtype) in enumerate(self.frame.dtypes.items()):
            if dtype.kind in "fiub":
                yield Field(name, _numpy_dtype(dtype))
            else:
                kind = "dates" if dtype.kind == "M" else "text"
                yield Field(name, None, kind=kind, id_type=partial(_pandas_type, self.frame, j))

    def _part(self, rows: slice | Rows) -> Any:
        return self.frame.iloc[rows]

    @staticmethod
    def _column(part: Any, j: int, numeric: bool) -> NDArray[Any]:
        column = part.iloc[:, j]
        kind = column.dtype.kind
        if isinstance(column.dtype, np.dtype) or kind not in "fiub":
            return column.to_numpy()
        if not column.isna().any():
            return column.to_numpy(dtype=_numpy_dtype(column.dtype))
        if kind == "b" and not numeric:
            return column.to_numpy(dtype=object, na_value=None)
        return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the NumPy dtype of the values in a pandas column."""
    from pandas import SparseDtype

    if isinstance(dtype, np.dtype):
        return dtype
    return np.dtype(dtype.subtype if isinstance(dtype, SparseDtype) else dtype.numpy_dtype)


def _pandas_type(frame: Any, j: int) -> Any:
    """Return the pyarrow type for an id column of a pandas frame."""
    import pyarrow as pa

    column = frame.iloc[:, j]
    try:
        return id_type(pa.Array.from_pandas(column).type)
    except pa.ArrowException as error:
        raise ValueError(
            f"ids: column {column.name!r} of the data frame contains values of several types; "
            f"convert it to text. ({error})"
        ) from error


class _PolarsTable(FrameTable):
    def _describe(self) -> Iterator[Field]:
        for column in self.frame.head(0):
            dtype = column.dtype
            if dtype.is_integer() or dtype.is_float() or str(dtype) == "Boolean":
                yield Field(column.name, column.to_numpy().dtype)
            else:
                kind = "dates" if dtype.is_temporal() else "text"
                as_type = partial(_polars_type, column)
                yield Field(column.name, None, kind=kind, id_type=as_type)

    def _part(self, rows: slice | Rows) -> Any:
        return self.frame[rows]

    @staticmethod
    def _column(part: Any, j: int, numeric: bool) -> NDArray[Any]:
        column = part.to_series(j)
        with_nulls = column.null_count() > 0 and str(column.dtype) == "Boolean"
        return (column.cast(float) if with_nulls and numeric else column).to_numpy()


def _polars_type(column: Any) -> Any:
    """Return the pyarrow type for an id column of a polars frame."""
    return id_type(column.to_arrow().type)


class ArrowTable(FrameTable):
    """A pyarrow table or record batch."""

    def _describe(self) -> Iterator[Field]:
        return arrow_fields(self.frame.schema)

    def _part(self, rows: slice | Rows) -> Any:
        if isinstance(rows, slice):
            return self.frame.slice(rows.start, rows.stop - rows.start)
        return self.frame.take(rows)

    @staticmethod
    def _column(part: Any, j: int, numeric: bool) -> NDArray[Any]:
        return arrow_to_numpy(part.column(j), numeric)


def frame_table(data: Any, name: str = "the data frame") -> FrameTable | None:
    """Wrap a data frame in a table, or return None if ``data`` is not a data frame."""
    pandas, polars, pyarrow = map(sys.modules.get, ("pandas", "polars", "pyarrow"))
    if pandas is not None and isinstance(data, pandas.DataFrame):
        return _PandasTable(data, name)
    if polars is not None and isinstance(data, polars.DataFrame):
        return _PolarsTable(data, name)
    if pyarrow is not None and isinstance(data, pyarrow.Table | pyarrow.RecordBatch):
        return ArrowTable(data, name)
    return None


def arrow_fields(schema: Any) -> Iterator[Field]:
    """Yield the fields of a pyarrow schema, marking pandas index columns listed in its metadata."""
    from pyarrow import types

    index = (schema.pandas_metadata or {}).get("index_columns", [])
    for field in schema:
        dtype = None
        if any(is_(field.type) for is_ in (types.is_integer, types.is_floating, types.is_boolean)):
            dtype = np.dtype(field.type.to_pandas_dtype())
        elif types.is_decimal(field.type):
            dtype = np.dtype(np.float64)
        yield Field(
            field.name,
            dtype,
            is_index=field.name in index,
            empty=types.is_null(field.type),
            kind="dates" if types.is_temporal(field.type) else "text",
            id_type=partial(id_type, field.type),
        )


def id_type(stored: Any) -> Any:
    """Return the pyarrow type for an id column, decoding categories and storing nulls as text."""
    import pyarrow as pa

    if pa.types.is_dictionary(stored):
        return id_type(stored.value_type)
    return pa.string() if pa.types.is_null(stored) else stored


def arrow_to_numpy(column: Any, numeric: bool) -> NDArray[Any]:
    """Convert a pyarrow column to an array, of numbers if ``numeric`` is True."""
    import pyarrow as pa

    if numeric and pa.types.is_null(column.type):
        return np.full(len(column), np.nan)
    if numeric and pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    if numeric and pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    if isinstance(column, pa.ChunkedArray):
        return column.to_numpy()
    return column.to_numpy(zero_copy_only=False)


class ArrowReader(Table):
    """Base class for files read as pyarrow record batches."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, repr(str(path))

    def identity(self) -> Any:
        return file_identity(self.path)

    def _numbered(
        self, record_batches: Iterable[Any], selection: Selection, first: int
    ) -> Iterator[Batch]:
        """Convert record batches to batches, numbering rows from ``first``."""
        for record_batch in record_batches:
            numbers = range(first, first + record_batch.num_rows)
            yield Batch(self._columns(record_batch, selection), self, numbers)
            first = numbers.stop

    def _columns(self, record_batch: Any, selection: Selection) -> list[Any]:
        return [
            arrow_to_numpy(record_batch.column(self.fields[j].name), numeric)
            for j, numeric in selection.reads
        ]


class ParquetFile(ArrowReader):
    """A Parquet file. Row groups before the first requested row are skipped."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self._open() as file:
            self.fields = tuple(arrow_fields(file.schema_arrow))
            groups = range(file.metadata.num_row_groups)
            sizes = [file.metadata.row_group(group).num_rows for group in groups]
        self._starts = np.cumsum([0, *sizes], dtype=np.int64)
        self.n_rows: int = int(self._starts[-1])

    def batches(self, selection: Selection, start: int, size: int) -> Iterator[Batch]:
        if start >= self.n_rows:
            return
        group = int(np.searchsorted(self._starts, start, side="right")) - 1
        first = int(self._starts[group])
        with file_errors(self.name), self._open() as file:
            found = file.iter_batches(
                size,
                row_groups=list(range(group, len(self._starts) - 1)),
                columns=[self.fields[j].name for j in selection.positions],
                use_threads=False,
            )
            yield from skip_rows(self._numbered(found, selection, first), start - first)

    def _open(self) -> Any:
        pa = pyarrow_for("reading a Parquet file")
        import pyarrow.parquet as pq

        try:
            # The default, pre-buffering, would load the compressed bytes of all row groups.
            return pq.ParquetFile(self.path, buffer_size=_PARQUET_BUFFER, pre_buffer=False)
        except pa.ArrowInvalid as error:
            raise ValueError(f"cannot read {self.name} as a Parquet file: {error}") from error


class ArrowFile(ArrowReader):
    """A memory-mapped Arrow (Feather version 2) file, or a stream of record batches in a file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with path.open("rb") as file:
            self._is_stream = file.read(4) == _STREAM_START
        with self._open() as reader:
            self.fields = tuple(arrow_fields(reader.schema))
        self.n_rows = None if self._is_stream else self._count_rows()

    def _count_rows(self) -> int:
        from pyarrow import dataset

        return int(dataset.dataset(self.path, format="ipc").count_rows())

    def batches(self, selection: Selection, start: int, size: int) -> Iterator[Batch]:
        first = 0
        with file_errors(self.name), self._open() as reader:
            for record_batch in self._record_batches(reader):
                skip = min(max(start - first, 0), record_batch.num_rows)
                slices = (
                    record_batch.slice(at, size) for at in range(skip, record_batch.num_rows, size)
                )
                yield from self._numbered(slices, selection, first + skip)
                first += record_batch.num_rows

    def _record_batches(self, reader: Any) -> Iterable[Any]:
        if self._is_stream:
            return reader
        return map(reader.get_batch, range(reader.num_record_batches))

    @contextmanager
    def _open(self) -> Iterator[Any]:
        pa = pyarrow_for("reading an Arrow file")
        with pa.memory_map(str(self.path)) as mapped:
            try:
                reader = (pa.ipc.open_stream if self._is_stream else pa.ipc.open_file)(mapped)
            except pa.ArrowInvalid as error:
                raise ValueError(f"cannot read {self.name} as an Arrow file: {error}") from error
            yield reader

"""Tables for pandas, polars and pyarrow data frames."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._table import Batch, Field, Rows, Selection, Table


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

    def arrow_type(self, j: int) -> Any:
        if self.fields[j].dtype is not None:
            return super().arrow_type(j)
        return id_type(self._stored_type(j))

    def _batch(self, rows: slice | Rows, selection: Selection, numbers: Any) -> Batch:
        part = self._part(rows)
        columns = [self._column(part, j, numeric) for j, numeric in selection.reads]
        return Batch(columns, self.name, numbers)

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

    @abstractmethod
    def _stored_type(self, j: int) -> Any:
        """Return the pyarrow type of a non-numeric column."""


class _PandasTable(FrameTable):
    def _describe(self) -> Iterator[Field]:
        for name, dtype in self.frame.dtypes.items():
            numpy_dtype = _numpy_dtype(dtype) if dtype.kind in "fiub" else None
            yield Field(name, numpy_dtype, kind="dates" if dtype.kind == "M" else "text")

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

    def _stored_type(self, j: int) -> Any:
        import pyarrow as pa

        column = self.frame.iloc[:, j]
        try:
            return pa.Array.from_pandas(column).type
        except pa.ArrowException as error:
            raise ValueError(
                f"ids: column {column.name!r} of the data frame contains values of several types; "
                f"convert it to text. ({error})"
            ) from error


def _numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the NumPy dtype of the values in a pandas column."""
    from pandas import SparseDtype

    if isinstance(dtype, np.dtype):
        return dtype
    return np.dtype(dtype.subtype if isinstance(dtype, SparseDtype) else dtype.numpy_dtype)


class _PolarsTable(FrameTable):
    def _describe(self) -> Iterator[Field]:
        for name, dtype in self.frame.schema.items():
            numeric = dtype.is_integer() or dtype.is_float() or str(dtype) == "Boolean"
            numpy_dtype = self.frame[name].head(0).to_numpy().dtype if numeric else None
            yield Field(name, numpy_dtype, kind="dates" if dtype.is_temporal() else "text")

    def _part(self, rows: slice | Rows) -> Any:
        return self.frame[rows]

    @staticmethod
    def _column(part: Any, j: int, numeric: bool) -> NDArray[Any]:
        column = part.to_series(j)
        with_nulls = column.null_count() > 0 and str(column.dtype) == "Boolean"
        return (column.cast(float) if with_nulls and numeric else column).to_numpy()

    def _stored_type(self, j: int) -> Any:
        return self.frame.to_series(j).head(0).to_arrow().type


class _ArrowTable(FrameTable):
    def _describe(self) -> Iterator[Field]:
        return arrow_fields(self.frame.schema)

    def _part(self, rows: slice | Rows) -> Any:
        if isinstance(rows, slice):
            return self.frame.slice(rows.start, rows.stop - rows.start)
        return self.frame.take(rows)

    @staticmethod
    def _column(part: Any, j: int, numeric: bool) -> NDArray[Any]:
        return arrow_to_numpy(part.column(j), numeric)

    def _stored_type(self, j: int) -> Any:
        return self.frame.schema.field(j).type


def frame_table(data: Any, name: str = "the data frame") -> FrameTable | None:
    """Wrap a data frame in a table, or return None if ``data`` is not a data frame."""
    pandas, polars, pyarrow = map(sys.modules.get, ("pandas", "polars", "pyarrow"))
    if pandas is not None and isinstance(data, pandas.DataFrame):
        return _PandasTable(data, name)
    if polars is not None and isinstance(data, polars.DataFrame):
        return _PolarsTable(data, name)
    if pyarrow is not None and isinstance(data, pyarrow.Table | pyarrow.RecordBatch):
        return _ArrowTable(data, name)
    return None


def arrow_fields(schema: Any) -> Iterator[Field]:
    """Yield the fields of a pyarrow schema, marking pandas index columns listed in its metadata."""
    import pyarrow as pa

    numeric = pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    for field in schema:
        dtype = None
        if any(is_kind(field.type) for is_kind in numeric):
            dtype = np.dtype(field.type.to_pandas_dtype())
        elif pa.types.is_decimal(field.type):
            dtype = np.dtype(np.float64)
        empty, kind = pa.types.is_null(field.type), arrow_kind(field.type)
        yield Field(field.name, dtype, field.name in index, empty, kind)


def arrow_kind(stored: Any) -> str:
    """Describe the values of a non-numeric pyarrow column in one word."""
    import pyarrow as pa

    return "dates" if pa.types.is_temporal(stored) else "text"


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


def id_type(stored: Any) -> Any:
    """Return the pyarrow type for an id column, decoding categories and storing nulls as text."""
    import pyarrow as pa

    if pa.types.is_dictionary(stored):
        return id_type(stored.value_type)
    return pa.string() if pa.types.is_null(stored) else stored

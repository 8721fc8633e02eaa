"""Data frames of pandas, polars and pyarrow: one face for the three."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._table import Batch, Field, Picked, Rows, Table


class _Face(ABC):
    """How to read a frame of some library. Missing numbers become NaN."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    @abstractmethod
    def fields(self) -> Iterator[Field]:
        """Names and dtypes."""

    @abstractmethod
    def part(self, rows: Any) -> Any:
        """A frame of some rows, by slice or by number."""

    @staticmethod
    @abstractmethod
    def column(part: Any, j: int, number: bool) -> NDArray[Any]:
        """The j-th column of a part, to count with or to carry through."""

    @abstractmethod
    def arrow_type(self, j: int) -> Any:
        """The pyarrow type of a column that holds no numbers."""


class _Pandas(_Face):
    def fields(self) -> Iterator[Field]:
        for name, dtype in self.frame.dtypes.items():
            yield Field(name, _numpy_dtype(dtype) if dtype.kind in "fiub" else None)

    def part(self, rows: Any) -> Any:
        return self.frame.iloc[rows]

    @staticmethod
    def column(part: Any, j: int, number: bool) -> NDArray[Any]:
        column = part.iloc[:, j]
        kind = column.dtype.kind
        if isinstance(column.dtype, np.dtype) or kind not in "fiub":
            return column.to_numpy()
        if not column.isna().any():
            return column.to_numpy(dtype=_numpy_dtype(column.dtype))
        if kind == "b" and not number:
            return column.to_numpy(dtype=object, na_value=None)
        return column.to_numpy(dtype=np.float64, na_value=np.nan)

    def arrow_type(self, j: int) -> Any:
        import pyarrow as pa

        column = self.frame.iloc[:, j]
        try:
            return pa.Array.from_pandas(column).type
        except pa.ArrowException as error:
            raise ValueError(
                f"ids: column {column.name!r} of the data frame holds values of several types; "
                f"turn it into text. ({error})"
            ) from error


def _numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """Of Int64 and the like the dtype within, of sparse columns that of a value."""
    return np.dtype(getattr(dtype, "numpy_dtype", getattr(dtype, "subtype", dtype)))


class _Polars(_Face):
    def fields(self) -> Iterator[Field]:
        for name, dtype in self.frame.schema.items():
            number = dtype.is_integer() or dtype.is_float() or str(dtype) == "Boolean"
            nothing = self.frame[name].head(0)
            yield Field(name, nothing.to_numpy().dtype if number else None)

    def part(self, rows: Any) -> Any:
        return self.frame[rows]

    @staticmethod
    def column(part: Any, j: int, number: bool) -> NDArray[Any]:
        column = part.to_series(j)
        missing = column.null_count() > 0 and str(column.dtype) == "Boolean"
        return (column.cast(float) if missing and number else column).to_numpy()

    def arrow_type(self, j: int) -> Any:
        return self.frame.to_series(j).head(0).to_arrow().type


class _Arrow(_Face):
    def fields(self) -> Iterator[Field]:
        return arrow_fields(self.frame.schema)

    def part(self, rows: Any) -> Any:
        if isinstance(rows, slice):
            return self.frame.slice(rows.start, rows.stop - rows.start)
        return self.frame.take(rows)

    @staticmethod
    def column(part: Any, j: int, number: bool) -> NDArray[Any]:
        return arrow_column(part.column(j), number)

    def arrow_type(self, j: int) -> Any:
        return self.frame.schema.field(j).type


def arrow_fields(schema: Any) -> Iterator[Field]:
    """The fields of an Arrow schema; pandas notes in it which of them are its index."""
    import pyarrow as pa

    numeric = pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    for field in schema:
        number = any(is_(field.type) for is_ in numeric)
        dtype = np.dtype(field.type.to_pandas_dtype()) if number else None
        yield Field(field.name, dtype, field.name in index, pa.types.is_null(field.type))


def arrow_column(column: Any, number: bool) -> NDArray[Any]:
    """A column of a table or of a record batch, to count with or to carry through."""
    import pyarrow as pa

    if number and pa.types.is_null(column.type):
        return np.full(len(column), np.nan)
    if number and pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    chunked = hasattr(column, "chunks")
    return column.to_numpy() if chunked else column.to_numpy(zero_copy_only=False)


def carried_type(kind: Any) -> Any:
    """How a column of some pyarrow type is carried: categories as values, nothing as text."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return carried_type(kind.value_type)
    return pa.string() if pa.types.is_null(kind) else kind


def face_of(data: Any) -> _Face | None:
    """The face of a data frame; None where it is none."""
    if hasattr(data, "iloc") and hasattr(data, "columns"):
        return _Pandas(data)
    if hasattr(data, "get_columns") and hasattr(data, "schema"):
        return _Polars(data)
    if hasattr(data, "schema") and hasattr(data, "num_rows"):
        return _Arrow(data)
    return None


class FrameTable(Table):
    """A data frame in memory."""

    def __init__(self, face: _Face, where: str = "the data frame") -> None:
        self.where, self.face = where, face
        self.fields = tuple(face.fields())
        self.n_rows: int = len(face.frame)

    def batches(self, picked: Picked, start: int, size: int) -> Iterator[Batch]:
        """Slices of rows."""
        for first in range(start, self.n_rows, size):
            stop = min(first + size, self.n_rows)
            yield self._batch(slice(first, stop), picked, range(first, stop))

    def take(self, picked: Picked, rows: Rows, size: int) -> Iterator[Batch]:
        """The rows at once."""
        yield self._batch(rows, picked, rows)

    def _batch(self, rows: Any, picked: Picked, numbers: Any) -> Batch:
        part = self.face.part(rows)
        columns = [self.face.column(part, j, number) for j, number in picked.read]
        return Batch(columns, self.where, numbers)

    def arrow_type(self, j: int) -> Any:
        """Of numbers that of their dtype; else as the frame's library tells it."""
        if self.fields[j].dtype is not None:
            return super().arrow_type(j)
        return carried_type(self.face.arrow_type(j))

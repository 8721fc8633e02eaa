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
    def column(part: Any, j: int) -> NDArray[Any]:
        """The j-th column of a part."""


class _Pandas(_Face):
    def fields(self) -> Iterator[Field]:
        for name, dtype in self.frame.dtypes.items():
            numpy_dtype = getattr(dtype, "numpy_dtype", dtype)  # of Int64 and the like
            yield Field(name, numpy_dtype if dtype.kind in "fiub" else None)

    def part(self, rows: Any) -> Any:
        return self.frame.iloc[rows]

    @staticmethod
    def column(part: Any, j: int) -> NDArray[Any]:
        column = part.iloc[:, j]
        if isinstance(column.dtype, np.dtype) or column.dtype.kind not in "fiub":
            return column.to_numpy()
        if column.isna().any():
            return column.to_numpy(dtype=np.float64, na_value=np.nan)
        return column.to_numpy(dtype=column.dtype.numpy_dtype)


class _Polars(_Face):
    def fields(self) -> Iterator[Field]:
        for name, dtype in self.frame.schema.items():
            number = dtype.is_integer() or dtype.is_float() or str(dtype) == "Boolean"
            nothing = self.frame[name].head(0)
            yield Field(name, nothing.to_numpy().dtype if number else None)

    def part(self, rows: Any) -> Any:
        return self.frame[rows]

    @staticmethod
    def column(part: Any, j: int) -> NDArray[Any]:
        column = part.to_series(j)
        missing = column.null_count() > 0 and str(column.dtype) == "Boolean"
        return (column.cast(float) if missing else column).to_numpy()


class _Arrow(_Face):
    def fields(self) -> Iterator[Field]:
        return arrow_fields(self.frame.schema)

    def part(self, rows: Any) -> Any:
        if isinstance(rows, slice):
            return self.frame.slice(rows.start, rows.stop - rows.start)
        return self.frame.take(rows)

    @staticmethod
    def column(part: Any, j: int) -> NDArray[Any]:
        return arrow_column(part.column(j))


def arrow_fields(schema: Any) -> Iterator[Field]:
    """The fields of an Arrow schema."""
    import pyarrow as pa

    numeric = pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean
    for field in schema:
        number = any(is_(field.type) for is_ in numeric)
        yield Field(field.name, np.dtype(field.type.to_pandas_dtype()) if number else None)


def arrow_column(column: Any) -> NDArray[Any]:
    """A column of a table or of a record batch."""
    import pyarrow as pa

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    chunked = hasattr(column, "chunks")
    return column.to_numpy() if chunked else column.to_numpy(zero_copy_only=False)


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
        self.n_rows: int = getattr(face.frame, "num_rows", None) or len(face.frame)

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
        return Batch([self.face.column(part, j) for j in picked.all], self.where, numbers)

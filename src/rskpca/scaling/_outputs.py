"""Output files that are written block by block and appear only when they are complete."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.atomic import atomic_write
from ..data import Source, pyarrow_for
from ..data.source import id_columns

Columns = Mapping[Any, NDArray[Any]]
Empty = NDArray[np.bool_] | None  # True for rows without values
Append = Callable[[Columns, NDArray[Any], Empty], None]


class _Npy:
    """A .npy file, whose header is rewritten at the end with the number of rows."""

    def __init__(self, path: Path, names: Sequence[str], source: Source) -> None:
        self.file = path.open("wb")
        self.n_rows, self.shape, self.dtype = 0, (len(names),), np.dtype(np.float64)

    def write(self, ids: Columns, values: NDArray[Any], empty: Empty) -> None:
        if empty is not None:
            values = _with_nan(values, empty)
        if self.n_rows == 0:
            self.shape, self.dtype = values.shape[1:], values.dtype
            self._write_header()
        self.file.write(np.ascontiguousarray(values).data)
        self.n_rows += len(values)

    def _write_header(self) -> None:
        """Write a header whose length does not depend on the number of rows.

        NumPy pads the header to make room for more digits.
        """
        header = {
            "descr": np.lib.format.dtype_to_descr(self.dtype),
            "fortran_order": False,
            "shape": (self.n_rows, *self.shape),
        }
        np.lib.format.write_array_header_1_0(self.file, header)

    def close(self) -> None:
        with self.file:
            self.file.seek(0)
            self._write_header()


class _Arrow:
    """A .parquet or .csv file with the ids, in their own types, and one column per name."""

    def __init__(self, path: Path, names: Sequence[str], source: Source) -> None:
        self.path, self.names, self.types = path, names, id_columns(source)
        self.writer: Any = None

    def write(self, ids: Columns, values: NDArray[Any], empty: Empty) -> None:
        import pyarrow as pa

        columns = np.ascontiguousarray(values.reshape(len(values), -1).T)
        typed_ids = zip(ids.values(), self.types, strict=True)
        arrays = [kind.to_arrow(column) for column, kind in typed_ids]
        arrays += [pa.array(column, mask=empty) for column in columns]
        table = pa.table(arrays, names=[*map(str, ids), *self.names])
        if self.writer is None:
            self.writer = _arrow_writer(self.path, table.schema)
        self.writer.write_table(table)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


def _arrow_writer(path: Path, schema: Any) -> Any:
    if path.suffix.lower() == ".csv":
        from pyarrow.csv import CSVWriter

        return CSVWriter(path, schema)
    from pyarrow.parquet import ParquetWriter

    return ParquetWriter(path, schema)


def _with_nan(values: NDArray[Any], empty: NDArray[np.bool_]) -> NDArray[Any]:
    if values.dtype.kind != "f":
        raise ValueError(
            "rows with missing values have no label, which a .npy file of integers cannot "
            "represent; write a .parquet or .csv file instead."
        )
    shape = (-1, *[1] * (values.ndim - 1))
    return np.where(empty.reshape(shape), np.nan, values).astype(values.dtype, copy=False)


_Output = _Npy | _Arrow
_KINDS: dict[str, type[_Output]] = {".npy": _Npy, ".parquet": _Arrow, ".csv": _Arrow}


@contextmanager
def write_blocks(path: Path, names: Sequence[str], source: Source) -> Iterator[Append]:
    """Yield a function that appends blocks to a file that appears only when it is complete."""
    _check(path, names, source)
    from_caller: BaseException | None = None
    try:
        with atomic_write(path) as temporary, _open_output(temporary, names, source) as output:
            try:
                yield partial(_append, output, path)
            except BaseException as error:
                from_caller = error  # raised by the input, or already names the output
                raise
    except OSError as error:
        if error is from_caller:
            raise
        raise not_written(path, error) from error


@contextmanager
def _open_output(path: Path, names: Sequence[str], source: Source) -> Iterator[_Output]:
    output = _KINDS[path.suffix.lower()](path, names, source)
    try:
        yield output
        output.close()
    except BaseException:
        with suppress(Exception):
            output.close()
        raise


def _append(output: _Output, path: Path, ids: Columns, values: NDArray[Any], empty: Empty) -> None:
    try:
        output.write(ids, values, empty)
    except OSError as error:
        raise not_written(path, error) from error


def not_written(path: Path, error: OSError) -> OSError:
    """Return a copy of the error that names the file."""
    message = f"{_reason(error)}; {str(path)!r} was not written"
    return OSError(message) if error.errno is None else OSError(error.errno, message, str(path))


def _reason(error: OSError) -> str:
    """Return the message of an error, or its last part if pyarrow describes the operation too."""
    if error.errno is None:
        return str(error)
    usual = os.strerror(error.errno)
    return usual if usual in str(error.strerror) else str(error.strerror)


def _check(path: Path, names: Sequence[str], source: Source) -> None:
    kind = path.suffix.lower()
    if kind not in _KINDS:
        raise ValueError(f"cannot write {path.name!r}: the name must end in {', '.join(_KINDS)}.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {str(path.parent)!r} does not exist; create it.")
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; pass a file name.")
    if kind != ".npy":
        pyarrow_for(f"writing a {kind} file")
    elif source.ids:
        raise ValueError(
            f"a .npy file cannot contain the ids {', '.join(map(repr, source.ids))}; write a "
            ".parquet or .csv file."
        )
    both = set(names).intersection(map(str, source.ids))
    if both:
        raise ValueError(
            f"ids: the id column {', '.join(map(repr, sorted(both)))} has the same name as an "
            "output column; rename it."
        )

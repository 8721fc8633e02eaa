"""Files that are written block by block, and appear when they are whole."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.atomic import atomic_write
from ..data import Source, pyarrow_for

Columns = Mapping[Any, NDArray[Any]]
Empty = NDArray[np.bool_] | None  # the rows that have no values
Append = Callable[[Columns, NDArray[Any], Empty], None]


class _Output(ABC):
    """A file under way: of the columns that a source carries through, and of these names."""

    def __init__(self, path: Path, names: Sequence[str], source: Source) -> None:
        self.path, self.names = path, names

    @abstractmethod
    def write(self, ids: Columns, values: NDArray[Any], empty: Empty) -> None:
        """Append a block."""

    @abstractmethod
    def close(self) -> None:
        """Complete the file."""


class _Npy(_Output):
    """Rows after a header, which is written last: only then their number is known."""

    def __init__(self, path: Path, names: Sequence[str], source: Source) -> None:
        super().__init__(path, names, source)
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
        """Its length does not depend on the number of rows: numpy leaves room for more digits."""
        described = {
            "descr": np.lib.format.dtype_to_descr(self.dtype),
            "fortran_order": False,
            "shape": (self.n_rows, *self.shape),
        }
        np.lib.format.write_array_header_1_0(self.file, described)

    def close(self) -> None:
        with self.file:
            self.file.seek(0)
            self._write_header()


class _Arrow(_Output):
    """Columns: ids, then one a name. Their types are those of the source, whatever comes first."""

    writer: Any = None

    def __init__(self, path: Path, names: Sequence[str], source: Source) -> None:
        super().__init__(path, names, source)
        self.types = source.id_types()

    @abstractmethod
    def _writer(self, schema: Any) -> Any:
        """pyarrow's writer of this kind of file."""

    def write(self, ids: Columns, values: NDArray[Any], empty: Empty) -> None:
        import pyarrow as pa

        columns = np.ascontiguousarray(values.reshape(len(values), -1).T)
        carried = zip(ids.values(), self.types, strict=True)
        arrays = [pa.array(column, kind, from_pandas=True) for column, kind in carried]
        names = [*map(str, ids), *self.names]
        arrays += [pa.array(column, mask=empty) for column in columns]
        table = pa.table(arrays, names=names)
        if self.writer is None:
            self.writer = self._writer(table.schema)
        self.writer.write_table(table)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


class _Parquet(_Arrow):
    def _writer(self, schema: Any) -> Any:
        import pyarrow.parquet as pq

        return pq.ParquetWriter(self.path, schema)


class _Csv(_Arrow):
    def _writer(self, schema: Any) -> Any:
        import pyarrow.csv as csv

        return csv.CSVWriter(self.path, schema)


def _with_nan(values: NDArray[Any], empty: NDArray[np.bool_]) -> NDArray[Any]:
    if values.dtype.kind != "f":
        raise ValueError(
            "rows with missing numbers have no label, which a .npy file of whole numbers cannot "
            "say; write .parquet or .csv."
        )
    shape = (-1, *[1] * (values.ndim - 1))
    return np.where(empty.reshape(shape), np.nan, values).astype(values.dtype, copy=False)


KINDS: dict[str, type[_Output]] = {".npy": _Npy, ".parquet": _Parquet, ".csv": _Csv}


@contextmanager
def written(path: Path, names: Sequence[str], source: Source) -> Iterator[Append]:
    """What appends a block to a file, which takes its name when all went well."""
    _check(path, names, source)
    elsewhere: BaseException | None = None
    try:
        with atomic_write(path) as beside, _opened(beside, names, source) as output:
            try:
                yield partial(_append, output, path)
            except BaseException as error:
                elsewhere = error  # in the reading, or told already
                raise
    except OSError as error:
        if error is elsewhere:
            raise
        raise unwritten(path, error) from error


@contextmanager
def _opened(path: Path, names: Sequence[str], source: Source) -> Iterator[_Output]:
    output = KINDS[path.suffix.lower()](path, names, source)
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
        raise unwritten(path, error) from error


def unwritten(path: Path, error: OSError) -> OSError:
    """The same error, with the name of the file."""
    what = error if error.errno is None else os.strerror(error.errno)
    told = f"{what}; {str(path)!r} was not written"
    return OSError(told) if error.errno is None else OSError(error.errno, told, str(path))


def _check(path: Path, names: Sequence[str], source: Source) -> None:
    kind = path.suffix.lower()
    if kind not in KINDS:
        raise ValueError(f"cannot write {path.name!r}: output must end in {', '.join(KINDS)}.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(path.parent)!r} to write to.")
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; name a file in it.")
    if kind != ".npy":
        pyarrow_for(f"a {kind} file")
    elif source.ids:
        raise ValueError(
            f"a .npy file holds numbers alone, but {', '.join(map(repr, source.ids))} are to be "
            "carried through; write .parquet or .csv."
        )
    twice = set(names).intersection(map(str, source.ids))
    if twice:
        raise ValueError(f"ids: {', '.join(map(repr, sorted(twice)))} is a name of the output too.")

"""Files that are written block by block, and appear when they are whole."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources import Source
from ..sources._arrow import pyarrow_for

Columns = Mapping[str, NDArray[Any]]


class _Output(ABC):
    """A file under way."""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        self.path, self.names = path, names

    @abstractmethod
    def write(self, ids: Columns, values: NDArray[Any]) -> None:
        """Append a block."""

    @abstractmethod
    def close(self) -> None:
        """Complete the file."""


class _Npy(_Output):
    """Rows after a header, which is written last: only then their number is known."""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        super().__init__(path, names)
        self.file = path.open("wb")
        self.n_rows, self.shape, self.dtype = 0, (len(names),), np.dtype(np.float64)

    def write(self, ids: Columns, values: NDArray[Any]) -> None:
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
    """Columns: ids, then one a name."""

    writer: Any = None

    @abstractmethod
    def _writer(self, schema: Any) -> Any:
        """pyarrow's writer of this kind of file."""

    def write(self, ids: Columns, values: NDArray[Any]) -> None:
        import pyarrow as pa

        columns = np.ascontiguousarray(values.reshape(len(values), -1).T)
        arrays = {**ids, **dict(zip(self.names, columns, strict=True))}
        table = pa.table({name: pa.array(column) for name, column in arrays.items()})
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


KINDS: dict[str, type[_Output]] = {".npy": _Npy, ".parquet": _Parquet, ".csv": _Csv}


@contextmanager
def written(path: Path, names: Sequence[str], source: Source) -> Iterator[_Output]:
    """A file that takes its name when all went well; else nothing is left of it."""
    _check(path, names, source)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    output = KINDS[path.suffix.lower()](unfinished, names)
    try:
        yield output
        output.close()
        os.replace(unfinished, path)
    except BaseException as error:
        with suppress(Exception):
            output.close()
        unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(
                error.errno, f"{error.strerror or error}; {str(path)!r} was not written", str(path)
            ) from error
        raise


def _check(path: Path, names: Sequence[str], source: Source) -> None:
    kind = path.suffix.lower()
    if kind not in KINDS:
        raise ValueError(f"cannot write {path.name!r}: output must end in {', '.join(KINDS)}.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(path.parent)!r} to write to.")
    if kind != ".npy":
        pyarrow_for(f"a {kind} file")
    elif source.ids:
        raise ValueError(
            f"a .npy file holds numbers alone, but {', '.join(map(repr, source.ids))} are to be "
            "carried through; write .parquet or .csv."
        )
    twice = set(names).intersection(source.ids)
    if twice:
        raise ValueError(f"ids: {', '.join(map(repr, sorted(twice)))} is a name of the output too.")

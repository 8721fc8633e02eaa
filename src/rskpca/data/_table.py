"""Rows somewhere, that can be read in batches: what every kind of source shares."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]

_DIGESTED_ROWS = 64
_TILE_ROWS = 2048  # of so many rows, columns are turned into rows within the cache


class Field(NamedTuple):
    """A column's name, None where it has none, and its dtype, None where it holds no numbers.

    ``is_index`` says that it is the index of a pandas frame, which is no feature unless it is
    named; ``empty`` that it has no value to tell its dtype from.
    """

    name: Any
    dtype: np.dtype[Any] | None
    is_index: bool = False
    empty: bool = False


class Picked(NamedTuple):
    """Positions of columns in a table."""

    features: tuple[int, ...]
    ids: tuple[int, ...] = ()
    weight: int | None = None

    @property
    def all(self) -> tuple[int, ...]:
        """Features first, then ids, then the weight."""
        return (*self.features, *self.ids, *(() if self.weight is None else (self.weight,)))

    @property
    def read(self) -> tuple[tuple[int, bool], ...]:
        """The same, each with whether it is read as numbers: ids are not."""
        first = len(self.features)
        carried = range(first, first + len(self.ids))
        return tuple((j, k not in carried) for k, j in enumerate(self.all))


class Batch(NamedTuple):
    """Rows that were read together.

    ``columns`` are those that were asked for: an array of shape (n, k), or k arrays of length n.
    ``numbers`` says which rows of ``where`` they are.
    """

    columns: Any
    where: str
    numbers: Any

    def __len__(self) -> int:
        return len(self.numbers)

    def at(self, rows: slice | Rows) -> Batch:
        """Some of the rows."""
        whole = isinstance(self.columns, np.ndarray)
        columns = self.columns[rows] if whole else [column[rows] for column in self.columns]
        numbers = self.numbers if isinstance(rows, slice) else np.asarray(self.numbers)
        return Batch(columns, self.where, numbers[rows])

    def column(self, j: int) -> NDArray[Any]:
        """The j-th of the columns that were asked for."""
        return self.columns[:, j] if isinstance(self.columns, np.ndarray) else self.columns[j]

    def write_to(self, rows: NDArray[np.floating]) -> None:
        """Copy the first columns into rows, as many as these have."""
        if isinstance(self.columns, np.ndarray):
            rows[:] = self.columns[:, : rows.shape[1]]
            return
        for start in range(0, len(rows), _TILE_ROWS):
            tile = slice(start, start + _TILE_ROWS)
            for j in range(rows.shape[1]):
                rows[tile, j] = self.columns[j][tile]


class Table(ABC):
    """A table of rows: ``where`` names it in errors, ``n_rows`` is None where it is not known."""

    where: str
    fields: tuple[Field, ...]
    n_rows: int | None
    again = True  # whether it can be read more than once
    ids_are_text = False  # whether columns that are carried through are text, whatever they hold
    n_skipped: int | None = 0  # rows that are left out; None where that is not yet known

    @abstractmethod
    def batches(self, picked: Picked, start: int, size: int) -> Iterator[Batch]:
        """These columns from row ``start`` on, in batches of about ``size`` rows, in order."""

    def arrow_type(self, j: int) -> Any:
        """The pyarrow type of a column that is carried through."""
        import pyarrow as pa

        dtype = self.fields[j].dtype
        return pa.string() if dtype is None else pa.from_numpy_dtype(dtype.newbyteorder("="))

    def counting(self, picked: Picked) -> Picked:
        """The columns that are read to count the rows: one will do."""
        return Picked(picked.features[:1])

    def check(self, picked: Picked) -> None:
        """An error where parts of the table differ in these columns."""
        return None

    def identity(self) -> Any:
        """What tells it from another table, as JSON holds it: of files, the files.

        Else its shape, its dtypes, and a digest of rows from all over.
        """
        last = max((self.n_rows or 0) - 1, 0)
        places = np.unique(np.linspace(0, last, _DIGESTED_ROWS).astype(np.intp))
        everything = Picked(tuple(range(len(self.fields))))
        digest = hashlib.sha256()
        for batch in self.take(everything, places, len(places)) if self.n_rows else ():
            for j in everything.all:
                digest.update(repr(batch.column(j).tolist()).encode())
        return [self.n_rows, [str(field.dtype) for field in self.fields], digest.hexdigest()]

    def take(self, picked: Picked, rows: Rows, size: int) -> Iterator[Batch]:
        """Rows of ascending number; all up to the last are read where a table cannot jump."""
        first = 0
        for batch in self.batches(picked, 0, size):
            ends = np.searchsorted(rows, [first, first + len(batch)])
            if ends[0] < ends[1]:
                yield batch.at(rows[slice(*ends)] - first)
            first += len(batch)
            if ends[1] == len(rows):
                return


def dropped(batches: Iterable[Batch], start: int) -> Iterator[Batch]:
    """The batches without their first ``start`` rows."""
    for batch in batches:
        skip = min(start, len(batch))
        start -= skip
        if skip < len(batch):
            yield batch.at(slice(skip, None)) if skip else batch


def file_identity(path: Path) -> list[Any]:
    """Name, size and time of the last change."""
    status = path.stat()
    return [path.name, status.st_size, status.st_mtime_ns]


def kept_dtype(dtype: np.dtype[Any] | None) -> str:
    """What numbers of a dtype are kept in: float32 stays, all else is float64."""
    if dtype is None:
        return "text"
    return "float32" if dtype == np.float32 else "float64"


def promoted(fields: Iterable[Field]) -> np.dtype[Any]:
    """What numbers of all these dtypes are kept in together, as numpy promotes them."""
    told = [field.dtype for field in fields if not field.empty]
    together = np.result_type(*(told or [np.dtype(np.float64)]))
    return np.dtype(np.float32 if together == np.float32 else np.float64)

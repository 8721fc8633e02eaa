"""The interface shared by all inputs: tables that are read in batches."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._format import import_optional
from ._ids import IdType, TypeInference

Rows = NDArray[np.intp]

_DIGEST_ROWS = 64
_TILE_ROWS = 2048  # columns are transposed in tiles that fit into the cache


class _Explained:
    """A message whose parts allow front ends such as the command line to rephrase it.

    Parameters
    ----------
    message : str
        The full message, worded for the Python API.
    problem : str
        The problem, without the suggested fix.
    argument : str
        The invalid argument, or an empty string if the data are invalid.
    remedy : str
        The argument that solves the problem, or an empty string if there is none.
    example : str
        A suggested value for ``remedy``, or an empty string if there is none.
    column : str
        The name of a column that does not exist, or an empty string.
    choices : str
        The columns that exist, as part of a sentence, or an empty string.
    """

    def __init__(
        self,
        message: str,
        problem: str = "",
        argument: str = "",
        remedy: str = "",
        example: str = "",
        column: str = "",
        choices: str = "",
    ) -> None:
        super().__init__(message)  # type: ignore[call-arg]
        self.problem, self.argument = problem, argument
        self.remedy, self.example = remedy, example
        self.column, self.choices = column, choices


class SourceError(_Explained, ValueError):
    """Raised if rows cannot be read with the arguments of :func:`rskpca.data.open_source`."""


class SourceWarning(_Explained, UserWarning):
    """Issued if :func:`rskpca.data.open_source` had to guess how to read the rows."""


class Field(NamedTuple):
    """Description of a column.

    ``name`` is None for unnamed columns, and ``dtype`` is None for non-numeric columns.
    ``is_index`` marks columns that become features only if they are selected by name, such as the
    index of a pandas frame. ``empty`` marks a column without any values, whose dtype is therefore
    unknown. ``kind`` describes the values of a non-numeric column. ``id_type`` returns the pyarrow
    type of the ids in this column; if it is None, ids have the type of ``dtype``, or are text.
    """

    name: Any
    dtype: np.dtype[Any] | None
    is_index: bool = False
    empty: bool = False
    kind: str = "text"
    id_type: Callable[[], Any] | None = None


class Selection(NamedTuple):
    """Positions of the selected columns in a table."""

    features: tuple[int, ...]
    ids: tuple[int, ...] = ()
    weight: int | None = None

    @property
    def positions(self) -> tuple[int, ...]:
        """Return all selected columns: the features, then the ids, then the weight."""
        return (*self.features, *self.ids, *(() if self.weight is None else (self.weight,)))

    @property
    def reads(self) -> tuple[tuple[int, bool], ...]:
        """Return pairs of a position and a flag that is True for numbers and False for ids."""
        first = len(self.features)
        ids = range(first, first + len(self.ids))
        return tuple((j, k not in ids) for k, j in enumerate(self.positions))


class Batch(NamedTuple):
    """Rows that were read together.

    ``columns`` contains the selected columns, either as one array of shape (n_rows, n_columns) or
    as a list of arrays of length n_rows. ``numbers`` are the row numbers in the table ``origin``,
    which is a single file or data frame.
    """

    columns: Any
    origin: Table
    numbers: Any

    def __len__(self) -> int:
        return len(self.numbers)

    def rows(self, rows: slice | Rows) -> Batch:
        """Return the selected rows as a batch."""
        if isinstance(self.columns, np.ndarray):
            columns: Any = self.columns[rows]
        else:
            columns = [column[rows] for column in self.columns]
        numbers = self.numbers if isinstance(rows, slice) else np.asarray(self.numbers)
        return Batch(columns, self.origin, numbers[rows])

    def column(self, k: int) -> NDArray[Any]:
        """Return the k-th selected column."""
        return self.columns[:, k] if isinstance(self.columns, np.ndarray) else self.columns[k]

    def copy_features(self, out: NDArray[np.floating]) -> None:
        """Copy the first ``out.shape[1]`` columns into ``out``."""
        if isinstance(self.columns, np.ndarray):
            out[:] = self.columns[:, : out.shape[1]]
            return
        for start in range(0, len(out), _TILE_ROWS):
            tile = slice(start, start + _TILE_ROWS)
            for j in range(out.shape[1]):
                out[tile, j] = self.columns[j][tile]


class Table(ABC):
    """Abstract base class for inputs that are read in batches.

    ``name`` is used in error messages. ``n_rows`` is None until the rows have been counted.
    ``again`` is False if the rows can be read only once. ``ids_are_text`` is True if id columns
    are read as text even if they contain numbers. ``n_skipped`` is the number of skipped rows,
    or None if it is unknown. ``partial`` names columns that only some parts of the table have.
    ``missing`` describes NaN in error messages.
    """

    name: str
    fields: tuple[Field, ...]
    n_rows: int | None
    again = True
    ids_are_text = False
    n_skipped: int | None = 0
    partial: tuple[str, ...] = ()
    missing = "is missing"

    @abstractmethod
    def batches(self, selection: Selection, start: int, size: int) -> Iterator[Batch]:
        """Yield batches of about ``size`` rows in order, starting at row ``start``."""

    def take(self, selection: Selection, rows: Rows, size: int) -> Iterator[Batch]:
        """Yield the rows with the given row numbers, which are in ascending order.

        By default, all rows up to the last one are read.
        """
        first = 0
        for batch in self.batches(selection, 0, size):
            low, high = np.searchsorted(rows, [first, first + len(batch)])
            if low < high:
                yield batch.rows(rows[low:high] - first)
            first += len(batch)
            if high == len(rows):
                return

    def locate(self, number: int) -> str:
        """Describe the location of a row within the table in error messages."""
        return f"row {number:,} (numbered from 0)"

    def arrow_type(self, j: int) -> Any:
        """Return the pyarrow type of an id column."""
        import pyarrow as pa

        field = self.fields[j]
        if field.id_type is not None and not self.ids_are_text:
            return field.id_type()
        if field.dtype is None or self.ids_are_text:
            return pa.string()
        return pa.from_numpy_dtype(field.dtype.newbyteorder("="))

    def id_types(self, positions: Sequence[int]) -> list[IdType]:
        """Return the types that id columns have in the output."""
        if not self.ids_are_text:
            return [IdType(self.arrow_type(j)) for j in positions]
        columns = {j: TypeInference() for j in positions}
        self.infer_types(columns)
        return [columns[j].result() for j in positions]

    def infer_types(self, columns: Mapping[int, TypeInference]) -> None:
        """Add the cells of columns, given by position, if ``ids_are_text`` is True."""
        raise NotImplementedError  # implemented by tables whose ids are text

    def identity(self) -> Any:
        """Return JSON-serializable data that identify this table.

        For files, these are the name, size and modification time; otherwise the shape, the dtypes
        and a digest of evenly spaced rows.
        """
        last = max((self.n_rows or 0) - 1, 0)
        rows = np.unique(np.linspace(0, last, _DIGEST_ROWS).astype(np.intp))
        everything = Selection(tuple(range(len(self.fields))))
        digest = hashlib.sha256()
        for batch in self.take(everything, rows, len(rows)) if self.n_rows else ():
            for j in everything.positions:
                digest.update(repr(batch.column(j).tolist()).encode())
        return [self.n_rows, [str(field.dtype) for field in self.fields], digest.hexdigest()]


def skip_rows(batches: Iterable[Batch], count: int) -> Iterator[Batch]:
    """Yield the batches, skipping their first ``count`` rows."""
    for batch in batches:
        skipped = min(count, len(batch))
        count -= skipped
        if skipped < len(batch):
            yield batch.rows(slice(skipped, None)) if skipped else batch


def column_label(fields: Sequence[Field], j: int) -> str:
    """Return a column's name for error messages, or its number if it is unnamed."""
    return str(j) if fields[j].name is None else repr(fields[j].name)


def feature_dtype(fields: Iterable[Field]) -> np.dtype[Any]:
    """Return float32 if NumPy promotes the features to it, else float64."""
    dtypes = [field.dtype for field in fields if not field.empty]
    common = np.result_type(*(dtypes or [np.dtype(np.float64)]))
    return np.dtype(np.float32 if common == np.float32 else np.float64)


@contextmanager
def file_errors(name: str) -> Iterator[None]:
    """Add the name of the file to errors that do not mention it."""
    try:
        yield
    except (OSError, ValueError, KeyError) as error:
        if name in str(error):
            raise
        raise ValueError(f"cannot read {name}: {error}") from error


def file_identity(path: Path) -> list[Any]:
    """Return the name, size and modification time of a file."""
    status = path.stat()
    return [path.name, status.st_size, status.st_mtime_ns]


def pyarrow_for(what: str) -> Any:
    """Import pyarrow, or raise an error with installation instructions."""
    return import_optional(what, "pyarrow", "parquet")

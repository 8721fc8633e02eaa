"""The function ``open_source``, which opens all supported inputs."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .. import _validation as check
from ._arrays import ArrayLike, ArrayTable, open_hdf5, open_npy, open_npz, open_zarr
from ._combined import CompleteRows, Folder, IteratorTable
from ._frames import ArrowFile, ParquetFile, frame_table
from ._sheets import CsvFile, ExcelFile
from ._table import Selection, SourceError, Table, column_label, file_errors
from .source import Source

_open_tsv = partial(CsvFile, delimiter="\t")
_READERS: dict[str, Callable[..., Table]] = {
    ".npy": open_npy,
    ".npz": open_npz,
    ".csv": CsvFile,
    ".csv.gz": CsvFile,
    ".csv.zst": CsvFile,
    ".tsv": _open_tsv,
    ".tsv.gz": _open_tsv,
    ".tsv.zst": _open_tsv,
    ".xlsx": ExcelFile,
    ".parquet": ParquetFile,
    ".arrow": ArrowFile,
    ".arrows": ArrowFile,
    ".feather": ArrowFile,
    ".h5": open_hdf5,
    ".hdf5": open_hdf5,
    ".zarr": open_zarr,
}
_SHOWN_NAMES = 12


def open_source(
    data: Any,
    *,
    columns: Any = None,
    ids: Any = (),
    weight: Any = None,
    exclude: Any = (),
    block_rows: int | None = None,
    skip_missing: bool = False,
    lenient: bool = False,
    **options: Any,
) -> Source:
    """Open rows for reading block by block, without loading them into memory.

    Parameters
    ----------
    data : str, path, array, data frame, iterable or callable
        One of:

        - a file ending in .npy, .npz, .csv, .tsv, .xlsx, .parquet, .arrow, .arrows, .feather, .h5,
          .hdf5 or .zarr; .csv and .tsv files may be compressed and end in .gz or .zst;
        - a folder of such files, all with the same extension, which are read in alphabetical
          order, ignoring names that start with . or _;
        - an array, in which masked values are missing, or a pandas, polars or pyarrow data
          frame; a polars LazyFrame is collected;
        - an iterator over arrays or data frames, which can be read only once;
        - a function that returns such an iterator, which can be read repeatedly.
    columns : str, int or sequence of them, default=None
        The features, selected by name, by pattern such as ``"x*"``, or by number if the columns
        are unnamed. None selects all columns except ``ids``, ``weight``, ``exclude`` and the
        index of a pandas frame stored in a file.
    ids : str, int or sequence of them, default=()
        Columns of any type to copy to the output. In .csv files they are read as text; columns
        that contain only integers, decimal numbers or booleans are written as such.
    weight : str or int, default=None
        The column that contains the sample weights.
    exclude : str, int or sequence of them, default=()
        Columns that are not features, by name, pattern or number.
    block_rows : int, default=None
        Number of rows per block. If None, a block has about two million values, but at most
        131,072 rows; with more than 256 features, up to 8,192 rows and eight million values.
    skip_missing : bool, default=False
        If True, skip rows with a missing or infinite feature or weight, as if they did not
        exist. If False, such rows raise an error.
    lenient : bool, default=False
        If True, and if ``columns`` is None, leave out columns that are not numeric or that only
        some files of a folder have. The attribute ``left_out`` of the source names them. If
        False, such columns raise an error.
    **options : dict
        Options for some file formats:

        - ``dataset`` (.npz, HDF5, Zarr, .xlsx): the name of the array or sheet. The default is
          the array X or the only matrix, or the first sheet. Other arrays in a .npz file with one
          value per row are columns that can be selected by name.
        - ``delimiter`` (.csv, .tsv): the default is a tab in .tsv files, otherwise the most
          frequent of comma, semicolon, tab and bar in the first line.
        - ``decimal`` (.csv, .tsv): the default is a comma if numbers contain commas and no
          points, otherwise a point.
        - ``header`` (.csv, .tsv, .xlsx): True if the first line contains the column names. By
          default this is detected, with a warning if the names are numbers, such as years.

    Returns
    -------
    Source
        The rows. All kinds of input yield bit-identical values.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca.data import open_source
    >>> source = open_source(np.arange(10.0).reshape(5, 2), block_rows=2)
    >>> source
    Source(the array, 5 rows, 2 features, float64)
    >>> [len(block.rows) for block in source.blocks(start=1)]
    [2, 2]
    """
    if isinstance(data, Source):
        given = options or ids or exclude or skip_missing or lenient
        if given or any(value is not None for value in (columns, weight, block_rows)):
            raise ValueError("the source is already open; pass the options when opening it.")
        return data
    check.boolean("skip_missing", skip_missing)
    table = _open_table(data, options)
    if table.n_rows == 0:
        raise ValueError(f"{table.name} is empty: it has no rows.")
    check.boolean("lenient", lenient)
    selection, left_out = _select(table, columns, ids, weight, exclude, lenient)
    source = Source(CompleteRows(table) if skip_missing else table, selection, block_rows)
    source.left_out = left_out
    return source


def _open_table(data: Any, options: dict[str, Any]) -> Table:
    if isinstance(data, str | os.PathLike):
        return _open_path(Path(data), options)
    if options:
        raise TypeError(f"{', '.join(options)} can be used only with files.")
    data = check.materialize(data)
    if isinstance(data, ArrayLike) or frame_table(data) is not None:
        return _table_in_memory(data, None)
    if callable(data):
        return IteratorTable(data, _table_in_memory, again=True)
    if isinstance(data, Iterable):
        if iter(data) is iter(data):  # an iterator, or an object that wraps one
            return IteratorTable(lambda: data, _table_in_memory, again=False)
        first: Any = next(iter(data), ())
        if frame_table(first) is not None or np.ndim(first) == 2:
            return IteratorTable(lambda: data, _table_in_memory, again=True)
    return _table_in_memory(data, None)


def _table_in_memory(data: Any, name: str | None) -> Table:
    """Wrap an array or a data frame in a table."""
    data = check.materialize(data)
    frame = frame_table(data, name or "the data frame")
    if frame is not None:
        return frame
    name = name or "the array"
    if sparse.issparse(data):
        raise TypeError(f"{name} is sparse; pass X.toarray().")
    if np.ma.is_masked(data):
        data = np.where(data.mask, np.nan, data.data)
    sliceable = isinstance(data, ArrayLike) and isinstance(data.dtype, np.dtype)
    return ArrayTable(data if sliceable else np.asarray(data), name)


def _open_path(path: Path, options: dict[str, Any]) -> Table:
    if path.is_dir() and path.suffix.lower() != ".zarr":
        return _open_folder(path, options)
    if file_ending(path) not in _READERS:
        raise ValueError(
            f"cannot read {path.name!r}: the name must end in {', '.join(_READERS)}. Load other "
            "formats yourself and pass the array."
        )
    if not path.exists():
        raise FileNotFoundError(f"no such file: {str(path)!r}.")
    return _open_file(path, options)


def file_ending(path: Path) -> str:
    """Return the ending that determines the format, such as .csv or .csv.gz, in lower case."""
    *_, ending = suffixes = ["", *(suffix.lower() for suffix in path.suffixes)]
    return "".join(suffixes[-2:]) if ending in (".gz", ".zst") else ending


def _open_file(path: Path, options: dict[str, Any]) -> Table:
    reader = _READERS[file_ending(path)]
    known = list(inspect.signature(reader).parameters)[1:]
    unknown = [name for name in options if name not in known]
    if unknown:
        takes = f"supports only the options {', '.join(known)}" if known else "has no options"
        message = f"a {file_ending(path)} file {takes}, got {', '.join(unknown)}."
        problem = f"not available for a {file_ending(path)} file."
        raise SourceError(message, problem, argument=unknown[0])
    if not path.is_file() and not path.is_dir():
        raise ValueError(f"{str(path)!r} is not a regular file; copy its contents to a file.")
    if path.is_file() and path.stat().st_size == 0:
        raise ValueError(f"{str(path)!r} is empty.")
    with file_errors(repr(str(path))):
        return reader(path, **options)


def _open_folder(path: Path, options: dict[str, Any]) -> Table:
    entries = [entry for entry in sorted(path.iterdir()) if entry.name[0] not in "._"]
    unreadable = [entry.name for entry in entries if not _is_readable(entry)]
    if len(unreadable) == len(entries):
        raise ValueError(
            f"the folder {str(path)!r} contains no file with a name that ends in "
            f"{', '.join(_READERS)}."
        )
    if unreadable:
        raise ValueError(
            f"the folder {str(path)!r} contains {unreadable[0]!r}, which cannot be read; move it, "
            "or add a leading _ to its name so that it is ignored."
        )
    kinds = sorted({file_ending(entry) for entry in entries})
    if len(kinds) > 1:
        raise ValueError(
            f"the folder {str(path)!r} contains files of several types, {', '.join(kinds)}; keep "
            "only one type."
        )
    return Folder([_open_file(entry, options) for entry in entries], f"the folder {str(path)!r}")


def _is_readable(entry: Path) -> bool:
    kind = file_ending(entry)
    return kind in _READERS and (kind == ".zarr" or not entry.is_dir())


def _select(
    table: Table, columns: Any, ids: Any, weight: Any, exclude: Any, lenient: bool
) -> tuple[Selection, dict[str, str]]:
    """Resolve column names, patterns and numbers to positions.

    Also return the names of the columns that were left out and the kinds of their values.
    """
    _check_unique_names(table)
    id_columns = tuple(_find(table, column, "ids") for column in _as_list(ids))
    weights = None if weight is None else _find(table, weight, "weight")
    names = [column for column in _as_list(exclude) if column not in table.partial]
    excluded = {j for column in names for j in _match(table, column, set(), "exclude")}
    index = {j for j, field in enumerate(table.fields) if field.is_index}
    others = {*id_columns, weights, *excluded, *index}
    left_out: dict[str, str] = {}
    if columns is None:
        features = tuple(j for j in range(len(table.fields)) if j not in others)
        if lenient:
            features, left_out = _leave_out(table, features)
        elif isinstance(table, Folder) and set(table.partial) - set(_as_list(exclude)):
            table.check_same_columns()
    else:
        matches = (_match(table, column, others, "columns") for column in _as_list(columns))
        found = (j for positions in matches for j in positions if j not in excluded)
        features = tuple(dict.fromkeys(found))
    _check_numeric(table, features if weights is None else (*features, weights))
    if not features:
        numeric = "numeric " if left_out else ""
        raise ValueError(f"{table.name} has no {numeric}columns left to use as features.")
    selection = Selection(features, id_columns, weights)
    if isinstance(table, Folder):
        table.check_parts(selection)
    return selection, left_out


def _leave_out(table: Table, columns: tuple[int, ...]) -> tuple[tuple[int, ...], dict[str, str]]:
    """Return the numeric columns, and the names and kinds of the others."""
    numeric = tuple(j for j in columns if table.fields[j].dtype is not None)
    others = ((j, table.fields[j]) for j in columns if table.fields[j].dtype is None)
    text = {str(j if field.name is None else field.name): field.kind for j, field in others}
    return numeric, {**text, **dict.fromkeys(table.partial, "partial")}


def _as_list(columns: Any) -> Sequence[Any]:
    return [columns] if isinstance(columns, str | Integral) else list(columns)


def _check_unique_names(table: Table) -> None:
    names = [field.name for field in table.fields if field.name is not None]
    if len(set(names)) < len(names):
        repeated = sorted({repr(name) for name in names if names.count(name) > 1})
        raise ValueError(
            f"{table.name} has duplicate column names: {', '.join(repeated)}; rename them."
        )


def _find(table: Table, column: Any, argument: str) -> int:
    """Return the position of the column with this name, or with this number if it is unnamed."""
    positions = [j for j, field in enumerate(table.fields) if field.name == column]
    if not positions and _is_position(table, column):
        positions = [int(column)]
    if column is None or not positions:
        everywhere = " in all of its files" if column in table.partial else ""
        choices = _choices(table)
        problem = f"{table.name} has no column {column!r}{everywhere}; {choices}"
        raise SourceError(
            f"{argument}: {problem}", problem, argument, column=str(column), choices=choices
        )
    return positions[0]


def _is_position(table: Table, column: Any) -> bool:
    number = isinstance(column, Integral) and not isinstance(column, bool)
    number = number or (isinstance(column, str) and column.isdecimal())
    inside = number and 0 <= int(column) < len(table.fields)
    return inside and table.fields[int(column)].name is None


def _match(table: Table, column: Any, others: set[int | None], argument: str) -> list[int]:
    """Return the column with this name, or those that match a pattern and are not in ``others``."""
    names = [field.name for field in table.fields]
    if isinstance(column, str) and column not in names:
        positions = [
            j
            for j, name in enumerate(names)
            if isinstance(name, str) and fnmatchcase(name, column) and j not in others
        ]
        if positions:
            return positions
    return [_find(table, column, argument)]


def _choices(table: Table) -> str:
    names = [field.name for field in table.fields if field.name is not None]
    if not names:
        return f"its {len(table.fields)} columns are unnamed; use column numbers starting from 0."
    shown = ", ".join(map(repr, names[:_SHOWN_NAMES]))
    has_unnamed = None in (f.name for f in table.fields)
    numbered = "unnamed (numbered from 0), except " if has_unnamed else ""
    return f"its columns are {numbered}{shown}{' and others' if len(names) > _SHOWN_NAMES else ''}."


def _check_numeric(table: Table, columns: Sequence[int]) -> None:
    text = [column_label(table.fields, j) for j in columns if table.fields[j].dtype is None]
    if text:
        problem = f"columns {', '.join(text)} of {table.name} are not numeric"
        raise SourceError(
            f"{problem}; convert them, leave them out with exclude=, keep them with ids=, "
            "select the features with columns=, or pass lenient=True.",
            problem,
            remedy="exclude",
        )

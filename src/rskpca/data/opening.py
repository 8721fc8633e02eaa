"""``open_source``: one word for every place that rows come from."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .. import _validation as check
from . import _arrays
from ._arrays import ArrayTable
from ._arrow import ArrowFile, CsvFile, ParquetFile
from ._chained import Iterated, Parts
from ._columns import pick
from ._frames import FrameTable, face_of
from ._table import Table
from ._whole import Whole
from .source import Source

KINDS: dict[str, Callable[..., Table]] = {
    ".npy": _arrays.npy,
    ".npz": _arrays.npz,
    ".csv": CsvFile,
    ".parquet": ParquetFile,
    ".arrow": ArrowFile,
    ".feather": ArrowFile,
    ".h5": _arrays.hdf5,
    ".hdf5": _arrays.hdf5,
    ".zarr": _arrays.zarr,
}


def open_source(
    data: Any,
    *,
    columns: Any = None,
    ids: Any = (),
    weight: Any = None,
    exclude: Any = (),
    block_rows: int | None = None,
    skip_missing: bool = False,
    **options: Any,
) -> Source:
    """Open rows wherever they are, without loading them.

    Parameters
    ----------
    data : str, path, array, data frame, iterable or callable
        A file that ends in .npy, .npz, .csv, .parquet, .arrow, .feather, .h5, .hdf5 or .zarr; a
        folder of such files of one kind, and of nothing else but names that begin with . or _,
        read in the order of their names; an array or a pandas,
        polars or pyarrow frame; an iterator of these; or a function that makes such an iterator,
        so that it can be read again.
    columns : str, int or sequence of them, default=None
        The features, by name or by pattern such as ``"x*"``, by number where columns have no
        names. None is all but ``ids``, ``weight``, ``exclude`` and the index of a pandas frame
        in a file.
    ids : str, int or sequence of them, default=()
        Columns to carry through, of any type; those of .csv files as the text that is written.
    weight : str or int, default=None
        The column that says how often each row counts.
    exclude : str, int or sequence of them, default=()
        Columns that are no features, by name, pattern or number.
    block_rows : int, default=None
        Rows of a block. None is about a million numbers.
    skip_missing : bool, default=False
        Leave out rows in which a feature or the weight is missing or not finite, as if they were
        not there. Else they are an error.
    **options : dict
        ``dataset``, the name of an array in a .npz, HDF5 or Zarr file (by default X, or the only
        one). Of .csv files ``delimiter`` (by default the one of comma, semicolon, tab and bar that
        the first line has most of), ``decimal`` (by default the point), and ``header``, whether the
        first line holds names (by default: if none of its cells is a number).

    Returns
    -------
    Source
        Its blocks have the same bits for every kind.

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
        given = options or ids or exclude or skip_missing
        if given or any(value is not None for value in (columns, weight, block_rows)):
            raise ValueError("the source is open already; give its options where it is opened.")
        return data
    check.boolean("skip_missing", skip_missing)
    table = _opened(data, options)
    if table.n_rows == 0:
        raise ValueError(f"{table.where} is empty: it has no rows.")
    picked = pick(table, columns, ids, weight, exclude)
    return Source(Whole(table) if skip_missing else table, picked, block_rows)


def _opened(data: Any, options: dict[str, Any]) -> Table:
    if isinstance(data, str | os.PathLike):
        return _path(Path(data), options)
    if options:
        raise TypeError(f"{', '.join(options)}: only files take this option.")
    if callable(data) and not hasattr(data, "shape"):
        return Iterated(data, in_memory, again=True)
    if _is_one_iterator(data):
        return Iterated(lambda: data, in_memory, again=False)
    if _holds_tables(data):
        return Iterated(lambda: data, in_memory, again=True)
    return in_memory(data, None)


def _is_one_iterator(data: Any) -> bool:
    """Whether this is an iterator, or something that gives the same one each time."""
    if hasattr(data, "shape") or face_of(data) is not None or not isinstance(data, Iterable):
        return False
    return iter(data) is iter(data)


def _holds_tables(data: Any) -> bool:
    """Whether this is a list of tables, and not one of rows."""
    if hasattr(data, "shape") or face_of(data) is not None or not isinstance(data, Iterable):
        return False
    first: Any = next(iter(data), ())
    return face_of(first) is not None or np.ndim(first) == 2


def in_memory(data: Any, where: str | None) -> Table:
    """An array or a data frame as a table."""
    face = face_of(data)
    if face is not None:
        return FrameTable(face, where or "the data frame")
    if sparse.issparse(data):
        raise TypeError(f"{where or 'the array'} is sparse; give X.toarray().")
    lazy = isinstance(getattr(data, "dtype", None), np.dtype)
    return ArrayTable(data if lazy else np.asarray(data), where or "the array")


def _path(path: Path, options: dict[str, Any]) -> Table:
    if path.is_dir() and path.suffix.lower() != ".zarr":
        return _folder(path, options)
    if path.suffix.lower() not in KINDS:
        raise ValueError(
            f"cannot read {path.name!r}: the file must end in {', '.join(KINDS)}. Load it and "
            "give the array."
        )
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}.")
    return _file(path, options)


def _file(path: Path, options: dict[str, Any]) -> Table:
    kind = KINDS[path.suffix.lower()]
    known = list(inspect.signature(kind).parameters)[1:]
    unknown = [name for name in options if name not in known]
    if unknown:
        takes = f"the options {', '.join(known)}" if known else "no option"
        raise TypeError(f"a {path.suffix} file takes {takes}, not {', '.join(unknown)}.")
    if path.is_file() and path.stat().st_size == 0:
        raise ValueError(f"{str(path)!r} is empty: it has no bytes.")
    return kind(path, **options)


def _folder(path: Path, options: dict[str, Any]) -> Table:
    """All files of the one kind that the folder holds; hidden ones and _SUCCESS are left out."""
    files = [entry for entry in sorted(path.iterdir()) if entry.name[0] not in "._"]
    if not any(_is_readable(file) for file in files):
        raise ValueError(f"the folder {str(path)!r} holds no file that ends in {', '.join(KINDS)}.")
    for file in files:
        if not _is_readable(file):
            raise ValueError(
                f"the folder {str(path)!r} holds {file.name!r}, which cannot be read; move it, or "
                "let its name begin with _ to leave it out."
            )
    kinds = sorted({file.suffix.lower() for file in files})
    if len(kinds) > 1:
        raise ValueError(
            f"the folder {str(path)!r} holds files of several kinds, {', '.join(kinds)}; keep one."
        )
    return Parts([_file(file, options) for file in files], f"the folder {str(path)!r}")


def _is_readable(entry: Path) -> bool:
    kind = entry.suffix.lower()
    return kind in KINDS and (kind == ".zarr" or not entry.is_dir())

"""A few rows from all over an array or a file, which may be sorted."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.random import sample_without_replacement

from .. import _validation as check

Array = NDArray[np.floating]

SHARE = 0.05
LEAST, MOST = 500, 20_000
TOO_FEW = 100


class Drawn(NamedTuple):
    """Rows of a sample, and how many there are in all."""

    rows: Array
    n_samples: int


class Source(NamedTuple):
    """How many rows there are, how wide they are, and a function that fetches some of them."""

    n_samples: int
    n_features: int
    fetch: Callable[[NDArray[np.intp]], Any]


def draw(data: Any, size: int | None, rng: np.random.RandomState) -> Drawn:
    """A random sample, without replacement, from the whole of an array or a file."""
    if size is not None:
        check.positive_integer("sample", size)
        if size < TOO_FEW:
            raise ValueError(
                f"sample={size} rows are too few to tell more from; give at least {TOO_FEW}, or "
                "None for a twentieth of the rows."
            )
    source = _opened(Path(data)) if isinstance(data, str | os.PathLike) else _array(data)
    wanted = _size(source.n_samples, source.n_features) if size is None else size
    wanted = min(wanted, source.n_samples)
    chosen = sample_without_replacement(source.n_samples, wanted, random_state=rng)
    rows = source.fetch(np.sort(chosen))
    return Drawn(check_array(rows, dtype=check.FLOATS, ensure_min_samples=2), source.n_samples)


def _size(n_samples: int, n_features: int) -> int:
    """A twentieth of the rows; fewer of many, so that covering them stays quick."""
    most = int(np.clip(np.sqrt(4e9 / max(n_features, 1)), 1000, MOST))
    return max(min(int(SHARE * n_samples), most), LEAST)


def _array(data: Any) -> Source:
    columns = getattr(data, "dtypes", None)
    if hasattr(data, "iloc") and columns is not None:  # a pandas frame
        _refuse_words([name for name, kind in columns.items() if kind.kind not in "fiub"])
        return Source(len(data), len(columns), lambda rows: data.iloc[rows].to_numpy())
    if not hasattr(data, "shape"):
        data = np.asarray(data)
    if len(data.shape) != 2:
        check_array(data)  # says what is wrong with it
    return Source(int(data.shape[0]), int(data.shape[1]), lambda rows: data[rows])


def _refuse_words(columns: Sequence[object]) -> None:
    if columns:
        raise ValueError(
            f"columns {', '.join(map(repr, columns))} hold no numbers; drop them or turn them "
            "into numbers."
        )


def _opened(path: Path) -> Source:
    """A file by its ending."""
    readers = {".npy": _npy, ".npz": _npz, ".csv": _csv, ".parquet": _parquet}
    if path.suffix.lower() not in readers:
        raise ValueError(
            f"cannot read {path.name!r}: the file must end in {', '.join(readers)}. Load it and "
            "give the array."
        )
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {str(path)!r}.")
    return readers[path.suffix.lower()](path)


def _npy(path: Path) -> Source:
    return _array(np.load(path, mmap_mode="r", allow_pickle=False))


def _npz(path: Path) -> Source:
    with np.load(path, allow_pickle=False) as arrays:
        name = "X" if "X" in arrays.files else arrays.files[0]
        if name != "X" and len(arrays.files) > 1:
            raise ValueError(
                f"{path.name!r} holds {', '.join(arrays.files)}; name the data X, or give the "
                "array."
            )
        return _array(arrays[name])


def _csv(path: Path) -> Source:
    """Lines of numbers, a row a line, with or without a line of names above."""
    with path.open(newline="", encoding="utf-8") as lines:
        first = next(csv.reader(lines), [])
        n_lines = 1 + sum(1 for line in lines if line.strip())
    named = not any(map(_is_number, first))

    def fetch(rows: NDArray[np.intp]) -> Array:
        wanted = set((rows + named).tolist())
        with path.open(newline="", encoding="utf-8") as lines:
            filled = (line for line in lines if line.strip())
            cells = list(csv.reader(line for i, line in enumerate(filled) if i in wanted))
        if any(len(row) != len(first) for row in cells):
            raise ValueError(
                f"{path.name!r} has lines that do not have {len(first)} cells, as the first has."
            )
        _refuse_words(
            [
                name if named else j
                for j, name in enumerate(first)
                if not all(_is_number(row[j]) for row in cells)
            ]
        )
        return np.array(cells, dtype=np.float64)

    return Source(n_lines - named, len(first), fetch)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _parquet(path: Path) -> Source:
    """Row groups, of which only those that hold a row of the sample are read."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ImportError(
            "a .parquet file needs pyarrow: pip install 'rskpca[parquet]'."
        ) from error
    file = pq.ParquetFile(path)
    numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    _refuse_words([f.name for f in file.schema_arrow if not any(is_(f.type) for is_ in numeric)])
    sizes = [file.metadata.row_group(g).num_rows for g in range(file.metadata.num_row_groups)]
    starts = np.concatenate([[0], np.cumsum(sizes)])

    def fetch(rows: NDArray[np.intp]) -> Array:
        parts = []
        for g, start in enumerate(starts[:-1]):
            inside = rows[(rows >= start) & (rows < starts[g + 1])] - start
            if len(inside):
                table = file.read_row_group(g).take(pa.array(inside))
                parts.append(np.column_stack([column.to_numpy() for column in table.columns]))
        return np.concatenate(parts)

    return Source(int(starts[-1]), len(file.schema_arrow), fetch)

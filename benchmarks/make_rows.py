"""Rows of 16 features without end: forty clusters in which far-off rows turn up for ever.

The rows of a number are always the same. ``python -m benchmarks.make_rows FOLDER [--rows N]``
writes them to a folder of Parquet files; the 20,000,000 of the benchmark are 2.5 GB.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from .datasets import Floats

N_FEATURES = 16
PART_ROWS = 500_000
_CLUSTERS, _NOISE = 40, 0.3
_SPAN = 50_000
_CENTERS = np.random.default_rng(0).normal(scale=3.0, size=(_CLUSTERS, N_FEATURES))


def spans(n_rows: int, start: int = 0) -> Iterator[Floats]:
    """The rows from ``start`` on, up to ``n_rows``, some at a time."""
    for span in range(start // _SPAN, -(-n_rows // _SPAN)):
        rng = np.random.default_rng([1, span])
        rows = rng.standard_normal((_SPAN, N_FEATURES))
        rows *= _NOISE
        rows += _CENTERS[rng.integers(_CLUSTERS, size=_SPAN)]
        first = span * _SPAN
        yield rows[max(start - first, 0) : n_rows - first]


def write(folder: Path, n_rows: int) -> Path:
    """Parts of half a million rows, as pyarrow writes them by default."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    for i, start in enumerate(range(0, n_rows, PART_ROWS)):
        columns = np.concatenate(list(spans(min(start + PART_ROWS, n_rows), start))).T
        table = pa.table({f"x{j:02}": np.ascontiguousarray(c) for j, c in enumerate(columns)})
        pq.write_table(table, folder / f"part-{i:04}.parquet")
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.make_rows")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=20_000_000)
    options = parser.parse_args()
    write(options.folder, options.rows)


if __name__ == "__main__":
    main()

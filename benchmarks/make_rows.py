"""Generators for an endless stream with 16 features and for vectors like sentence embeddings.

The stream has forty clusters, and its number of centers keeps growing. It is reproducible: row i is
always the same. ``python -m benchmarks.make_rows FOLDER [--rows N]`` writes the rows to a folder of
Parquet files; the 20,000,000 rows of the benchmark take 2.5 GB.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .datasets import Floats

N_FEATURES = 16
ROWS_PER_FILE = 500_000
_N_CLUSTERS, _NOISE = 40, 0.3
_CHUNK_ROWS = 50_000
_N_TOPICS, _SPREAD = 300, 0.7
_CENTERS = np.random.default_rng(0).normal(scale=3.0, size=(_N_CLUSTERS, N_FEATURES))


def make_chunks(stop: int, start: int = 0) -> Iterator[Floats]:
    """Yield the rows from ``start`` to ``stop`` in chunks."""
    for chunk in range(start // _CHUNK_ROWS, -(-stop // _CHUNK_ROWS)):
        rng = np.random.default_rng([1, chunk])
        rows = rng.standard_normal((_CHUNK_ROWS, N_FEATURES))
        rows *= _NOISE
        rows += _CENTERS[rng.integers(_N_CLUSTERS, size=_CHUNK_ROWS)]
        first = chunk * _CHUNK_ROWS
        yield rows[max(start - first, 0) : stop - first]


def make_embeddings(n_rows: int, n_features: int = 768) -> NDArray[np.float32]:
    """Return unit vectors in 300 topics of unequal size, like the embeddings of sentences.

    The variances of the topic centers decrease like those of the principal components of text
    embeddings, and the rows of a topic are spread around its center in all directions.
    """
    rng = np.random.default_rng(2)
    spectrum = np.arange(1, n_features + 1) ** -0.6
    rotation = np.linalg.qr(rng.standard_normal((n_features, n_features)))[0]
    topics = rng.standard_normal((_N_TOPICS, n_features)) * spectrum @ rotation
    shares = 1 / np.arange(1, _N_TOPICS + 1)
    labels = rng.choice(_N_TOPICS, n_rows, p=shares / shares.sum())
    rows = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    rows *= np.float32(_SPREAD * np.linalg.norm(spectrum) / np.sqrt(n_features))
    rows += topics.astype(np.float32)[labels]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def write(folder: Path, n_rows: int) -> Path:
    """Write Parquet files of half a million rows each, with pyarrow's default options."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    for i, start in enumerate(range(0, n_rows, ROWS_PER_FILE)):
        columns = np.concatenate(list(make_chunks(min(start + ROWS_PER_FILE, n_rows), start))).T
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

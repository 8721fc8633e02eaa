"""The same table as every kind of input that open_source accepts."""

import h5py
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import zarr

NAMES = ("a", "b", "c")


def table(n=1000, dtype=np.float64):
    return np.random.default_rng(0).normal(size=(n, len(NAMES))).astype(dtype)


def arrow(X):
    return pa.table(dict(zip(NAMES, X.T.copy(), strict=True)))


def _npz(path, X):
    np.savez(path, X=X, y=np.zeros(3))
    return path


def _fortran_npz(path, X):
    np.savez(path, X=np.asfortranarray(X))
    return path


def _compressed(path, X):
    np.savez_compressed(path, data=X)
    return path


def _npy(path, X):
    np.save(path, X)
    return path


def _fortran_npy(path, X):
    np.save(path, np.asfortranarray(X))
    return path


def _csv(path, X):
    pd.DataFrame(X, columns=NAMES).to_csv(path, index=False)
    return path


def _bare_csv(path, X):
    pd.DataFrame(X).to_csv(path, index=False, header=False)
    return path


def _parquet(path, X):
    pq.write_table(arrow(X), path, row_group_size=130)
    return path


def _feather(path, X):
    feather.write_feather(arrow(X), path, chunksize=90, compression="lz4")
    return path


def _arrow(path, X):
    with pa.ipc.new_file(path, arrow(X).schema) as file:
        file.write_table(arrow(X), max_chunksize=333)
    return path


def _arrow_stream(path, X):
    with pa.ipc.new_stream(path, arrow(X).schema) as file:
        file.write_table(arrow(X), max_chunksize=333)
    return path


def _hdf5(path, X):
    with h5py.File(path, "w") as file:
        file["notes"] = [1, 2, 3]
        file.create_dataset("group/data", data=X, chunks=(64, 2))
    return path


def _zarr(path, X):
    zarr.save(str(path), X)
    return path


def _zarr_group(path, X):
    group = zarr.open_group(str(path), mode="w")
    group.create_array("X", data=X, chunks=(77, 2))
    group.create_array("other", data=X[:5])
    return path


def _folder(write, ending):
    def write_parts(path, X):
        path.mkdir()
        (path / "_SUCCESS").touch()
        for i, part in enumerate(np.array_split(X, 4)):
            write(path / f"part-{i}{ending}", part)
        return path

    return write_parts


FILES = {
    "npy": (".npy", _npy),
    "column-major npy": (".npy", _fortran_npy),
    "npz": (".npz", _npz),
    "column-major npz": (".npz", _fortran_npz),
    "compressed npz": (".npz", _compressed),
    "csv": (".csv", _csv),
    "csv without names": (".csv", _bare_csv),
    "parquet": (".parquet", _parquet),
    "feather": (".feather", _feather),
    "arrow": (".arrow", _arrow),
    "arrow stream": (".arrows", _arrow_stream),
    "hdf5": (".h5", _hdf5),
    "zarr": (".zarr", _zarr),
    "zarr group": (".zarr", _zarr_group),
    "folder of parquet": ("", _folder(_parquet, ".parquet")),
    "folder of csv": ("", _folder(_csv, ".csv")),
    "folder of npy": ("", _folder(_npy, ".npy")),
}

IN_MEMORY = {
    "array": lambda X: X,
    "list": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=list(NAMES)),
    "pyarrow": arrow,
    "record batch": lambda X: arrow(X).combine_chunks().to_batches()[0],
    "list of arrays": lambda X: np.array_split(X, 7),
    "iterator of arrays": lambda X: iter(np.array_split(X, 7)),
    "function of arrays": lambda X: lambda: iter(np.array_split(X, 7)),
    "iterator of pandas": lambda X: (pd.DataFrame(x, columns=NAMES) for x in np.array_split(X, 7)),
    "iterator of polars": lambda X: (
        pl.DataFrame(x, schema=list(NAMES)) for x in np.array_split(X, 7)
    ),
    "iterator of pyarrow": lambda X: iter(arrow(X).to_batches(max_chunksize=111)),
}

KINDS = [*FILES, *IN_MEMORY]


def make_input(kind, folder, X):
    """Return the table as this kind of input."""
    if kind in IN_MEMORY:
        return IN_MEMORY[kind](X)
    ending, write = FILES[kind]
    return write(folder / f"data{ending}", X)

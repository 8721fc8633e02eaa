"""Test that coordinates and labels are written to files completely or not at all."""

import errno
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rskpca import KernelPCANovelty, NormalizedCut, ReducedSetKernelPCA, save, scaling
from rskpca.data import SourceWarning, open_source
from rskpca.scaling import _outputs
from tests.data.test_formats import write_xlsx

X = np.random.default_rng(0).normal(size=(2000, 3))
NAMES = ["a", "b", "c"]
MODEL = ReducedSetKernelPCA(2, bandwidth=2.0).fit(X)


def read(path):
    if path.suffix == ".npy":
        return np.load(path)
    return (pd.read_parquet if path.suffix == ".parquet" else pd.read_csv)(path).to_numpy()


@pytest.mark.parametrize("ending", ["npy", "parquet", "csv"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("known", [True, False])
def test_the_file_contains_the_coordinates(tmp_path, ending, dtype, known):
    rows = X.astype(dtype)
    data = rows if known else iter(np.array_split(rows, 3))
    path = scaling.transform(MODEL, open_source(data, block_rows=300), tmp_path / f"Z.{ending}")
    assert [entry.name for entry in tmp_path.iterdir()] == [f"Z.{ending}"]
    Z = read(path)
    assert ending == "csv" or Z.dtype == dtype
    np.testing.assert_allclose(Z, MODEL.transform(rows), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize("output", ["Z.npy", "Z.parquet", "Z.csv"])
def test_a_numeric_header_is_not_embedded(tmp_path, ending, output):
    frame, path = pd.DataFrame(X, columns=["0", "1", "2"]), tmp_path / f"data.{ending}"
    if ending == "csv":
        frame.to_csv(path, index=False)
    else:
        write_xlsx(path, [[0, 1, 2], *X.tolist()])
    with pytest.warns(SourceWarning, match="read as column names"):
        source = open_source(path)
    model = scaling.fit(ReducedSetKernelPCA(2, bandwidth=2.0), source)
    Z = read(scaling.transform(model, source, tmp_path / output))
    assert Z.shape == (len(X), 2)
    np.testing.assert_allclose(Z, model.transform(frame), rtol=1e-9, atol=1e-12)


def test_ids_are_written_before_the_coordinates(tmp_path):
    frame = pd.DataFrame(X, columns=NAMES).assign(
        id=np.arange(2000) + 2**60, name=[f"row {i}" for i in range(2000)]
    )
    model = scaling.fit(ReducedSetKernelPCA(2), open_source(frame, columns=NAMES))
    source = open_source(frame, ids=["id", "name"], block_rows=300)
    written = pd.read_parquet(scaling.transform(model, source, tmp_path / "Z.parquet"))
    assert list(written) == ["id", "name", "reducedsetkernelpca0", "reducedsetkernelpca1"]
    np.testing.assert_array_equal(written["id"], frame["id"])
    np.testing.assert_array_equal(written["name"], frame["name"])


def _gaps(start, stop, value="x"):
    return [None if start <= i < stop else f"{value}{i}" for i in range(2000)]


KEYS = {
    "missing in the first block": _gaps(0, 500),
    "missing in a middle block": _gaps(500, 1000),
    "all missing": [None] * 2000,
    "booleans": [True] * 1000 + [False] * 1000,
    "booleans and missing": [True] * 700 + [None] * 1300,
    "integers": list(range(2**60 + 1, 2**60 + 2001)),
    "times": [datetime(2026, 1, 1) + timedelta(hours=i) for i in range(2000)],
    "decimals": [Decimal(i) / 4 for i in range(1000, 3000)],
}


@pytest.mark.parametrize("library", ["pandas", "polars", "parquet", "iterator"])
@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
def test_ids_keep_their_types_and_missing_values(tmp_path, library, keys):
    table = pa.table({**dict(zip(NAMES, X.T.copy(), strict=True)), "key": keys})
    if library == "parquet":
        pq.write_table(table, tmp_path / "in.parquet")
    data = {
        "pandas": table.to_pandas,
        "polars": lambda: pl.from_arrow(table),
        "parquet": lambda: tmp_path / "in.parquet",
        "iterator": lambda: iter(table.to_batches(300)),
    }[library]()
    source = open_source(data, ids="key", block_rows=300)
    written = pq.read_table(scaling.transform(MODEL, source, tmp_path / "out.parquet"))
    assert written["key"].to_pylist() == keys


def test_categories_are_written_as_their_values(tmp_path):
    frame = pd.DataFrame(X, columns=NAMES).assign(kind=pd.Categorical(["tree", "bush"] * 1000))
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "in.parquet")
    for data in (frame, tmp_path / "in.parquet"):
        source = open_source(data, ids="kind", block_rows=300)
        written = pd.read_parquet(scaling.transform(MODEL, source, tmp_path / "out.parquet"))
        assert written["kind"].tolist() == ["tree", "bush"] * 1000


def test_missing_text_is_written_as_null(tmp_path):
    keys = pd.Series(["a", np.nan] * 1000, dtype=object)
    source = open_source(pd.DataFrame(X, columns=NAMES).assign(key=keys), ids="key")
    written = pq.read_table(scaling.transform(MODEL, source, tmp_path / "out.parquet"))
    assert written["key"].to_pylist() == ["a", None] * 1000


def test_ids_with_mixed_types_are_reported_before_any_work(tmp_path):
    frame = pd.DataFrame(X, columns=NAMES).assign(key=pd.Series(["a", 1] * 1000, dtype=object))
    seen = []
    with pytest.raises(ValueError, match=r"ids: column 'key' .* contains values of several types"):
        scaling.transform(
            MODEL, open_source(frame, ids="key", block_rows=300), tmp_path / "out.parquet",
            progress=lambda *x: seen.append(x),
        )  # fmt: skip
    assert seen == []


def test_the_name_of_an_id_column_may_be_a_number(tmp_path):
    frame = pd.DataFrame(np.c_[np.arange(2000), X])
    path = scaling.transform(MODEL, open_source(frame, ids=0), tmp_path / "out.parquet")
    np.testing.assert_array_equal(pd.read_parquet(path)["0"], np.arange(2000))


@pytest.mark.parametrize("ending", ["npy", "parquet", "csv"])
def test_an_input_error_does_not_mention_the_output(tmp_path, ending):
    def blocks():
        yield X
        raise OSError("the input disk was removed")

    with pytest.raises(OSError, match=r"^the input disk was removed$"):
        scaling.transform(MODEL, open_source(blocks, block_rows=100), tmp_path / f"Z.{ending}")
    assert list(tmp_path.iterdir()) == []


def test_two_threads_can_write_the_same_file(tmp_path):
    many = np.tile(X, (10, 1))
    barrier = threading.Barrier(2, timeout=60)

    def write():
        scaling.transform(
            MODEL, open_source(many, block_rows=2000), tmp_path / "Z.npy",
            progress=lambda rows, n_centers: barrier.wait(),
        )  # fmt: skip

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(write) for _ in range(2)]:
            done.result()
    np.testing.assert_array_equal(np.load(tmp_path / "Z.npy"), np.tile(MODEL.transform(X), (10, 1)))
    assert [entry.name for entry in tmp_path.iterdir()] == ["Z.npy"]


@pytest.mark.parametrize("ending", ["npy", "parquet", "csv"])
@pytest.mark.parametrize("estimator", [NormalizedCut(2), KernelPCANovelty()], ids=repr)
def test_the_file_contains_the_labels(tmp_path, estimator, ending):
    model = estimator.fit(X)
    path = scaling.predict(model, open_source(X, block_rows=300), tmp_path / f"labels.{ending}")
    np.testing.assert_array_equal(read(path).ravel(), model.predict(X))


def test_an_existing_file_is_replaced(tmp_path):
    (tmp_path / "Z.npy").write_text("old")
    scaling.transform(MODEL, X, tmp_path / "Z.npy")
    assert np.load(tmp_path / "Z.npy").shape == (2000, 2)


@pytest.mark.parametrize("ending", ["npy", "parquet", "csv"])
def test_an_error_leaves_an_existing_file_unchanged(tmp_path, ending):
    path = tmp_path / f"Z.{ending}"
    path.write_text("old")
    invalid = X.copy()
    invalid[1500, 2] = np.nan
    with pytest.raises(ValueError, match="row 1,500"):
        scaling.transform(MODEL, open_source(invalid, block_rows=100), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


_FULL_DISK = """
import resource, signal, sys
import numpy as np
from rskpca import load, scaling
from rskpca.data import open_source
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
model = load(sys.argv[1])
X = np.random.default_rng(0).normal(size=(20_000, 3))
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
for path in sys.argv[2:]:
    try:
        scaling.transform(model, open_source(X, block_rows=1000), path)
    except OSError as error:
        print(error)
    else:
        sys.exit("no error")
"""


@pytest.mark.skipif(os.name == "nt", reason="requires POSIX resource limits")
def test_a_file_that_exceeds_the_size_limit_is_removed(tmp_path):
    save(MODEL, tmp_path / "model")
    paths = [tmp_path / "out" / f"Z.{ending}" for ending in ("npy", "parquet", "csv")]
    paths[0].parent.mkdir()
    run = subprocess.run(
        [sys.executable, "-c", _FULL_DISK, tmp_path / "model", *paths],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for path, line in zip(paths, run.stdout.splitlines(), strict=True):
        assert f"'{path}' was not written" in line
    assert list(paths[0].parent.iterdir()) == []


def test_a_full_disk_is_reported(tmp_path, monkeypatch):
    def full(self, ids, values, empty):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_outputs._Npy, "write", full)
    with pytest.raises(OSError, match=r"No space left on device; '.*Z\.npy' was not written") as e:
        scaling.transform(MODEL, X, tmp_path / "Z.npy")
    assert e.value.errno == errno.ENOSPC
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="requires named pipes")
@pytest.mark.parametrize("name", ["pipe.npy", "pipe.csv"])
def test_a_pipe_is_not_replaced_and_the_error_says_why(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(OSError, match=r"Not a regular file; choose another name; .* not written"):
        scaling.transform(MODEL, X, tmp_path / name)
    assert (tmp_path / name).is_fifo()
    assert list(tmp_path.iterdir()) == [tmp_path / name]


def test_errors_of_pyarrow_are_shortened_to_their_reason(tmp_path):
    error = OSError(
        errno.ENOSPC, "Error writing bytes to file. Detail: [errno 28] No space left on device"
    )
    found = _outputs.not_written(tmp_path / "Z.csv", error)
    assert found.strerror == f"No space left on device; '{tmp_path / 'Z.csv'}' was not written"


def test_invalid_outputs_are_reported(tmp_path):
    with pytest.raises(ValueError, match=r"cannot write 'Z\.txt': the name must end in \.npy"):
        scaling.transform(MODEL, X, tmp_path / "Z.txt")
    with pytest.raises(FileNotFoundError, match="nowhere' does not exist"):
        scaling.transform(MODEL, X, tmp_path / "nowhere" / "Z.npy")
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(IsADirectoryError, match=r"folder\.npy' is a folder; pass a file name"):
        scaling.transform(MODEL, X, tmp_path / "folder.npy")
    frame = pd.DataFrame(X, columns=NAMES).assign(label=1)
    with pytest.raises(ValueError, match=r"a \.npy file cannot contain the ids 'label'"):
        scaling.transform(MODEL, open_source(frame, ids="label"), tmp_path / "Z.npy")
    with pytest.raises(ValueError, match="id column 'label' has the same name as an output column"):
        scaling.predict(
            NormalizedCut(2).fit(X), open_source(frame, ids="label"), tmp_path / "Z.csv"
        )


def test_a_missing_package_is_reported_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        ImportError, match=r'writing a \.csv file requires pyarrow: pip install "\.\[parquet'
    ):
        scaling.transform(MODEL, X, tmp_path / "Z.csv")
    assert list(tmp_path.iterdir()) == []


def test_columns_that_differ_from_those_in_the_fit_are_reported(tmp_path):
    with pytest.raises(ValueError, match="has 2 features, but the model was fitted with 3"):
        scaling.transform(MODEL, X[:, :2], tmp_path / "Z.npy")
    frame = pd.DataFrame(X, columns=NAMES)
    model = scaling.fit(ReducedSetKernelPCA(2), frame)
    with pytest.raises(ValueError, match="the column 'c' where the model expects 'a'"):
        scaling.transform(model, frame[NAMES[::-1]], tmp_path / "Z.npy")
    reordered = open_source(frame[NAMES[::-1]], columns=model.feature_names_in_)
    Z = np.load(scaling.transform(model, reordered, tmp_path / "Z.npy"))
    np.testing.assert_array_equal(Z, model.transform(frame))
    np.testing.assert_array_equal(np.load(scaling.transform(model, X, tmp_path / "Z.npy")), Z)


def test_integer_ids_with_different_dtypes_are_written(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for i, dtype in enumerate([np.int8, np.int64]):
        keys = np.full(1000, 100 * 2 ** (40 * i), dtype=dtype)
        frame = pd.DataFrame(X[1000 * i :][:1000], columns=NAMES).assign(key=keys)
        frame.to_parquet(folder / f"{i}.parquet")
    source = open_source(folder, ids="key", block_rows=300)
    written = pd.read_parquet(scaling.transform(MODEL, source, tmp_path / "out.parquet"))
    np.testing.assert_array_equal(written["key"], np.repeat([100, 100 * 2**40], 1000))

"""Coordinates and labels, into files that are whole or not there."""

import errno
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from rskpca import KernelPCANovelty, NormalizedCut, ReducedSetKernelPCA, save, scaling
from rskpca.scaling import _outputs
from rskpca.sources import open_source

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
def test_a_file_holds_the_coordinates(tmp_path, ending, dtype, known):
    rows = X.astype(dtype)
    data = rows if known else iter(np.array_split(rows, 3))
    path = scaling.transform(MODEL, open_source(data, block_rows=300), tmp_path / f"Z.{ending}")
    assert [entry.name for entry in tmp_path.iterdir()] == [f"Z.{ending}"]
    Z = read(path)
    assert ending == "csv" or Z.dtype == dtype
    np.testing.assert_allclose(Z, MODEL.transform(rows), rtol=1e-6, atol=1e-7)


def test_ids_come_along(tmp_path):
    frame = pd.DataFrame(X, columns=NAMES).assign(
        id=np.arange(2000) + 2**60, name=[f"row {i}" for i in range(2000)]
    )
    model = scaling.fit(ReducedSetKernelPCA(2), open_source(frame, columns=NAMES))
    source = open_source(frame, ids=["id", "name"], block_rows=300)
    written = pd.read_parquet(scaling.transform(model, source, tmp_path / "Z.parquet"))
    assert list(written) == ["id", "name", "reducedsetkernelpca0", "reducedsetkernelpca1"]
    np.testing.assert_array_equal(written["id"], frame["id"])
    np.testing.assert_array_equal(written["name"], frame["name"])


@pytest.mark.parametrize("ending", ["npy", "parquet", "csv"])
@pytest.mark.parametrize("estimator", [NormalizedCut(2), KernelPCANovelty()], ids=repr)
def test_a_file_holds_the_labels(tmp_path, estimator, ending):
    model = estimator.fit(X)
    path = scaling.predict(model, open_source(X, block_rows=300), tmp_path / f"labels.{ending}")
    np.testing.assert_array_equal(read(path).ravel(), model.predict(X))


def test_what_was_there_is_replaced(tmp_path):
    (tmp_path / "Z.npy").write_text("old")
    scaling.transform(MODEL, X, tmp_path / "Z.npy")
    assert np.load(tmp_path / "Z.npy").shape == (2000, 2)


@pytest.mark.parametrize("ending", ["npy", "parquet", "csv"])
def test_an_error_leaves_what_was_there(tmp_path, ending):
    path = tmp_path / f"Z.{ending}"
    path.write_text("old")
    spoilt = X.copy()
    spoilt[1500, 2] = np.nan
    with pytest.raises(ValueError, match="row 1,500"):
        scaling.transform(MODEL, open_source(spoilt, block_rows=100), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


_FULL_DISK = """
import resource, signal, sys
import numpy as np
from rskpca import load, scaling
from rskpca.sources import open_source
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


def test_a_file_that_cannot_grow_leaves_nothing(tmp_path):
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


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    def full(self, ids, values):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_outputs._Npy, "write", full)
    with pytest.raises(OSError, match=r"No space left on device; '.*Z\.npy' was not written") as e:
        scaling.transform(MODEL, X, tmp_path / "Z.npy")
    assert e.value.errno == errno.ENOSPC
    assert list(tmp_path.iterdir()) == []


def test_bad_outputs_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"cannot write 'Z\.txt': output must end in \.npy"):
        scaling.transform(MODEL, X, tmp_path / "Z.txt")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        scaling.transform(MODEL, X, tmp_path / "nowhere" / "Z.npy")
    frame = pd.DataFrame(X, columns=NAMES).assign(label=1)
    with pytest.raises(ValueError, match=r"a \.npy file holds numbers alone, but 'label'"):
        scaling.transform(MODEL, open_source(frame, ids="label"), tmp_path / "Z.npy")
    with pytest.raises(ValueError, match="ids: 'label' is a name of the output too"):
        scaling.predict(
            NormalizedCut(2).fit(X), open_source(frame, ids="label"), tmp_path / "Z.csv"
        )


def test_a_missing_package_is_named_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'a \.csv file needs pyarrow: pip install "rskpca\[pa'):
        scaling.transform(MODEL, X, tmp_path / "Z.csv")
    assert list(tmp_path.iterdir()) == []


def test_other_columns_are_named(tmp_path):
    with pytest.raises(ValueError, match="has 2 features, but the model was fitted to 3"):
        scaling.transform(MODEL, X[:, :2], tmp_path / "Z.npy")
    frame = pd.DataFrame(X, columns=NAMES)
    model = scaling.fit(ReducedSetKernelPCA(2), frame)
    with pytest.raises(ValueError, match="the column 'c' where the model was fitted to 'a'"):
        scaling.transform(model, frame[NAMES[::-1]], tmp_path / "Z.npy")
    turned = open_source(frame[NAMES[::-1]], columns=model.feature_names_in_)
    Z = np.load(scaling.transform(model, turned, tmp_path / "Z.npy"))
    np.testing.assert_array_equal(Z, model.transform(frame))
    np.testing.assert_array_equal(np.load(scaling.transform(model, X, tmp_path / "Z.npy")), Z)

"""Test that an interrupted fit can be resumed without losing or repeating any row."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rskpca import RadialKernel, ReducedSetKernelPCA, ShadowDensity, save, scaling
from rskpca.data import open_source
from rskpca.io import ModelFileError

X = np.random.default_rng(0).normal(size=(1000, 3)) + np.linspace(0, 2, 1000)[:, None]


class StoppedError(Exception):
    pass


def fit(estimator, source, checkpoint, stop=None, every=0):
    """Return the model (None if stopped after ``stop`` rows) and the reported numbers of rows."""
    seen = []

    def watch(rows, n_centers):
        seen.append(rows)
        if stop is not None and rows > stop:
            raise StoppedError

    options = {"checkpoint": checkpoint, "checkpoint_every": every}
    try:
        return scaling.fit(estimator, source, progress=watch, **options), seen
    except StoppedError:
        return None, seen


@pytest.fixture
def data(tmp_path):
    pd.DataFrame(X, columns=["a", "b", "c"]).to_parquet(tmp_path / "X.parquet", row_group_size=90)
    return tmp_path / "X.parquet"


@pytest.mark.parametrize("stop", [0, 300, 999])
@pytest.mark.parametrize(
    "estimator",
    [
        ReducedSetKernelPCA(2),
        ReducedSetKernelPCA(2, basis=10, refine="nystrom"),
        ShadowDensity(ell=5.0, max_centers=80),
    ],
    ids=repr,
)
def test_a_fit_resumes_from_the_last_checkpoint(data, tmp_path, estimator, stop):
    saved = tmp_path / "checkpoint"
    fit(estimator, open_source(data, block_rows=70), saved, stop)
    model, seen = fit(estimator, open_source(data, block_rows=110), saved)
    assert seen[0] == stop // 70 * 70 + min(110, 1000 - stop // 70 * 70)
    assert model.reduced_set_ == estimator.fit(X).reduced_set_
    assert repr(model) == repr(estimator)


def test_a_finished_fit_is_returned_immediately(data, tmp_path):
    estimator = ReducedSetKernelPCA(2)
    first, seen = fit(estimator, data, tmp_path / "checkpoint")
    assert seen
    again, seen = fit(estimator, data, tmp_path / "checkpoint")
    assert seen == []
    assert again.reduced_set_ == first.reduced_set_
    np.testing.assert_array_equal(again.feature_names_in_, first.feature_names_in_)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["X.parquet", "checkpoint"]


def test_checkpoints_are_written_at_the_requested_interval(data, tmp_path):
    fit(
        ReducedSetKernelPCA(2), open_source(data, block_rows=70), tmp_path / "checkpoint", 500, 60.0
    )
    seen = fit(ReducedSetKernelPCA(2), data, tmp_path / "checkpoint")[1]
    assert seen == [1000]  # the only checkpoint was written at the start


def test_a_fit_to_an_iterator_can_be_resumed_with_an_equal_iterator(tmp_path):
    estimator = ReducedSetKernelPCA(2, bandwidth=1.0)
    fit(
        estimator,
        open_source(iter(np.array_split(X, 9)), block_rows=70),
        tmp_path / "checkpoint",
        400,
    )
    model, seen = fit(estimator, iter(np.array_split(X, 9)), tmp_path / "checkpoint")
    assert seen == [1000]
    assert model.reduced_set_ == estimator.fit(X).reduced_set_


def test_a_checkpoint_of_another_estimator_is_rejected(data, tmp_path):
    fit(ReducedSetKernelPCA(2), data, tmp_path / "checkpoint")
    for other in (ReducedSetKernelPCA(3), ReducedSetKernelPCA(2, ell=5.0), ShadowDensity()):
        with pytest.raises(
            ValueError, match=r"checkpoint' was written for a different estimator.*delete"
        ):
            fit(other, data, tmp_path / "checkpoint")


def test_a_checkpoint_of_another_source_is_rejected(data, tmp_path):
    estimator = ReducedSetKernelPCA(2)
    fit(estimator, data, tmp_path / "checkpoint")
    with pytest.raises(ValueError, match=r"checkpoint' was written for a different source.*delete"):
        fit(estimator, open_source(data, columns=["a", "b"]), tmp_path / "checkpoint")
    pd.DataFrame(X + 1, columns=["a", "b", "c"]).to_parquet(data)
    with pytest.raises(ValueError, match=r"a different source, or the source has changed since"):
        fit(estimator, data, tmp_path / "checkpoint")


def test_files_that_are_not_checkpoints_are_rejected(data, tmp_path):
    saved = tmp_path / "checkpoint"
    save(ReducedSetKernelPCA(2), saved)
    with pytest.raises(ValueError, match=r"checkpoint' is not a checkpoint; choose another file"):
        fit(ReducedSetKernelPCA(2), data, saved)
    saved.write_bytes(b"something else")
    with pytest.raises(ModelFileError, match="checkpoint"):
        fit(ReducedSetKernelPCA(2), data, saved)
    assert saved.read_bytes() == b"something else"


@pytest.mark.parametrize(
    ("estimator", "name", "error", "message"),
    [
        (
            ReducedSetKernelPCA(2, random_state=np.random.RandomState(0)),
            "checkpoint",
            ValueError,
            "rand",
        ),
        (
            ShadowDensity(RadialKernel(lambda s: np.exp(-s), 2, 1.0)),
            "checkpoint",
            ValueError,
            "an anonymous function",
        ),
        (
            ReducedSetKernelPCA(2),
            "nowhere/checkpoint",
            FileNotFoundError,
            "nowhere' does not exist; create it",
        ),
        (ReducedSetKernelPCA(2), ".", IsADirectoryError, "is a folder; pass a file name"),
        (
            make_pipeline(StandardScaler(), ReducedSetKernelPCA(2)),
            "nowhere/checkpoint",
            FileNotFoundError,
            "nowhere' does not exist; create it",
        ),
    ],
)
def test_checkpoints_that_cannot_be_saved_are_reported_before_any_work(
    tmp_path, estimator, name, error, message
):
    lengths = []

    def blocks():
        for part in np.array_split(X, 10):
            lengths.append(len(part))
            yield part

    with pytest.raises(error, match=message):
        scaling.fit(estimator, blocks, checkpoint=tmp_path / name)
    assert len(lengths) == 1  # the block that was read to open the source
    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_of_another_array_in_the_same_file_is_rejected(tmp_path):
    np.savez(tmp_path / "data.npz", a=X, b=X + 100)
    estimator = ReducedSetKernelPCA(2)
    fit(estimator, open_source(tmp_path / "data.npz", dataset="a"), tmp_path / "checkpoint")
    with pytest.raises(ValueError, match="a different source"):
        fit(estimator, open_source(tmp_path / "data.npz", dataset="b"), tmp_path / "checkpoint")


@pytest.mark.parametrize("every", [-1, "often", None])
def test_an_invalid_interval_is_reported(data, every):
    with pytest.raises(ValueError, match="checkpoint_every must be a number of at least 0"):
        scaling.fit(ReducedSetKernelPCA(2), data, checkpoint_every=every)


@pytest.mark.skipif(sys.platform != "linux", reason="requires fork, which BLAS survives on Linux")
def test_a_killed_fit_can_be_resumed():
    """``python -m tests.scaling.killed`` repeats this with twenty kills."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.scaling.killed", "--count", "5"],
        capture_output=True, text=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert "killed 5 times" in run.stdout

"""A fit that was stopped goes on, with nothing counted twice and nothing lost."""

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
    """A fit that ends after ``stop`` rows; also the rows that it told of."""
    told = []

    def tell(rows, n_centers):
        told.append(rows)
        if stop is not None and rows > stop:
            raise StoppedError

    notes = {"checkpoint": checkpoint, "checkpoint_every": every}
    try:
        return scaling.fit(estimator, source, progress=tell, **notes), told
    except StoppedError:
        return None, told


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
def test_it_goes_on_from_the_last_note(data, tmp_path, estimator, stop):
    notes = tmp_path / "notes"
    fit(estimator, open_source(data, block_rows=70), notes, stop)
    model, told = fit(estimator, open_source(data, block_rows=110), notes)
    assert told[0] == stop // 70 * 70 + min(110, 1000 - stop // 70 * 70)
    assert model.reduced_set_ == estimator.fit(X).reduced_set_
    assert repr(model) == repr(estimator)


def test_what_is_finished_comes_back_at_once(data, tmp_path):
    estimator = ReducedSetKernelPCA(2)
    first, told = fit(estimator, data, tmp_path / "notes")
    assert told
    again, told = fit(estimator, data, tmp_path / "notes")
    assert told == []
    assert again.reduced_set_ == first.reduced_set_
    np.testing.assert_array_equal(again.feature_names_in_, first.feature_names_in_)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["X.parquet", "notes"]


def test_notes_are_taken_when_they_are_due(data, tmp_path):
    fit(ReducedSetKernelPCA(2), open_source(data, block_rows=70), tmp_path / "notes", 500, 60.0)
    told = fit(ReducedSetKernelPCA(2), data, tmp_path / "notes")[1]
    assert told == [1000]  # the note was that of the start


def test_an_iterator_goes_on_when_it_is_drawn_again(tmp_path):
    estimator = ReducedSetKernelPCA(2, bandwidth=1.0)
    fit(estimator, open_source(iter(np.array_split(X, 9)), block_rows=70), tmp_path / "notes", 400)
    model, told = fit(estimator, iter(np.array_split(X, 9)), tmp_path / "notes")
    assert told == [1000]
    assert model.reduced_set_ == estimator.fit(X).reduced_set_


def test_another_estimator_is_refused(data, tmp_path):
    fit(ReducedSetKernelPCA(2), data, tmp_path / "notes")
    for other in (ReducedSetKernelPCA(3), ReducedSetKernelPCA(2, ell=5.0), ShadowDensity()):
        with pytest.raises(ValueError, match=r"notes' was made with another estimator.*delete"):
            fit(other, data, tmp_path / "notes")


def test_another_source_is_refused(data, tmp_path):
    estimator = ReducedSetKernelPCA(2)
    fit(estimator, data, tmp_path / "notes")
    with pytest.raises(ValueError, match=r"notes' was made with another source.*delete"):
        fit(estimator, open_source(data, columns=["a", "b"]), tmp_path / "notes")
    pd.DataFrame(X + 1, columns=["a", "b", "c"]).to_parquet(data)
    with pytest.raises(ValueError, match=r"another source, or it has changed since"):
        fit(estimator, data, tmp_path / "notes")


def test_files_that_are_no_checkpoint_are_refused(data, tmp_path):
    notes = tmp_path / "notes"
    save(ReducedSetKernelPCA(2), notes)
    with pytest.raises(ValueError, match=r"notes' is no checkpoint; name another file"):
        fit(ReducedSetKernelPCA(2), data, notes)
    notes.write_bytes(b"something else")
    with pytest.raises(ModelFileError, match="notes"):
        fit(ReducedSetKernelPCA(2), data, notes)
    assert notes.read_bytes() == b"something else"


@pytest.mark.parametrize(
    ("estimator", "name", "error", "message"),
    [
        (
            ReducedSetKernelPCA(2, random_state=np.random.RandomState(0)),
            "notes",
            ValueError,
            "rand",
        ),
        (
            ShadowDensity(RadialKernel(lambda s: np.exp(-s), 2, 1.0)),
            "notes",
            ValueError,
            "a function without a name",
        ),
        (ReducedSetKernelPCA(2), "nowhere/notes", FileNotFoundError, "checkpoint: there is no fol"),
        (ReducedSetKernelPCA(2), ".", IsADirectoryError, "is a folder; name a file in it"),
        (
            make_pipeline(StandardScaler(), ReducedSetKernelPCA(2)),
            "nowhere/notes",
            FileNotFoundError,
            "checkpoint: there is no folder",
        ),
    ],
)
def test_what_cannot_be_noted_is_told_before_any_work(tmp_path, estimator, name, error, message):
    drawn = []

    def blocks():
        for part in np.array_split(X, 10):
            drawn.append(len(part))
            yield part

    with pytest.raises(error, match=message):
        scaling.fit(estimator, blocks, checkpoint=tmp_path / name)
    assert len(drawn) == 1  # at opening
    assert list(tmp_path.iterdir()) == []


def test_another_array_of_the_file_is_refused(tmp_path):
    np.savez(tmp_path / "data.npz", a=X, b=X + 100)
    estimator = ReducedSetKernelPCA(2)
    fit(estimator, open_source(tmp_path / "data.npz", dataset="a"), tmp_path / "notes")
    with pytest.raises(ValueError, match="another source"):
        fit(estimator, open_source(tmp_path / "data.npz", dataset="b"), tmp_path / "notes")


@pytest.mark.parametrize("every", [-1, "often", None])
def test_a_bad_interval_is_named(data, every):
    with pytest.raises(ValueError, match="checkpoint_every must be a number of at least 0"):
        scaling.fit(ReducedSetKernelPCA(2), data, checkpoint_every=every)


def test_a_killed_fit_goes_on():
    """Twenty kills: python -m tests.scaling.killed."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.scaling.killed", "--count", "5"],
        capture_output=True, text=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert "killed 5 times" in run.stdout

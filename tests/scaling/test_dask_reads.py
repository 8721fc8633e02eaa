"""How often the blocks of a Dask collection are read, and what is asked of the scheduler."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from rskpca import ReducedSetKernelPCA
from rskpca.scaling.dask import fit
from rskpca.scaling.dask._stages import Stages
from tests import datasets

X = datasets.blobs(3000, 3)
BLOCKS = da.from_array(X, chunks=(170, 3))
PARTITIONS = dd.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]), npartitions=7)


@pytest.fixture(autouse=True)
def _here():
    with dask.config.set(scheduler="synchronous"):
        yield


def counting(collection):
    """The collection, and how often its blocks were read."""
    reads = []

    def read(block):
        reads.append(1)
        return block

    if isinstance(collection, da.Array):
        return collection.map_blocks(read, meta=np.empty((0, 3))), reads
    return collection.map_partitions(read, meta=collection._meta), reads


@pytest.mark.parametrize(
    ("collection", "options", "weighted", "times"),
    [
        (BLOCKS, {"bandwidth": 4.0}, False, 2),
        (BLOCKS, {}, False, 3),
        (BLOCKS, {}, True, 4),
        (PARTITIONS, {}, False, 4),
        (PARTITIONS, {"refine": "nystrom", "basis": 20}, False, 5),
    ],
)
def test_how_often_blocks_are_read(collection, options, weighted, times):
    watched, reads = counting(collection)
    weights = np.ones(len(X)) if weighted else None
    fit(ReducedSetKernelPCA(2, ell=3.0, **options), watched, sample_weight=weights)
    assert len(reads) == times * collection.npartitions + 1  # and the first block for its first row


def test_blocks_that_the_sample_is_not_in_are_not_read_for_it(monkeypatch):
    monkeypatch.setattr("rskpca.scaling.dask._sample.median_sample", lambda n_features: 5)
    watched, reads = counting(BLOCKS)
    fit(ReducedSetKernelPCA(2, ell=3.0), watched)
    assert 2 * 18 + 1 < len(reads) <= 2 * 18 + 1 + 5


def test_the_first_row_is_asked_for_in_batches(monkeypatch):
    asked, answer = [], Stages.answer
    monkeypatch.setattr(Stages, "answer", lambda self, task: asked.append(1) or answer(self, task))
    weights = np.zeros(len(X))
    weights[-20:] = 1
    blocks = da.from_array(X, chunks=(30, 3))
    model = fit(ReducedSetKernelPCA(2, bandwidth=4.0), blocks, sample_weight=weights)
    np.testing.assert_array_equal(model.reduced_set_.centers[0], X[-20])
    assert len(asked) == 7 + 2  # 1 + 2 + 4 + ... blocks reach 100; then cover and count


def test_an_error_that_comes_just_after_a_wait_is_the_tasks_own():
    class Future:
        status = "pending"

        def result(self, timeout=None):
            if timeout is None:
                raise ValueError("block 4: row 33 holds NaN")
            self.status = "error"
            raise TimeoutError

    with pytest.raises(ValueError, match="block 4: row 33"):
        Stages(1.0)._awaited(None, Future())


def test_names_of_columns_are_checked_before_anything_is_read():
    watched, reads = counting(PARTITIONS.rename(columns={"a": 0}))
    model = ReducedSetKernelPCA(2, ell=3.0)
    with pytest.raises(TypeError, match=r"only supported if all input features have string"):
        fit(model, watched)
    assert not reads
    assert not hasattr(model, "kernel_")


def test_weights_beside_the_columns_of_a_parquet_file(tmp_path):
    """Dask would read many small columns of several partitions at once, and few of fewer."""
    names = list("abcdefgh")
    rows = np.random.default_rng(2).normal(size=(1600, 8))
    frame = pd.DataFrame(rows, columns=names).assign(w=np.arange(1600) % 3)
    for i, part in enumerate(np.split(np.arange(1600), 16)):
        frame.iloc[part].to_parquet(tmp_path / f"{i:02}.parquet")
    stored = dd.read_parquet(tmp_path)
    model = fit(ReducedSetKernelPCA(2, ell=1.0), stored[names], sample_weight=stored.w)
    assert model.reduced_set_.n_samples == frame.w.sum()
    here = da.from_array(rows, chunks=(100, 8))
    expected = fit(ReducedSetKernelPCA(2, ell=1.0), here, sample_weight=frame.w.to_numpy())
    assert model.reduced_set_ == expected.reduced_set_

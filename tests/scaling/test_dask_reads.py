"""Test how often the blocks of a Dask collection are read."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from rskpca import ReducedSetKernelPCA
from rskpca.scaling.dask import fit
from rskpca.scaling.dask._blocks import Stages
from tests import datasets

X = datasets.blobs(3000, 3)
BLOCKS = da.from_array(X, chunks=(170, 3))
PARTITIONS = dd.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]), npartitions=7)


@pytest.fixture(autouse=True)
def _local_scheduler():
    with dask.config.set(scheduler="synchronous"):
        yield


def counting(collection):
    """Return the collection and a list that grows with each block read."""
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
def test_blocks_are_read_no_more_often_than_documented(collection, options, weighted, times):
    watched, reads = counting(collection)
    weights = np.ones(len(X)) if weighted else None
    fit(ReducedSetKernelPCA(2, ell=3.0, **options), watched, sample_weight=weights)
    first_row = "bandwidth" in options  # one row is read if no rows are sampled
    assert len(reads) == times * collection.npartitions + first_row


def test_only_blocks_with_sampled_rows_are_read_for_the_sample(monkeypatch):
    monkeypatch.setattr("rskpca.scaling.dask._fit.median_sample_size", lambda n_features: 5)
    watched, reads = counting(BLOCKS)
    fit(ReducedSetKernelPCA(2, ell=3.0), watched)
    assert 2 * 18 < len(reads) <= 2 * 18 + 5


def test_the_first_row_with_weight_is_searched_for_in_batches(monkeypatch):
    calls, compute = [], Stages.compute
    monkeypatch.setattr(
        Stages, "compute", lambda self, task: calls.append(1) or compute(self, task)
    )
    weights = np.zeros(len(X))
    weights[-20:] = 1
    blocks = da.from_array(X, chunks=(30, 3))
    model = fit(ReducedSetKernelPCA(2, bandwidth=4.0), blocks, sample_weight=weights)
    np.testing.assert_array_equal(model.reduced_set_.centers[0], X[-20])
    assert len(calls) == 7 + 2  # batches of 1, 2, 4, ... blocks up to 100; then cover and count


def test_a_task_error_right_after_a_timeout_is_raised():
    class Future:
        status = "pending"

        def result(self, timeout=None):
            if timeout is None:
                raise ValueError("block 4: row 33 contains NaN")
            self.status = "error"
            raise TimeoutError

    with pytest.raises(ValueError, match="block 4: row 33"):
        Stages(None, 1.0)._wait(None, Future())


def test_column_names_are_checked_before_any_block_is_read():
    watched, reads = counting(PARTITIONS.rename(columns={"a": 0}))
    model = ReducedSetKernelPCA(2, ell=3.0)
    with pytest.raises(TypeError, match=r"only supported if all input features have string"):
        fit(model, watched)
    assert not reads
    assert not hasattr(model, "kernel_")


def test_weights_may_be_a_column_in_the_same_parquet_files(tmp_path):
    """By default, Dask fuses more partitions if fewer columns are read."""
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

"""Test that results on a real cluster do not depend on the workers, even if workers die."""

import os
import threading
from collections import Counter

import dask
import dask.array as da
import numpy as np
import pytest
from dask.utils import key_split
from distributed import KilledWorker, get_task_stream
from sklearn.base import clone

from rskpca import ReducedSetKernelPCA
from rskpca.scaling.dask import fit, transform
from tests import datasets
from tests.scaling.clusters import Killer, cluster
from tests.states import fitted_state

pytestmark = pytest.mark.skipif(os.name == "nt", reason="requires a fork server")
X = datasets.blobs(6000, 4)
BLOCKS = da.from_array(X, chunks=(500, 4))
ESTIMATOR = ReducedSetKernelPCA(3, ell=3.0)
STAGES = ["sample", "cover", "merge", "count", "join"]


@pytest.fixture(scope="module")
def client():
    with cluster(2) as client:
        yield client


@pytest.fixture(scope="module")
def expected():
    with dask.config.set(scheduler="synchronous"):
        return fit(clone(ESTIMATOR), BLOCKS)


def workers_of(stream):
    return {task["worker"] for task in stream.data if key_split(task["key"]) == "rskpca-count"}


def test_one_worker_and_two_workers_give_bitwise_equal_results(client, expected):
    with get_task_stream(client) as both:
        assert fit(clone(ESTIMATOR), BLOCKS).reduced_set_ == expected.reduced_set_
    alone = sorted(client.nthreads())[:1]
    with get_task_stream(client) as one, dask.annotate(workers=alone):
        assert fit(clone(ESTIMATOR), BLOCKS).reduced_set_ == expected.reduced_set_
    assert workers_of(one) == set(alone) < workers_of(both)


def test_the_dashboard_shows_the_stages(client):
    with get_task_stream(client) as stream:
        fit(clone(ESTIMATOR), BLOCKS)
    seen = Counter(key_split(task["key"]) for task in stream.data)
    assert {f"rskpca-{stage}" for stage in STAGES} <= set(seen)
    assert seen["rskpca-cover"] == seen["rskpca-count"] == BLOCKS.numblocks[0]


def test_persisted_data_give_bitwise_equal_results(client, expected):
    persisted = BLOCKS.persist()
    model = fit(clone(ESTIMATOR), persisted)
    assert model.reduced_set_ == expected.reduced_set_
    coordinates = transform(model, persisted)
    np.testing.assert_allclose(coordinates.compute(), model.transform(X), atol=1e-12)


def test_worker_errors_are_raised_unchanged(client):
    rows = X.copy()
    rows[1234, 1] = np.nan
    with pytest.raises(ValueError, match=r"block 2: row 234 contains NaN"):
        fit(clone(ESTIMATOR), da.from_array(rows, chunks=(500, 4)))


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_the_death_of_a_worker_does_not_change_the_result(expected, stage, tmp_path):
    with cluster(2) as client:
        client.register_plugin(Killer(stage, tmp_path), name="killer")
        model = fit(clone(ESTIMATOR), BLOCKS)
    assert [file.name for file in tmp_path.iterdir()] == ["0"]
    assert model.reduced_set_ == expected.reduced_set_
    np.testing.assert_array_equal(model.eigenvalues_, expected.eigenvalues_)


@pytest.mark.slow
def test_the_death_of_a_worker_while_refining_does_not_change_the_result(tmp_path):
    estimator = clone(ESTIMATOR).set_params(refine="nystrom", basis=40)
    with dask.config.set(scheduler="synchronous"):
        expected = fit(clone(estimator), BLOCKS)
    with cluster(2) as client:
        client.register_plugin(Killer("refine", tmp_path), name="killer")
        model = fit(clone(estimator), BLOCKS)
    assert [file.name for file in tmp_path.iterdir()] == ["0"]
    assert model.reduced_set_ == expected.reduced_set_
    np.testing.assert_array_equal(model.eigenvalues_, expected.eigenvalues_)


@pytest.mark.slow
def test_a_task_whose_workers_die_too_often_is_reported(tmp_path, monkeypatch):
    with cluster(2) as client:
        monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
        client.register_plugin(Killer("merge", tmp_path), name="killer")
        with pytest.raises(KilledWorker, match="died while running it"):
            fit(clone(ESTIMATOR), BLOCKS)


@pytest.mark.slow
def test_a_cluster_without_workers_raises_an_error_instead_of_hanging(tmp_path, monkeypatch):
    model = clone(ESTIMATOR).fit(X)
    before, errors = fitted_state(model), []

    def run():
        try:
            fit(model, BLOCKS, patience=1.0)
        except Exception as error:
            errors.append(error)

    async def stay_dead():
        """Do not start a new worker process."""

    with cluster(2) as client:
        for nanny in client.cluster.workers.values():
            monkeypatch.setattr(nanny, "instantiate", stay_dead)
        client.register_plugin(Killer("cover", tmp_path, victims=2), name="killer")
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(timeout=120)
        assert not thread.is_alive()
    assert len(errors) == 1
    assert isinstance(errors[0], RuntimeError)
    assert "the cluster has had no workers for 1 seconds" in str(errors[0])
    assert fitted_state(model) == before

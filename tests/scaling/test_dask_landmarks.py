"""Test landmark models of Dask collections against those of data in memory."""

import os
import pickle
from functools import reduce

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from rskpca import KernelPCANovelty, NystromKernelPCA, ShadowDensity
from rskpca.baselines import WeightedNystromKernelPCA
from rskpca.baselines.methods import embedding_error
from rskpca.embedding._sizing import BasisSearch
from rskpca.embedding.landmark_blocks import LandmarkFit, LandmarkSums
from rskpca.scaling.dask import fit, transform
from tests import datasets
from tests.dense import assert_equal_up_to_sign
from tests.scaling.clusters import Killer, cluster
from tests.states import fitted_state

X = datasets.blobs(3_000, 4)
BLOCKS = da.from_array(X, chunks=(170, 4))
MEANS = NystromKernelPCA(3, landmarks="means", n_centers=40)
ESTIMATORS = [
    MEANS,
    NystromKernelPCA(3, landmarks="means", n_centers=40, n_axes=2, center=False),
    NystromKernelPCA(3, landmarks=40),
    NystromKernelPCA(3, landmarks="rpcholesky", n_centers=40, bandwidth=4.0),
    NystromKernelPCA(3, landmarks="auto", max_error=0.02),
    NystromKernelPCA(3, landmarks=ShadowDensity(ell=2.0)),
    NystromKernelPCA(3, landmarks=X[::100]),
]


@pytest.fixture(autouse=True)
def _local_scheduler():
    with dask.config.set(scheduler="synchronous"):
        yield


def refit(model, estimator, rows=X, **options):
    """Return a model fitted on one machine with the same kernel and landmarks."""
    parameters = {"landmarks": model.shared_landmarks_, "kernel": model.kernel_}
    fresh = NystromKernelPCA(3, center=estimator.center, **parameters)
    return fresh.fit(rows, **options)


def assert_same(model, expected, rows=X):
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-9)
    assert_equal_up_to_sign(model.model_.embed(rows), expected.model_.embed(rows), 1e-8)
    assert model.model_.reduced_set.n_samples == pytest.approx(
        expected.model_.reduced_set.n_samples
    )


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_the_model_equals_a_fit_with_the_same_landmarks(estimator):
    model, alone = fit(clone(estimator), BLOCKS), clone(estimator).fit(X)
    assert model.kernel_.bandwidth == alone.kernel_.bandwidth
    assert_same(model, refit(model, estimator))
    assert embedding_error(alone.transform(X), model.transform(X)) < 0.05
    sample = model.model_.reduced_set.sample
    assert len({row.tobytes() for row in sample.rows} & {row.tobytes() for row in X}) == 2_000
    assert model.certificate_.embedding.limit < 0.1


def test_a_target_error_is_reached(monkeypatch):
    estimator = NystromKernelPCA(3, landmarks="means", max_error=0.001)
    monkeypatch.setattr(BasisSearch, "start", lambda self: self._first_choice(self.fewest))
    passes, blocks = [], LandmarkFit.blocks
    monkeypatch.setattr(LandmarkFit, "blocks", lambda self: passes.append(1) or blocks(self))
    model = fit(estimator, BLOCKS)
    assert model.certificate_.embedding.limit <= 0.001
    assert len(passes) > 1


@pytest.mark.parametrize("scheduler", ["threads", "synchronous"])
def test_results_do_not_depend_on_the_scheduler(scheduler):
    expected = fitted_state(fit(clone(MEANS), BLOCKS))
    with dask.config.set(scheduler=scheduler, num_workers=3):
        assert fitted_state(fit(clone(MEANS), BLOCKS)) == expected


def test_the_block_size_affects_only_rounding_errors():
    model = fit(clone(MEANS), BLOCKS)
    other = fit(clone(MEANS), da.from_array(X, chunks=(1_100, 4)))
    np.testing.assert_array_equal(model.landmarks_, other.landmarks_)
    assert_same(model, other)


@pytest.mark.parametrize("unit", [1.0, 0.37])
def test_sample_weights_are_used(unit):
    weights = np.random.default_rng(0).integers(0, 4, size=len(X)) * unit
    weights[100:600] = 0  # blocks with zero weight
    model = fit(clone(MEANS), BLOCKS, sample_weight=weights)
    assert_same(model, refit(model, MEANS, sample_weight=weights))


def test_empty_blocks_and_blocks_of_unknown_length_have_no_effect():
    expected = fitted_state(fit(clone(MEANS), BLOCKS))
    empty = da.from_array(np.empty((0, 4)), chunks=(1, 4))
    gaps = da.concatenate([BLOCKS[:1700], empty, BLOCKS[1700:]])
    unknown = dd.from_dask_array(BLOCKS, columns=list("abcd")).to_dask_array()
    np.testing.assert_allclose(
        fit(clone(MEANS), gaps).eigenvalues_, fit(clone(MEANS), BLOCKS).eigenvalues_, rtol=1e-12
    )
    assert fitted_state(fit(clone(MEANS), unknown)) == expected


def test_a_data_frame_keeps_its_names():
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = fit(clone(MEANS), dd.from_pandas(frame, npartitions=7))
    assert list(model.feature_names_in_) == list("abcd")
    assert_same(model, refit(model, MEANS))


def test_the_fitted_model_is_an_ordinary_model():
    model = pickle.loads(pickle.dumps(fit(clone(MEANS), BLOCKS)))
    lazy = transform(model, BLOCKS)
    np.testing.assert_allclose(lazy.compute(), model.transform(X), atol=1e-12)
    model.forget(X[:500])
    assert_same(model, refit(model, MEANS, X[500:]))


def test_float32_blocks_give_float32_coordinates():
    model = fit(NystromKernelPCA(3, landmarks=40), BLOCKS.astype(np.float32))
    assert model.landmarks_.dtype == model.transform(X.astype(np.float32)).dtype == np.float32


def test_a_loop_over_blocks_equals_dask():
    landmark_fit = LandmarkFit.of(clone(MEANS).set_params(bandwidth=4.0), X)
    blocks = landmark_fit.blocks()
    sums = reduce(LandmarkSums.merge, [blocks.summarize(part) for part in np.array_split(X, 7)])
    model = landmark_fit.fitted(sums, landmark_fit.solve(sums))
    assert_same(model, clone(MEANS).set_params(bandwidth=4.0).fit(X))
    assert blocks.summarize(X[:0]) is None


def test_invalid_rows_leave_the_estimator_unfitted():
    rows = X.copy()
    rows[1234, 1] = np.nan
    estimator = NystromKernelPCA(2, bandwidth=4.0, landmarks=X[:20])
    with pytest.raises(ValueError, match=r"block 2: row 234 contains NaN"):
        fit(estimator, da.from_array(rows, chunks=(500, 4)))
    assert "landmarks_" not in vars(estimator)


@pytest.mark.parametrize(
    ("estimator", "error", "message"),
    [
        (NystromKernelPCA(2, extension="data"), TypeError, "cannot be fitted in blocks"),
        (WeightedNystromKernelPCA(2), TypeError, "WeightedNystromKernelPCA cannot be fitted in"),
        (KernelPCANovelty(MEANS), TypeError, "NystromKernelPCA cannot be fitted in blocks"),
        (NystromKernelPCA(0), ValueError, "n_components must be"),
        (NystromKernelPCA(2, max_error=2.0), ValueError, "max_error must be"),
    ],
)
def test_unsuitable_estimators_are_rejected_before_any_work(estimator, error, message):
    def fail(block):
        raise AssertionError("computed")

    with pytest.raises(error, match=message):
        fit(estimator, BLOCKS.map_blocks(fail, meta=np.empty((0, 4))))


def test_too_many_landmarks_are_reported():
    with pytest.raises(ValueError, match="n_centers must be at most 3000"):
        fit(NystromKernelPCA(2, landmarks="means", n_centers=3_001), BLOCKS)


def test_blocks_are_read_once_apart_from_the_samples():
    reads = []
    counted = BLOCKS.map_blocks(lambda block: reads.append(1) or block, meta=np.empty((0, 4)))
    fit(clone(MEANS), counted)
    assert len(reads) == 3 * 18  # for the median, the landmarks and the sums
    reads.clear()
    fit(NystromKernelPCA(2, bandwidth=4.0, landmarks=X[:20]), counted)
    assert len(reads) == 18 + 1  # plus the first row, to validate the landmarks


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="requires a fork server")
@pytest.mark.parametrize("stage", ["sample", "sums"])
def test_the_death_of_a_worker_does_not_change_the_result(stage, tmp_path):
    expected = fit(clone(MEANS), BLOCKS)
    with dask.config.set(scheduler=None), cluster(2) as client:
        client.register_plugin(Killer(stage, tmp_path), name="killer")
        model = fit(clone(MEANS), BLOCKS)
    assert [file.name for file in tmp_path.iterdir()] == ["0"]
    np.testing.assert_array_equal(model.landmarks_, expected.landmarks_)
    np.testing.assert_array_equal(model.eigenvalues_, expected.eigenvalues_)
    assert model.model_.reduced_set.sample == expected.model_.reduced_set.sample

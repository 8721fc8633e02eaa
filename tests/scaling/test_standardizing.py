"""Test that fitting a pipeline block by block equals fitting it to the whole array."""

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rskpca import DiffusionMaps, ReducedSetKernelPCA, load, save, scaling
from rskpca.data import open_source

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 3)) * [1.0, 100.0, 1e-3] + [0.0, 1e4, 5.0]
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


@pytest.mark.parametrize(
    "estimator",
    [ReducedSetKernelPCA(2), ReducedSetKernelPCA(2, basis=20, refine="nystrom"), DiffusionMaps(2)],
    ids=repr,
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_model_equals_a_pipeline_fitted_to_the_array(estimator, dtype):
    rows = X.astype(dtype)
    pipeline = make_pipeline(StandardScaler(), estimator)
    model = scaling.fit(pipeline, open_source(rows, block_rows=701))
    whole = make_pipeline(StandardScaler(), estimator).fit(rows)
    np.testing.assert_allclose(model[0].mean_, whole[0].mean_, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(model[0].scale_, whole[0].scale_, rtol=1e-12)
    weights = [m[-1].reduced_set_.weights for m in (model, whole)]
    np.testing.assert_array_equal(*weights)
    tolerance = 1e-9 if dtype is np.float64 else 1e-3
    np.testing.assert_allclose(model.transform(rows), whole.transform(rows), atol=tolerance)
    assert not hasattr(pipeline[0], "mean_")


def test_the_scaler_uses_the_weights():
    frame = FRAME.assign(w=RNG.integers(0, 3, len(FRAME)))
    frame.loc[:800, "w"] = 0  # includes a whole block
    scaler, source = scaling.standardized(open_source(frame, weight="w", block_rows=500))
    expected = StandardScaler().fit(X, sample_weight=frame["w"])
    np.testing.assert_allclose(scaler.mean_, expected.mean_, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(scaler.scale_, expected.scale_, rtol=1e-12)
    rows = np.concatenate([block.rows for block in source.blocks()])
    np.testing.assert_allclose(source.take([0, 7]), rows[[0, 7]], rtol=0)
    np.testing.assert_allclose(rows, expected.transform(X), atol=1e-9)


def test_a_saved_pipeline_can_transform_files(tmp_path):
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    model = scaling.fit(make_pipeline(StandardScaler(), ReducedSetKernelPCA(2)), FRAME)
    save(model, tmp_path / "model.rskpca")
    again = load(tmp_path / "model.rskpca")
    scaling.transform(again, tmp_path / "rows.csv", tmp_path / "Z.npy")
    np.testing.assert_allclose(np.load(tmp_path / "Z.npy"), model.transform(FRAME), atol=1e-12)
    with pytest.raises(ValueError, match="'b' where the model expects 'a'"):
        scaling.transform(again, FRAME[["b", "a", "c"]], tmp_path / "Z.npy")


def test_a_checkpoint_is_rejected_if_the_scaler_has_changed(tmp_path):
    pipeline = make_pipeline(StandardScaler(), ReducedSetKernelPCA(2, bandwidth=2.0))
    path = tmp_path / "checkpoint"
    first = scaling.fit(pipeline, X, checkpoint=path)
    again = scaling.fit(pipeline, X, checkpoint=path)
    assert again[-1].reduced_set_ == first[-1].reduced_set_
    with pytest.raises(ValueError, match="a different source"):
        scaling.fit(pipeline.set_params(standardscaler__with_mean=False), X, checkpoint=path)


def test_a_frozen_scaler_is_not_refitted():
    scaler = StandardScaler().fit(FRAME[:1000])
    pipeline = make_pipeline(FrozenEstimator(scaler), ReducedSetKernelPCA(2, bandwidth=2.0))
    model = scaling.fit(pipeline, FRAME)
    assert model[0] is scaler
    whole = ReducedSetKernelPCA(2, bandwidth=2.0).fit(scaler.transform(FRAME))
    assert model[-1].reduced_set_ == whole.reduced_set_
    with pytest.raises(ValueError, match="'b' where the model expects 'a'"):
        scaling.standardized(FRAME[["b", "a", "c"]], FrozenEstimator(scaler))


def test_inputs_that_cannot_be_standardized_are_reported():
    with pytest.raises(ValueError, match="standardizing reads the data twice, but the iterator"):
        scaling.standardized(iter([X]))
    with pytest.raises(
        TypeError, match=r"a StandardScaler and an rskpca estimator, got PCA, Reduced"
    ):
        scaling.fit(make_pipeline(PCA(2), ReducedSetKernelPCA(2)), X)

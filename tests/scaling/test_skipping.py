"""Test that rows with missing values are skipped in the fit and empty in the output."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rskpca import Gaussian, NormalizedCut, ReducedSetKernelPCA, scaling
from rskpca.data import open_source

X = np.random.default_rng(0).normal(size=(1000, 3))
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(id=[f"row {i}" for i in range(1000)])
EMPTY = [0, 17, 400, 401, 999]
LEFT = FRAME.drop(index=EMPTY)[["a", "b", "c"]]


@pytest.fixture
def data(tmp_path):
    incomplete = FRAME.copy()
    incomplete.loc[EMPTY, "b"] = np.nan
    incomplete.to_parquet(tmp_path / "X.parquet", row_group_size=90)
    return tmp_path / "X.parquet"


def open_data(data):
    return open_source(data, ids="id", block_rows=64, skip_missing=True)


@pytest.mark.parametrize(
    "estimator",
    [ReducedSetKernelPCA(2, kernel=Gaussian()), ReducedSetKernelPCA(2, refine="nystrom")],
)
def test_the_model_is_fitted_to_the_complete_rows(data, estimator):
    source = open_data(data)
    model, whole = scaling.fit(estimator, source), estimator.fit(LEFT)
    assert model.kernel_.scale == whole.kernel_.scale
    assert model.reduced_set_ == whole.reduced_set_
    assert source.n_skipped == len(EMPTY)


def test_the_scaler_is_fitted_to_the_complete_rows(data):
    pipeline = make_pipeline(StandardScaler(), ReducedSetKernelPCA(2))
    source = open_data(data)
    model = scaling.fit(pipeline, source)
    np.testing.assert_allclose(model[0].mean_, LEFT.mean(), atol=1e-12)
    assert model[-1].reduced_set_.n_samples == len(LEFT)
    assert source.n_skipped == len(EMPTY)


def test_a_checkpoint_counts_complete_rows(data, tmp_path):
    estimator, whole = ReducedSetKernelPCA(2), ReducedSetKernelPCA(2).fit(LEFT)

    def stop(rows, n_centers):
        if rows > 500:
            raise KeyboardInterrupt

    options = {"checkpoint": tmp_path / "checkpoint", "checkpoint_every": 0}
    with pytest.raises(KeyboardInterrupt):
        scaling.fit(estimator, open_data(data), progress=stop, **options)
    seen = []
    model = scaling.fit(
        estimator, open_data(data), progress=lambda *at: seen.append(at[0]), **options
    )
    assert model.reduced_set_ == whole.reduced_set_
    assert seen[0] > 500
    assert seen[-1] == len(LEFT)
    with pytest.raises(ValueError, match="was written for a different source"):
        scaling.fit(estimator, open_source(data, ids="id", block_rows=64), **options)


@pytest.mark.parametrize("ending", ["npy", "parquet", "csv"])
def test_every_row_keeps_its_position_in_the_output(data, tmp_path, ending):
    model = ReducedSetKernelPCA(2, bandwidth=2.0).fit(LEFT)
    columns = {"exclude": "id"} if ending == "npy" else {"ids": "id"}
    source = open_source(data, block_rows=64, skip_missing=True, **columns)
    out = scaling.transform(model, source, tmp_path / f"Z.{ending}")
    if ending == "npy":
        Z = np.load(out)
    else:
        found = pd.read_parquet(out) if ending == "parquet" else pd.read_csv(out)
        assert list(found.pop("id")) == list(FRAME["id"])
        Z = found.to_numpy()
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(Z).all(axis=1)), EMPTY)
    np.testing.assert_allclose(np.delete(Z, EMPTY, 0), model.transform(LEFT), rtol=1e-12)
    assert (source.n_rows, source.n_skipped) == (len(LEFT), len(EMPTY))


def test_labels_of_skipped_rows_are_null(data, tmp_path):
    """Software that reads integers accepts neither the text nan nor the number NaN."""
    model = NormalizedCut(2, bandwidth=2.0).fit(LEFT)
    lines = scaling.predict(model, open_data(data), tmp_path / "Z.csv").read_text().splitlines()
    assert lines[1:3] == ['"row 0",', f'"row 1",{model.predict(LEFT)[0]}']
    found = pd.read_parquet(scaling.predict(model, open_data(data), tmp_path / "Z.parquet"))
    assert list(np.flatnonzero(found["label"].isna())) == EMPTY


def test_labels_with_skipped_rows_cannot_be_written_to_an_npy_file(data, tmp_path):
    model = NormalizedCut(2, bandwidth=2.0).fit(LEFT)
    source = open_source(data, exclude="id", skip_missing=True)
    with pytest.raises(ValueError, match=r"have no label, .* write a \.parquet or \.csv"):
        scaling.predict(model, source, tmp_path / "Z.npy")
    assert not (tmp_path / "Z.npy").exists()

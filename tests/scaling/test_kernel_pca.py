"""Test that KernelPCA reaches max_error on files, streams and Dask collections."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import KernelPCA as ScikitKernelPCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rskpca import Gaussian, KernelPCA, Laplacian, scaling
from rskpca.baselines.methods import embedding_error
from rskpca.data import open_source
from rskpca.io import load, save
from rskpca.scaling import dask as scaling_dask
from tests import datasets
from tests.dense import assert_equal_up_to_sign

RNG = np.random.default_rng(0)
X = datasets.blobs(1_500, 5) @ RNG.normal(size=(5, 5))
SORTED = X[np.argsort(X[:, 0])]  # the first block is not representative
RBF = KernelPCA(3, kernel="rbf", gamma="median", max_error=0.01)
ESTIMATORS = [
    RBF,
    KernelPCA(3, kernel="rbf", max_error=0.05, random_state=3),
    KernelPCA(3, kernel="rbf", gamma=0.01, max_error=0.01),
    KernelPCA(3, kernel=Laplacian(9.0), max_error=0.1),
    KernelPCA(3, kernel="poly", degree=2, max_error=0.01),
    KernelPCA(3, kernel="laplacian", max_error=0.1),
    KernelPCA(3, kernel="linear"),
    KernelPCA(3, kernel="cosine"),
]


@pytest.fixture(autouse=True)
def _local_scheduler():
    with dask.config.set(scheduler="synchronous"):
        yield


def assert_accurate(model, rows):
    """Check the error of a model against exact kernel PCA with the same kernel."""
    exact = clone(model).set_params(kernel=model.model_.kernel, gamma=None, eigen_solver="dense")
    coordinates = exact.fit(rows).transform(rows)
    assert embedding_error(coordinates, model.transform(rows)) <= max(model.error_, 1e-7)
    assert model.error_ <= model.max_error


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_the_error_for_a_source_stays_below_max_error(estimator):
    model = scaling.fit(estimator, open_source(SORTED, block_rows=201))
    assert_accurate(model, SORTED)
    assert model.model_.kernel.same_as(clone(estimator).fit(SORTED).model_.kernel)
    assert repr(model) == repr(estimator)
    assert "embedding_" not in vars(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_the_error_for_a_collection_stays_below_max_error(estimator):
    model = clone(estimator)
    assert scaling_dask.fit(model, da.from_array(SORTED, chunks=(201, 5))) is model
    assert_accurate(model, SORTED)


def test_a_folder_of_files_gives_the_same_embedding_as_fit(tmp_path):
    frame = pd.DataFrame(SORTED, columns=list("abcde"))
    for i, part in enumerate(np.array_split(np.arange(len(X)), 3)):
        frame.iloc[part].to_parquet(tmp_path / f"{i}.parquet")
    model = scaling.fit(RBF, f"{tmp_path}/")
    whole = clone(RBF).fit(frame)
    assert embedding_error(whole.transform(frame), model.transform(frame)) < RBF.max_error
    assert model.feature_names_in_.tolist() == list("abcde")
    assert model.method_.startswith("kernel PCA of all rows in the span of")
    assert model.certificate_.embedding.limit == pytest.approx(model.error_, abs=0.01)


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_linear_kernels_are_exact_after_one_pass(kernel):
    reads = []
    estimator = KernelPCA(7, kernel=kernel)

    def blocks():
        reads.append(1)
        yield from np.array_split(SORTED, 4)

    model = scaling.fit(estimator, blocks)
    exact = ScikitKernelPCA(5, kernel=kernel).fit(SORTED)
    found = model.transform(SORTED)
    assert_equal_up_to_sign(found[:, :4], exact.transform(SORTED)[:, :4], 1e-8)
    assert found.shape[1] == 7  # scikit-learn also pads with zeros
    assert not found[:, 5:].any()
    assert (model.error_, model.method_) == (0.0, "exact kernel PCA in 5 features")


def test_a_function_of_two_rows_can_be_the_kernel():
    def quadratic(x, y):
        return (1 + x @ y) ** 2

    rows = SORTED[::10]
    model = scaling.fit(KernelPCA(2, kernel=quadratic), open_source(rows, block_rows=40))
    assert_accurate(model, rows)


def test_data_that_can_be_read_only_once_are_fitted_in_one_pass():
    model = scaling.fit(clone(RBF).set_params(max_error=0.1), iter(np.array_split(X, 5)))
    assert model.model_.reduced_set.n_samples == len(X)
    assert model.error_ <= 0.1


def test_a_pipeline_with_a_scaler_is_fitted_in_blocks():
    pipeline = make_pipeline(StandardScaler(), clone(RBF))
    model = scaling.fit(pipeline, open_source(SORTED, block_rows=300))
    assert_accurate(model[-1], model[0].transform(SORTED))


def test_integer_weights_are_equivalent_to_repeated_rows():
    weights = RNG.integers(1, 4, size=len(X))
    frame = pd.DataFrame(SORTED, columns=list("abcde")).assign(count=weights)
    model = scaling.fit(RBF, open_source(frame, weight="count", block_rows=200))
    repeated = np.repeat(SORTED, weights, axis=0)
    exact = KernelPCA(3, kernel=model.model_.kernel, eigen_solver="dense").fit(repeated)
    assert embedding_error(exact.transform(repeated), model.model_.embed(repeated)) < 0.01


def test_the_fit_resumes_from_a_checkpoint(tmp_path):
    source, path = open_source(SORTED, block_rows=200), tmp_path / "state"
    model = scaling.fit(RBF, source, checkpoint=path)
    again = scaling.fit(RBF, source, checkpoint=path)
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert load(path)["finished"]


def test_the_model_can_be_saved_continued_and_inverted(tmp_path):
    estimator = clone(RBF).set_params(fit_inverse_transform=True, alpha=1e-3)
    model = scaling.fit(estimator, open_source(X[:1000], block_rows=300))
    save(model, tmp_path / "m.rskpca")
    loaded = load(tmp_path / "m.rskpca")
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    assert loaded.inverse_transform(loaded.transform(X)).shape == X.shape
    loaded.partial_fit(X[1000:])
    assert loaded.model_.reduced_set.n_samples == len(X)


def test_a_failed_fit_of_a_collection_leaves_the_estimator_unfitted():
    estimator = clone(RBF)
    broken = np.where(np.arange(len(X))[:, None] == 700, np.nan, X)
    with pytest.raises(ValueError, match="NaN"):
        scaling_dask.fit(estimator, da.from_array(broken, chunks=(300, 5)))
    assert "embedding_" not in vars(estimator)


def test_the_feature_names_of_a_frame_are_kept():
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcde")), npartitions=4)
    model = scaling_dask.fit(clone(RBF), frame)
    assert model.feature_names_in_.tolist() == list("abcde")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": None}, "n_components=None requires all rows in memory. Use an integer"),
        ({"n_components": 0.9}, "n_components=0.9 requires all rows in memory"),
        ({"kernel": "precomputed"}, 'kernel="precomputed" requires all rows in memory'),
        ({"eigen_solver": "dense"}, "eigen_solver='dense' requires all rows in memory"),
        ({"max_error": 0.0}, "max_error must be"),
        ({"kernel": "rbf", "gamma": "mode"}, "gamma must be"),
        ({"kernel": Gaussian("mode")}, "bandwidth must be"),
    ],
)
def test_invalid_parameters_are_rejected_before_the_data_are_read(options, message):
    estimator = KernelPCA(3).set_params(**options)

    def blocks():
        yield X[:10]
        raise AssertionError("rows were read")

    with pytest.raises(ValueError, match=message):
        scaling.fit(estimator, blocks)
    with pytest.raises(ValueError, match=message):
        scaling_dask.fit(estimator, da.from_array(X, chunks=(300, 5)))

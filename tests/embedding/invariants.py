"""Shared tests for embeddings; subclasses implement ``make``."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rskpca import Gaussian, ShadowDensity
from tests import datasets
from tests.states import fitted_state

NAMES = ["a", "b", "c"]


@cache
def _fit_once(tests, dtype):
    return tests().make().fit(datasets.blobs(300, 3, dtype=dtype))


class EmbeddingInvariants:
    """Tests for the unfitted embedding that ``self.make(n_components, **parameters)`` returns."""

    def make(self, n_components=4, **parameters):
        raise NotImplementedError  # implemented by subclasses

    @pytest.fixture(params=[np.float64, np.float32], ids=["float64", "float32"])
    def X(self, request):  # noqa: N802
        return datasets.blobs(300, 3, dtype=request.param)

    @pytest.fixture
    def new(self, X):
        return datasets.blobs(50, 3, seed=9, dtype=X.dtype)

    @pytest.fixture
    def model(self, X):
        """Return a fitted embedding for tests that do not modify it."""
        return _fit_once(type(self), X.dtype.name)

    # ------------------------------------------------------------------------ shape

    @pytest.mark.parametrize("n_components", [1, 4])
    def test_the_output_has_one_column_per_component_and_the_dtype_of_the_data(
        self, X, new, n_components
    ):
        model = self.make(n_components).fit(X)
        Z = model.transform(new)
        assert Z.shape == (len(new), n_components)
        assert Z.dtype == X.dtype
        assert len(model.eigenvalues_) == n_components
        assert np.all(np.diff(model.eigenvalues_) <= 0)
        assert model.basis_.shape[1] == X.shape[1]
        assert model.n_features_in_ == X.shape[1]

    def test_fit_transform_equals_fit_then_transform(self, X, model):
        np.testing.assert_array_equal(self.make().fit_transform(X), model.transform(X))

    def test_rows_are_transformed_independently(self, X, new, model):
        Z = model.transform(new)
        alone = np.concatenate([model.transform(row[None]) for row in new])
        np.testing.assert_allclose(alone, Z, atol=20 * np.finfo(X.dtype).eps * np.abs(Z).max())

    def test_float32_results_are_accurate_to_single_precision(self, X, new):
        double = self.make(bandwidth=4.0).fit(X.astype(np.float64))
        single = self.make(bandwidth=4.0).fit(X.astype(np.float32))
        expected = double.transform(new.astype(np.float64))
        error = np.abs(single.transform(new.astype(np.float32)) - expected)
        assert error.max() < 1e-5 * np.abs(expected).max()

    def test_integers_are_converted_to_float64(self):
        X = np.random.default_rng(0).integers(0, 9, size=(100, 3))
        assert self.make().fit_transform(X).dtype == np.float64

    # ------------------------------------------------------------------------ input

    def test_the_input_may_be_read_only_and_is_not_modified(self, X):
        before, X = X, X.copy()
        weights = np.ones(len(X))
        X.flags.writeable = weights.flags.writeable = False
        self.make().fit(X, sample_weight=weights).transform(X)
        np.testing.assert_array_equal(X, before)

    def test_the_memory_layout_does_not_matter(self, X, new, model):
        expected = model.transform(new)
        for layout in (
            np.asfortranarray,
            lambda a: np.repeat(a, 2, axis=1)[:, ::2],
            np.ndarray.tolist,
        ):
            np.testing.assert_allclose(  # a list is converted to float64
                model.transform(layout(new)), expected, atol=2e-5 * np.ptp(expected)
            )
            if layout is not np.ndarray.tolist:
                Z = self.make().fit(layout(X)).transform(layout(new))
                np.testing.assert_array_equal(Z, expected)

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    def test_data_frames_are_accepted(self, X, new, model, frame):
        named = self.make().fit(
            frame(X, NAMES) if frame is pl.DataFrame else frame(X, columns=NAMES)
        )
        assert list(named.feature_names_in_) == NAMES
        rows = pd.DataFrame(new, columns=NAMES)
        np.testing.assert_array_equal(named.transform(rows), model.transform(new))
        with pytest.raises(ValueError, match="feature names"):
            named.transform(rows[["c", "b", "a"]])

    @pytest.mark.parametrize(
        ("container", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)]
    )
    def test_set_output_returns_data_frames(self, new, model, container, kind):
        framed = copy.copy(model).set_output(transform=container)
        Z = framed.transform(new)
        assert isinstance(Z, kind)
        assert list(Z.columns) == list(framed.get_feature_names_out())
        np.testing.assert_array_equal(Z.to_numpy(), model.transform(new))

    def test_output_features_are_named_after_the_class(self, model):
        name = type(model).__name__.lower()
        assert list(model.get_feature_names_out()) == [f"{name}{i}" for i in range(4)]

    # ----------------------------------------------------------------- as an estimator

    def test_results_are_bitwise_reproducible(self, X, new, model):
        np.testing.assert_array_equal(self.make().fit(X).transform(new), model.transform(new))

    def test_a_clone_is_unfitted_and_an_unpickled_copy_is_fitted(self, new, model):
        with pytest.raises(NotFittedError):
            clone(model).transform(new)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.transform(new), model.transform(new))

    def test_fit_does_not_modify_parameters(self, X):
        model = self.make()
        before = {name: repr(value) for name, value in model.get_params().items()}
        model.fit(X)
        assert {name: repr(value) for name, value in model.get_params().items()} == before

    def test_transform_does_not_modify_the_model(self, X, new):
        model = self.make().fit(X)
        before = fitted_state(model)
        model.transform(new)
        assert fitted_state(model) == before

    def test_concurrent_transforms_agree(self, X, model):
        rows = datasets.blobs(4000, 3, seed=2, dtype=X.dtype)
        expected = model.transform(rows)
        with ThreadPoolExecutor(4) as pool:
            for Z in pool.map(model.transform, [rows] * 8):
                np.testing.assert_array_equal(Z, expected)


class ReducedSetInvariants(EmbeddingInvariants):
    """Additional tests for embeddings with the parameters ``density`` and ``ell``."""

    def test_eigenvectors_have_one_row_per_center(self, model):
        assert model.eigenvectors_.shape == (model.n_centers_, 4)

    def test_pickling_preserves_the_reduced_set(self, model):
        assert pickle.loads(pickle.dumps(model)).reduced_set_ == model.reduced_set_

    def test_fit_does_not_modify_the_density_parameter(self, X):
        model = self.make(density=ShadowDensity(ell=3.0))
        before = {name: repr(value) for name, value in model.get_params().items()}
        model.fit(X)
        assert {name: repr(value) for name, value in model.get_params().items()} == before
        assert not hasattr(model.density, "reduced_set_")

    def test_grid_search_works_in_a_pipeline(self, X):
        pipeline = make_pipeline(StandardScaler(), self.make(kernel=Gaussian(1.0)), Ridge())
        step = pipeline.steps[1][0]
        grid = {f"{step}__ell": [2.0, 4.0], f"{step}__kernel__bandwidth": [0.5, 2.0]}
        search = GridSearchCV(pipeline, grid, cv=3, error_score="raise")
        search.fit(X, np.sin(X[:, 0]))
        assert set(search.best_params_) == set(grid)
        scores = search.cv_results_["mean_test_score"]
        assert len(set(scores)) == 4  # every parameter has been passed to the model

    def test_the_first_transform_after_a_change_is_thread_safe(self, X, new):
        model = self.make(bandwidth=4.0).fit(X[:200]).partial_fit(X[200:])
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(model.transform, [new] * 8))
        expected = self.make(bandwidth=4.0).fit(X).transform(new)
        for Z in answers:
            np.testing.assert_array_equal(Z, expected)

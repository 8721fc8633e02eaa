"""Shared tests for methods that compress a fitted model; subclasses implement ``compress``."""

import pickle
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from rskpca import DiffusionMaps, ReducedSet, ReducedSetKernelPCA, select_reduced_set
from rskpca.spectral import EigenSystem
from tests import datasets
from tests.states import fitted_state

NAMES = ["a", "b", "c"]


def fitted(X, n_components=3, **parameters):
    return ReducedSetKernelPCA(n_components, **{"bandwidth": 4.0, "ell": 4.0, **parameters}).fit(X)


@cache
def _compress_once(tests, dtype):
    return tests().compress(fitted(datasets.blobs(200, 3, dtype=dtype)), 10)


class CompressionInvariants:
    """Tests for ``self.compress(model, n_centers)``; set ``needs_points`` if it requires X."""

    needs_points = False

    def compress(self, model, n_centers):
        raise NotImplementedError  # implemented by subclasses

    @pytest.fixture(params=[np.float64, np.float32], ids=["float64", "float32"])
    def X(self, request):  # noqa: N802
        return datasets.blobs(200, 3, dtype=request.param)

    @pytest.fixture
    def new(self, X):
        return datasets.blobs(50, 3, seed=9, dtype=X.dtype)

    @pytest.fixture
    def small(self, X):
        """Return a compressed model for tests that do not modify it."""
        return _compress_once(type(self), X.dtype.name)

    @pytest.mark.parametrize("center", [True, False])
    def test_the_result_approximates_the_model_and_keeps_its_dtype(self, X, new, center):
        model = fitted(X, center=center)
        small = self.compress(model, 30)
        assert small.basis_.shape == (30, 3)
        assert small.basis_.dtype == small.transform(new).dtype == X.dtype
        Z, expected = small.transform(new), model.transform(new)
        assert np.linalg.norm(Z - expected) < 0.1 * np.linalg.norm(expected)
        np.testing.assert_array_equal(small.eigenvalues_, model.eigenvalues_)
        np.testing.assert_array_equal(
            small.explained_variance_ratio_, model.explained_variance_ratio_
        )

    def test_the_result_is_an_eigensystem_on_the_new_points(self, small):
        system = small.eigensystem_
        assert isinstance(system, EigenSystem)
        assert system.centers is small.basis_
        basis = small.basis_.astype(np.float64)
        np.testing.assert_allclose(system.extend(basis), system.functions, atol=1e-10)
        scaled = system.functions * np.sqrt(system.eigenvalues)
        np.testing.assert_allclose(small.transform(basis), scaled, atol=1e-12)

    def test_axis_errors_are_distances_in_feature_space(self, X):
        model = fitted(X.astype(np.float64), center=False)
        small = self.compress(model, 12)
        points = np.concatenate([model.basis_, small.basis_])
        unit = [
            s.coefficients * np.sqrt(s.eigenvalues)
            for s in (model.eigensystem_, small.eigensystem_)
        ]
        difference = np.concatenate([unit[0], -unit[1]])
        squares = np.sum(difference * (model.kernel_(points) @ difference), axis=0)
        np.testing.assert_allclose(small.axis_errors_**2, squares, atol=1e-9)

    def test_a_refined_model_can_be_compressed(self):
        X, new = datasets.blobs(200, 3), datasets.blobs(50, 3, seed=9)
        model = fitted(X, ell=np.inf)
        model = ReducedSetKernelPCA(
            3, kernel=model.kernel_, basis=ReducedSet(X[::3], np.ones(67)), refine="nystrom"
        ).fit(X)
        small = self.compress(model, 30)
        expected = model.transform(new)
        assert np.linalg.norm(small.transform(new) - expected) < 0.1 * np.linalg.norm(expected)

    @pytest.mark.parametrize("center", [True, False])
    def test_a_compressed_model_can_be_compressed_again(self, center):
        X = datasets.blobs(200, 3)
        once = select_reduced_set(fitted(X, center=center), 40)
        if self.needs_points:
            with pytest.raises(ValueError, match="Pass the training data as X"):
                self.compress(once, 20)
            return
        twice = self.compress(once, 20)
        expected = once.transform(X)
        assert np.linalg.norm(twice.transform(X) - expected) < 0.1 * np.linalg.norm(expected)

    def test_compression_is_reproducible_and_does_not_modify_the_model(self, X, new, small):
        model = fitted(X)
        before = fitted_state(model)
        again = self.compress(model, 10)
        np.testing.assert_array_equal(again.transform(new), small.transform(new))
        assert fitted_state(model) == before

    @pytest.mark.parametrize("center", [True, False])
    def test_repeated_points_do_not_cause_nan_values(self, center):
        X = np.repeat(datasets.blobs(15, 3), 4, axis=0)
        model = fitted(X, center=center)
        model.density_.reduced_set_ = ReducedSet(X, np.ones(60))
        small = self.compress(model, 20)
        assert small.n_centers_ <= 20
        error = small.transform(X) - model.transform(X)
        assert np.linalg.norm(error) < 0.05 * np.linalg.norm(model.transform(X))

    def test_a_single_center_is_sufficient(self, X):
        assert self.compress(fitted(X), 1).transform(X).shape == (200, 3)

    def test_results_are_accurate_far_from_the_origin(self):
        X = np.round(datasets.blobs(150, 3) * 2**10) / 2**10
        here, there = (self.compress(fitted(X + shift), 8) for shift in (0, 2.0**27))
        difference = there.transform(X + 2.0**27) - here.transform(X)
        assert np.abs(difference).max() < 1e-4  # shifting the points costs 25 bits of precision

    # ------------------------------------------------------------------ as a transformer

    def test_a_compressed_model_can_be_pickled_and_cloned(self, X, new, small):
        again = pickle.loads(pickle.dumps(small))
        np.testing.assert_array_equal(again.transform(new), small.transform(new))
        assert clone(small) is small
        assert small.fit(X) is small

    def test_feature_names_are_kept_and_checked(self, X):
        frame = pd.DataFrame(X, columns=NAMES)
        small = self.compress(fitted(frame), 10)
        assert list(small.feature_names_in_) == NAMES
        assert small.n_features_in_ == 3
        with pytest.raises(ValueError, match="feature names"):
            small.transform(frame[["c", "b", "a"]])
        out = small.set_output(transform="pandas").transform(frame)
        assert list(out.columns) == [f"compressedkernelpca{i}" for i in range(3)]

    def test_a_compressed_model_works_in_a_pipeline(self, X, small):
        pipeline = make_pipeline(small, Ridge()).fit(X, X[:, 0])
        assert pipeline.predict(X).shape == (200,)

    def test_the_repr_shows_the_sizes(self, small):
        assert repr(small) == "CompressedKernelPCA(10 centers, 3 components)"

    # ------------------------------------------------------------------------- invalid arguments

    @pytest.mark.parametrize("n_centers", [0, -1, 2.0, "5", None, True])
    def test_n_centers_must_be_a_positive_integer(self, n_centers):
        with pytest.raises(ValueError, match="n_centers must be an integer"):
            self.compress(fitted(datasets.blobs(50, 3)), n_centers)

    def test_n_centers_must_not_exceed_the_number_of_centers_in_the_model(self):
        model = fitted(datasets.blobs(50, 3))
        with pytest.raises(
            ValueError, match=f"n_centers must be at most {model.n_centers_}, .* got 51"
        ):
            self.compress(model, 51)

    def test_the_model_must_be_a_fitted_kernel_pca(self):
        with pytest.raises(NotFittedError):
            self.compress(ReducedSetKernelPCA(2), 5)
        for model in (PCA(2).fit(datasets.blobs(50, 3)), datasets.blobs(50, 3), None):
            with pytest.raises(TypeError, match="model must be a fitted kernel PCA model"):
                self.compress(model, 5)

    def test_a_diffusion_map_cannot_be_compressed(self):
        model = DiffusionMaps(2).fit(datasets.blobs(50, 3))
        with pytest.raises(TypeError, match="Only kernel PCA models"):
            self.compress(model, 5)

    def test_a_different_number_of_features_is_rejected(self, X, small):
        with pytest.raises(ValueError, match="features"):
            small.transform(X[:, :2])

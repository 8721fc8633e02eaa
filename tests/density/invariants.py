"""Shared tests for density estimators; subclasses implement ``make``."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from rskpca import Gaussian, Laplacian, RadialKernel
from tests import datasets, dense

KERNELS = [Gaussian(1.5), Laplacian(1.5)]


def kernel_name(kernel):
    return type(kernel).__name__


class DensityInvariants:
    """Tests for the unfitted density estimator that ``self.make(kernel)`` returns."""

    # Whether integer weights give the same reduced set as repeated rows.
    weights_equal_repeats = True
    repeats_rounding = 0  # tolerance for centers, in eps times the largest; 0 means bitwise
    weights_rounding = 0  # relative tolerance for weights

    def make(self, kernel=None):
        raise NotImplementedError  # implemented by subclasses

    @pytest.fixture(params=[np.float64, np.float32], ids=["float64", "float32"])
    def X(self, request):  # noqa: N802
        return datasets.blobs(400, 3, dtype=request.param)

    # ---------------------------------------------------------------- the reduced set

    def test_weights_are_positive_and_sum_to_the_number_of_rows(self, X):
        s = self.make(Gaussian(2.0)).fit(X).reduced_set_
        assert np.all(s.weights > 0)
        assert s.weights.sum() == pytest.approx(len(X), rel=1e-12)
        assert s.n_samples == pytest.approx(len(X), rel=1e-12)

    def test_weights_sum_to_the_total_sample_weight(self, X):
        weights = np.random.default_rng(0).random(len(X))
        s = self.make(Gaussian(2.0)).fit(X, sample_weight=weights).reduced_set_
        assert s.weights.sum() == pytest.approx(weights.sum(), rel=1e-12)

    def test_centers_keep_the_dtype_and_the_number_of_features(self, X):
        s = self.make(Gaussian(2.0)).fit(X).reduced_set_
        assert s.centers.dtype == X.dtype
        assert s.weights.dtype == np.float64
        assert s.n_features == X.shape[1]

    def test_labels_map_each_row_to_a_center_within_the_radius(self, X):
        density = self.make(Gaussian(2.0)).fit(X)
        s, labels = density.reduced_set_, density.labels_
        assert labels.shape == (len(X),)
        np.testing.assert_array_equal(np.unique(labels), np.arange(s.n_centers))
        if s.radius is not None:
            distances = np.linalg.norm(X.astype(float) - s.centers[labels].astype(float), axis=1)
            assert distances.max() <= s.radius

    def test_displacement_and_scatter_equal_sums_over_the_data(self, X):
        weights = np.random.default_rng(0).random(len(X))
        density = self.make(Gaussian(2.0)).fit(X, sample_weight=weights)
        s, labels = density.reduced_set_, density.labels_
        if s.displacement is None:
            pytest.skip("the reduced set has no displacement")
        squared = ((X.astype(float) - s.centers[labels].astype(float)) ** 2).sum(axis=1)
        for sums, values in ((s.displacement, np.sqrt(squared)), (s.scatter, squared)):
            expected = np.bincount(labels, weights=weights * values, minlength=s.n_centers)
            np.testing.assert_allclose(sums, expected, rtol=1e-12, atol=1e-300)

    def test_integer_weights_are_equivalent_to_repeated_rows(self, X):
        if not self.weights_equal_repeats:
            pytest.skip("integer weights are not equivalent to repeated rows for this density")
        weights = np.random.default_rng(1).integers(0, 4, size=len(X))
        weighted = self.make(Gaussian(2.0)).fit(X, sample_weight=weights)
        repeated = self.make(Gaussian(2.0)).fit(np.repeat(X, weights, axis=0))
        rounding = self.repeats_rounding * np.finfo(X.dtype).eps * np.abs(X).max()
        np.testing.assert_allclose(
            weighted.reduced_set_.centers,
            repeated.reduced_set_.centers,
            rtol=0,
            atol=rounding,
            err_msg="If this is rounding, set repeats_rounding; see CONTRIBUTING.md.",
        )
        np.testing.assert_allclose(
            weighted.reduced_set_.weights, repeated.reduced_set_.weights, rtol=self.weights_rounding
        )
        np.testing.assert_array_equal(np.repeat(weighted.labels_, weights), repeated.labels_)

    def test_rows_with_zero_weight_have_no_effect(self, X):
        weights = (np.arange(len(X)) % 3 > 0).astype(float)
        density = self.make(Gaussian(2.0)).fit(X, sample_weight=weights)
        without = self.make(Gaussian(2.0)).fit(X[weights > 0])
        assert density.reduced_set_ == without.reduced_set_
        np.testing.assert_array_equal(density.labels_[weights == 0], -1)

    def test_results_with_the_same_seed_are_bitwise_equal(self, X):
        first, second = (self.make().fit(X) for _ in range(2))
        assert first.reduced_set_ == second.reduced_set_
        np.testing.assert_array_equal(first.labels_, second.labels_)

    # ---------------------------------------------------------------- as an estimator

    def test_the_input_may_be_read_only_and_is_not_modified(self, X):
        before = X.copy()
        weights = np.ones(len(X))
        X.flags.writeable = weights.flags.writeable = False
        self.make().fit(X, sample_weight=weights).score_samples(X)
        np.testing.assert_array_equal(X, before)

    def test_the_memory_layout_does_not_matter(self, X):
        expected = self.make().fit(X).reduced_set_
        wide = np.repeat(X, 2, axis=1)
        for same in (np.asfortranarray(X), wide[:, ::2], X[::-1][::-1]):
            assert self.make().fit(same).reduced_set_ == expected

    def test_fit_does_not_modify_the_density_parameter(self, X):
        density = self.make()
        before = density.get_params()
        density.fit(X)
        assert density.get_params() == before

    def test_fit_returns_self_and_discards_the_previous_fit(self, X):
        density = self.make(Gaussian(2.0))
        assert density.fit(X[:100]) is density
        density.fit(X[100:])
        assert density.reduced_set_ == self.make(Gaussian(2.0)).fit(X[100:]).reduced_set_

    def test_a_clone_is_unfitted_and_an_unpickled_copy_is_fitted(self, X):
        density = self.make().fit(X)
        assert not hasattr(clone(density), "reduced_set_")
        again = pickle.loads(pickle.dumps(density))
        assert again.reduced_set_ == density.reduced_set_
        np.testing.assert_array_equal(again.score_samples(X), density.score_samples(X))

    def test_the_fitted_kernel_has_a_numeric_bandwidth(self, X):
        assert self.make().fit(X).kernel_.bandwidth > 0
        assert self.make("laplacian").fit(X).kernel_.power == 1

    # -------------------------------------------------------------------- the density

    @pytest.mark.parametrize("kernel", KERNELS, ids=kernel_name)
    def test_score_samples_matches_the_formula(self, X, kernel):
        density = self.make(kernel).fit(X)
        new = datasets.blobs(50, 3, seed=7, dtype=X.dtype)
        new[0] = 80.0  # the kernel underflows here, but its logarithm does not
        s = density.reduced_set_
        integral = kernel.log_integral(3) + 3 * np.log(kernel.bandwidth)
        expected = dense.log_density(kernel, s.centers, s.weights, new) - integral
        np.testing.assert_allclose(density.score_samples(new), expected, rtol=1e-12, atol=1e-12)
        assert density.score(new) == pytest.approx(expected.sum(), rel=1e-12)

    @pytest.mark.parametrize("kernel", KERNELS, ids=kernel_name)
    def test_the_density_is_accurate_for_distant_clusters(self, kernel):
        X = np.concatenate([datasets.blobs(50, 2) + shift for shift in (0.0, 1e6, 1e8)])
        density = self.make(kernel).fit(X)
        new = X[::10] + np.array([12.0, -9.0])
        s = density.reduced_set_
        integral = kernel.log_integral(2) + 2 * np.log(kernel.bandwidth)
        expected = dense.log_density(kernel, s.centers, s.weights, new) - integral
        # The rounding error of the data, times the slope of the log density.
        rounding = 50 * np.finfo(float).eps * 1e8
        np.testing.assert_allclose(density.score_samples(new), expected, atol=rounding, rtol=0)

    @pytest.mark.parametrize("kernel", KERNELS, ids=kernel_name)
    def test_the_density_integrates_to_one_on_the_line(self, kernel):
        X = np.random.default_rng(0).normal(size=(60, 1))
        density = self.make(kernel).fit(X)
        kinks = np.sort(density.reduced_set_.centers[:, 0])
        low, high = np.linspace(-40.0, kinks[0], 20), np.linspace(kinks[-1], 40.0, 20)
        ends = np.concatenate([low, kinks[1:-1], high])
        nodes, weights = np.polynomial.legendre.leggauss(20)  # the density is smooth in between
        middles, halves = (ends[1:] + ends[:-1]) / 2, np.diff(ends) / 2
        points = middles[:, None] + halves[:, None] * nodes
        values = np.exp(density.score_samples(points.reshape(-1, 1))).reshape(points.shape)
        assert halves @ values @ weights == pytest.approx(1.0, abs=1e-6)

    @pytest.mark.parametrize("kernel", KERNELS, ids=kernel_name)
    def test_the_density_integrates_to_one_in_the_plane(self, kernel):
        X = np.random.default_rng(0).normal(size=(60, 2))
        density = self.make(kernel).fit(X)
        axis = np.arange(-25.0, 25.0, 0.2) + 0.1
        grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
        assert np.exp(density.score_samples(grid)).sum() * 0.04 == pytest.approx(1.0, abs=1e-3)

    def test_the_density_is_not_normalized_if_the_kernel_has_no_integral(self, X):
        own = self.make(RadialKernel(lambda s: np.exp(-s), 2.0, 1.5)).fit(X)
        gaussian = self.make(Gaussian(1.5)).fit(X)
        np.testing.assert_allclose(
            own.score_samples(X) - gaussian.score_samples(X),
            Gaussian().log_integral(3) + 3 * np.log(1.5),
            rtol=1e-10,
        )

"""Test HerdingDensity with greedy row selection and with gradient ascent."""

import tracemalloc

import numpy as np
import pytest
from scipy.optimize import check_grad

from rskpca import Gaussian, HerdingDensity, Laplacian, RadialKernel, ShadowDensity
from rskpca.density.herding import _Field
from tests import datasets, dense
from tests.density.invariants import DensityInvariants


class TestInvariants(DensityInvariants):
    def make(self, kernel=None):
        return HerdingDensity(25, kernel=kernel)


def herd_with_full_matrix(kernel, X, weights, size):
    """Return the rows that herding selects with the full kernel matrix, breaking ties by index."""
    K = np.exp(dense.log_kernel(kernel, X, X))
    mean, chosen = K @ weights / weights.sum(), []
    for t in range(size):
        scores = mean - K[:, chosen].sum(axis=1) / (t + 1)
        chosen.append(int(np.argmax(scores > scores.max() - 1e-12)))
    return chosen


@pytest.mark.parametrize(("name", "bandwidth"), [("german", 30.0), ("digits", 25.0)])
@pytest.mark.parametrize("family", [Gaussian, Laplacian])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_result_equals_herding_with_the_full_kernel_matrix(name, bandwidth, family, weighted):
    X, kernel = datasets.load(name), family(bandwidth)
    weights = np.random.default_rng(0).random(len(X)) if weighted else np.ones(len(X))
    s = HerdingDensity(80, kernel=kernel).fit(X, sample_weight=weights).reduced_set_
    chosen = X[herd_with_full_matrix(kernel, X, weights, 80)]
    counts = np.array([(chosen == c).all(axis=1).sum() for c in s.centers])
    assert counts.sum() == 80
    np.testing.assert_allclose(s.weights, counts * weights.sum() / 80, rtol=1e-8)
    _, first = np.unique(chosen, axis=0, return_index=True)
    np.testing.assert_array_equal(s.centers, chosen[np.sort(first)])


def test_any_profile_is_supported():
    X = datasets.blobs(100, 2)
    own = HerdingDensity(20, kernel=RadialKernel(lambda s: 3 * np.exp(-s), 2.0, 1.5)).fit(X)
    gaussian = HerdingDensity(20, kernel=Gaussian(1.5)).fit(X)
    np.testing.assert_array_equal(own.reduced_set_.centers, gaussian.reduced_set_.centers)


def test_ties_are_broken_in_favor_of_the_first_row():
    """The corners of a square have equal scores."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    s = HerdingDensity(4, kernel=Gaussian(1.0)).fit(X).reduced_set_
    np.testing.assert_array_equal(s.centers, X[[0, 3, 1, 2]])
    turned = HerdingDensity(4, kernel=Gaussian(1.0)).fit(X[::-1]).reduced_set_
    np.testing.assert_array_equal(turned.centers, X[[3, 0, 2, 1]])


def slope(method):
    """Return the slope of log MMD versus log m for three Gaussian mixtures."""
    sizes, kernel = np.array([4, 8, 16, 32, 64, 128]), Gaussian(2.0)
    logs = np.zeros(len(sizes))
    for seed in range(3):
        X = datasets.blobs(1000, 2, seed=seed)
        for i, m in enumerate(sizes):
            s = HerdingDensity(int(m), method=method, kernel=kernel).fit(X).reduced_set_
            logs[i] += np.log(dense.mmd_to_data(kernel, X, s)) / 3
    return np.polyfit(np.log(sizes), logs, 1)[0]


def test_the_mmd_is_inversely_proportional_to_m():
    assert -1.2 < slope("greedy") < -0.8


def test_the_mmd_of_gradient_ascent_is_inversely_proportional_to_m():
    assert -1.2 < slope("gradient") < -0.8


def test_the_full_kernel_matrix_is_never_stored():
    X = datasets.blobs(6000, 2)
    HerdingDensity(2).fit(X[:100])  # triggers compilation
    tracemalloc.start()
    HerdingDensity(50, kernel=Gaussian(2.0)).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < len(X) ** 2 * 8 / 20


def test_herding_a_fine_reduced_set_approximates_herding_the_data():
    X, kernel = datasets.blobs(4000, 2), Gaussian(2.0)
    fine = ShadowDensity(kernel, ell=8.0).fit(X).reduced_set_
    assert fine.n_centers < len(X) / 4
    herding = HerdingDensity(50, kernel=kernel)
    s = herding.fit(fine.centers, sample_weight=fine.weights).reduced_set_
    assert s.n_samples == len(X)
    direct = HerdingDensity(50, kernel=kernel).fit(X).reduced_set_
    assert dense.mmd_to_data(kernel, X, s) < 2 * dense.mmd_to_data(kernel, X, direct)


# ------------------------------------------------------------------------ gradient ascent


def test_the_gradient_matches_finite_differences_of_the_score():
    X, shares = datasets.blobs(50, 3), np.full(50, 0.02)
    field = _Field(X, shares, Gaussian(2.0))
    for start in field.rows[:3]:
        field.add_summit(start)
    rng = np.random.default_rng(0)
    for z in rng.normal(size=(5, 3)):
        error = check_grad(lambda z: field.descent(z)[0], lambda z: field.descent(z)[1], z)
        assert error < 1e-6


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_each_point_is_a_maximum_at_least_as_high_as_the_best_row(shift):
    X, kernel = datasets.blobs(300, 2) + shift, Gaussian(2.0)
    s = HerdingDensity(12, method="gradient", kernel=kernel).fit(X).reduced_set_
    assert s.n_centers == 12
    chosen = s.centers
    for t, point in enumerate(chosen):

        def score(Y, earlier=chosen[:t]):
            data, repelled = (np.exp(dense.log_kernel(kernel, Y, Z)) for Z in (X, earlier))
            return data.mean(axis=1) - repelled.sum(axis=1) / (len(earlier) + 1)

        height = score(point[None])[0]
        assert height >= score(X).max() - 1e-9
        around = point + 1e-3 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
        assert height >= score(around).max() - 1e-9


def test_integer_weights_are_equivalent_to_repeated_rows_for_gradient_ascent():
    X, weights = datasets.blobs(150, 2), np.random.default_rng(0).integers(0, 4, 150)
    herding = HerdingDensity(15, method="gradient", kernel=Gaussian(2.0))
    weighted = herding.fit(X, sample_weight=weights).reduced_set_
    repeated = herding.fit(np.repeat(X, weights, axis=0)).reduced_set_
    np.testing.assert_allclose(weighted.centers, repeated.centers, rtol=0, atol=1e-4)
    np.testing.assert_allclose(weighted.weights, repeated.weights)


def test_gradient_ascent_is_seeded_keeps_the_dtype_and_does_not_modify_the_input():
    X = datasets.blobs(100, 3, dtype=np.float32)
    X.flags.writeable = False
    first, second = (HerdingDensity(9, method="gradient").fit(X).reduced_set_ for _ in range(2))
    assert first == second
    assert first.centers.dtype == np.float32
    assert first.weights.sum() == pytest.approx(100)


@pytest.mark.parametrize("kernel", ["laplacian", RadialKernel(lambda s: np.exp(-s), 2.0, 1.0)])
def test_gradient_ascent_requires_a_gaussian_kernel(kernel):
    with pytest.raises(ValueError, match=r'requires a Gaussian kernel.*method="greedy"'):
        HerdingDensity(3, method="gradient", kernel=kernel).fit(datasets.blobs(20, 2))


@pytest.mark.parametrize("method", ["newton", None, 1])
def test_an_unknown_method_is_rejected(method):
    with pytest.raises(ValueError, match='method must be "greedy" or "gradient"'):
        HerdingDensity(3, method=method).fit(datasets.blobs(20, 2))

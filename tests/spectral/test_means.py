"""Test the choice of means and the accuracy of Rayleigh-Ritz in their span."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from rskpca import Gaussian, NystromKernelPCA, ReducedSetKernelPCA
from rskpca.baselines.methods import embedding_error
from rskpca.spectral import Moments, ritz
from rskpca.spectral.means import choose_means, sample_for_means
from tests import datasets


def choose(X, n_means, n_axes, weights=None, seed=0):
    rng = np.random.RandomState(seed)
    basis = choose_means(sample_for_means(X, weights, n_means, rng), n_means, n_axes, rng)
    return basis.points, basis.subspace


def test_the_means_lie_in_the_subspace():
    X = datasets.blobs(500, 12)
    points, subspace = choose(X, 20, 3)
    assert points.shape == (20, 12)
    assert subspace.axes.shape == (12, 3)
    again = subspace.points(subspace.coordinates(points))
    np.testing.assert_allclose(again, points, atol=1e-10)


def test_integer_weights_are_equivalent_to_repeated_rows():
    X, counts = datasets.blobs(120, 6), np.arange(120) % 4 + 1
    points, _ = choose(X, 10, 3, counts.astype(float))
    np.testing.assert_array_equal(points, choose(np.repeat(X, counts, axis=0), 10, 3)[0])


@pytest.mark.parametrize(("n_means", "n_rows"), [(30, 2_000), (200, 4_000), (2_000, 10_000)])
def test_means_are_computed_from_twenty_rows_each_and_at_least_two_thousand(n_means, n_rows):
    X = datasets.blobs(10_000, 2)
    rows = sample_for_means(X, None, n_means, np.random.RandomState(0))
    assert len(np.unique(rows, axis=0)) == len(rows) == n_rows


def test_the_same_seed_gives_the_same_means():
    X = datasets.blobs(3_000, 8)
    np.testing.assert_array_equal(choose(X, 30, 4)[0], choose(X, 30, 4)[0])


def test_means_span_the_components_better_than_the_same_number_of_rows():
    X = load_digits().data
    train, new = X[:1400], X[1400:]
    exact = ReducedSetKernelPCA(5, ell=np.inf).fit(train).transform(new)

    def error(landmarks):
        model = NystromKernelPCA(5, landmarks=landmarks, n_centers=50).fit(train)
        return embedding_error(exact, model.transform(new))

    assert error("means") < 0.4 * min(error("uniform"), error("rpcholesky"))


@pytest.mark.parametrize("center", [True, False])
def test_all_rows_as_means_give_exact_kernel_pca(center):
    X, new = datasets.blobs(150, 5), datasets.blobs(40, 5, seed=3)
    kernel = Gaussian(2.5)
    exact = ReducedSetKernelPCA(4, kernel=kernel, ell=np.inf, center=center).fit(X)
    means = NystromKernelPCA(
        4, kernel=kernel, landmarks="means", n_centers=150, n_axes=5, center=center
    ).fit(X)
    np.testing.assert_allclose(means.eigenvalues_, exact.eigenvalues_, rtol=1e-8)
    signs = np.sign(np.sum(means.transform(X) * exact.transform(X), axis=0))
    np.testing.assert_allclose(means.transform(new) * signs, exact.transform(new), atol=1e-8)


def test_equal_rows_have_no_means():
    with pytest.raises(ValueError, match="All 50 sampled rows are equal"):
        choose(np.ones((50, 3)), 2, 2)


def test_there_are_at_most_as_many_means_as_distinct_rows():
    X = np.repeat(datasets.blobs(5, 3), 20, axis=0)
    assert choose(X, 8, 2)[0].shape == (5, 3)
    with pytest.raises(ValueError, match=r"only 5 distinct values\. Use n_centers=5 or fewer"):
        NystromKernelPCA(2, landmarks="means", n_centers=8).fit(X)


def test_float32_rows_are_projected_in_float32_without_amplifying_rounding_errors():
    # The kernel matrix of the means is so ill-conditioned that rounding errors of kernel values
    # would be amplified by a factor of a million.
    rng = np.random.RandomState(0)
    X = datasets.blobs(2_000, 200, dtype=np.float32)
    kernel = Gaussian(5 * Gaussian().resolve(X).scale)
    basis = choose_means(X[:1_000].astype(np.float64), 60, 20, rng)
    empty = Moments.of(kernel, basis.points, basis.subspace)
    assert np.square(empty.columns).sum() > 1e6
    single, double = (
        ritz(empty.add(rows), 5, center=True).eigenvalues for rows in (X, X.astype(np.float64))
    )
    np.testing.assert_allclose(single, double, rtol=1e-5)


def test_kernel_values_are_float32_only_if_the_operator_error_is_at_most_a_thousandth():
    basis = choose_means(datasets.blobs(1_000, 12), 20, 3, np.random.RandomState(0))
    empty = Moments.of(Gaussian(4.0), basis.points, basis.subspace)
    allowed = 1e-3 / np.finfo(np.float32).eps
    assert empty._arithmetic(np.float32, 0.99 * allowed) == np.float32
    assert empty._arithmetic(np.float32, 1.01 * allowed) == np.float64

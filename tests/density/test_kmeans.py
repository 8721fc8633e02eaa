"""Test that KMeansDensity weights the scikit-learn centers by their nearest rows."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from rskpca import Gaussian, KMeansDensity, ReducedSetKernelPCA
from rskpca.density import kmeans as kmeans_module
from tests import datasets, dense
from tests.density.invariants import DensityInvariants


class TestInvariants(DensityInvariants):
    repeats_rounding = 16

    def make(self, kernel=None):
        return KMeansDensity(20, kernel=kernel)


class TestMiniBatchInvariants(DensityInvariants):
    weights_equal_repeats = False  # batches are drawn from the rows, so repeated rows matter

    @pytest.fixture(autouse=True)
    def _many_rows(self, monkeypatch):
        monkeypatch.setattr(kmeans_module, "MINI_BATCHES_FROM", 1)

    def make(self, kernel=None):
        return KMeansDensity(20, kernel=kernel)


@pytest.mark.parametrize("name", ["german", "digits"])
def test_centers_equal_those_from_scikit_learn_weighted_by_nearest_rows(name):
    X = datasets.load(name)
    s = KMeansDensity(40).fit(X).reduced_set_
    theirs = KMeans(40, n_init=1, random_state=0).fit(X)
    np.testing.assert_allclose(s.centers, theirs.cluster_centers_, rtol=0, atol=1e-10)
    distances = cdist(X, s.centers)
    np.testing.assert_array_equal(s.weights, np.bincount(distances.argmin(axis=1)))
    assert s.radius == pytest.approx(distances.min(axis=1).max(), rel=1e-12)
    assert s.scatter.sum() == pytest.approx(theirs.inertia_, rel=1e-10)


def test_centers_are_the_weighted_means_of_their_rows_after_convergence():
    X, weights = datasets.blobs(400, 3), np.random.default_rng(0).random(400)
    density = KMeansDensity(8).fit(X, sample_weight=weights)
    for j, center in enumerate(density.reduced_set_.centers):
        own = density.labels_ == j
        mean = np.average(X[own], axis=0, weights=weights[own])
        np.testing.assert_allclose(center, mean, rtol=0, atol=0.05)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_reduced_set_is_exact_with_one_row_per_cluster(weighted):
    X = datasets.blobs(60, 3)
    weights = np.random.default_rng(0).random(60) + 0.1 if weighted else None
    density = KMeansDensity(60, kernel=Gaussian(2.0)).fit(X, sample_weight=weights)
    s = density.reduced_set_
    np.testing.assert_array_equal(s.centers, X)
    np.testing.assert_array_equal(s.weights, np.ones(60) if weights is None else weights)
    np.testing.assert_array_equal(density.labels_, np.arange(60))
    assert s.radius == 0


@pytest.mark.parametrize("center", [True, False])
def test_kernel_pca_is_exact_with_one_row_per_cluster(center):
    X, new = datasets.load("digits", 9), datasets.load("digits", 10)
    density = KMeansDensity(len(X))
    model = ReducedSetKernelPCA(5, kernel=Gaussian(25.0), density=density, center=center).fit(X)
    exact = dense.KernelPCA(Gaussian(25.0), X, 5, center)
    dense.assert_equal_up_to_sign(model.transform(new), exact.transform(new), 1e-8)


def heavy_tailed():
    """Return rows whose variance comes mostly from a few light rows.

    An unweighted tolerance would stop k-means too early.
    """
    X = np.random.default_rng(0).normal(size=(2000, 2))
    X[:20] *= 30
    return X, np.where(np.arange(2000) < 20, 1, 5)


def integer_weights_on_digits():
    X = datasets.load("digits", 2)
    return X, np.random.default_rng(0).integers(0, 6, len(X))


@pytest.mark.parametrize("data", [heavy_tailed, integer_weights_on_digits])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_integer_weights_are_equivalent_to_repeated_rows_up_to_rounding(data, dtype):
    X, weights = data()
    X = X.astype(dtype)
    weighted, repeated = (
        KMeansDensity(30, kernel=Gaussian(1.0)).fit(rows, sample_weight=counts).reduced_set_
        for rows, counts in ((X, weights), (np.repeat(X, weights, axis=0), None))
    )
    rounding = 16 * np.finfo(dtype).eps * np.abs(X).max()
    np.testing.assert_allclose(weighted.centers, repeated.centers, rtol=0, atol=rounding)
    np.testing.assert_array_equal(weighted.weights, repeated.weights)


@pytest.mark.parametrize("n_rows", [3000, 25_000])
def test_the_number_of_threads_does_not_matter(n_rows):
    X = datasets.blobs(n_rows, 4)
    expected = KMeansDensity(30).fit(X).reduced_set_
    for limit in (1, 4):
        with threadpool_limits(limit):
            assert KMeansDensity(30).fit(X).reduced_set_ == expected


def test_mini_batches_are_used_for_20000_rows_or_more(monkeypatch):
    fitted = []

    class Recorded(MiniBatchKMeans):
        def fit(self, X, *arguments, **options):
            fitted.append(len(X))
            return super().fit(X, *arguments, **options)

    monkeypatch.setattr("sklearn.cluster.MiniBatchKMeans", Recorded)
    X = datasets.blobs(20_000, 2)
    KMeansDensity(5).fit(X[:-1])
    assert not fitted
    density = KMeansDensity(5).fit(X)
    assert fitted == [20_000]
    assert density.reduced_set_.scatter.sum() < 1.2 * KMeans(5, random_state=0).fit(X).inertia_


def test_too_few_distinct_points_cause_a_warning_but_no_empty_centers():
    X = np.repeat(np.array([[0.0, 1.0], [5.0, 5.0], [9.0, 0.0]]), 10, axis=0)
    with pytest.warns(ConvergenceWarning, match="distinct clusters"):
        s = KMeansDensity(6, kernel=Gaussian(1.0)).fit(X).reduced_set_
    np.testing.assert_allclose(np.unique(s.centers, axis=0), np.unique(X, axis=0), atol=1e-12)
    np.testing.assert_array_equal(s.weights, [10, 10, 10])


def test_identical_rows_are_accepted_if_the_bandwidth_is_given():
    X = np.full((10, 3), 7.0)
    assert KMeansDensity(1, kernel=Gaussian(1.0)).fit(X).reduced_set_.weights == [10]


@pytest.mark.parametrize(("dtype", "shift"), [(np.float64, 1e8), (np.float32, 1e3)])
def test_mini_batches_are_accurate_far_from_the_origin(dtype, shift, monkeypatch):
    monkeypatch.setattr("rskpca.density.kmeans.MINI_BATCHES_FROM", 100)
    X = datasets.blobs(2000, 2)
    near = KMeansDensity(30, kernel=Gaussian(1.0)).fit(X.astype(dtype)).reduced_set_
    far = KMeansDensity(30, kernel=Gaussian(1.0)).fit((X + shift).astype(dtype)).reduced_set_
    assert far.scatter.sum() == pytest.approx(near.scatter.sum(), rel=0.05)


class TestFewStepsInvariants(DensityInvariants):
    repeats_rounding = 16

    def make(self, kernel=None):
        return KMeansDensity(20, kernel=kernel, max_iter=3)


def test_few_steps_equal_lloyd_steps_from_random_rows():
    X = datasets.blobs(500, 3)
    s = KMeansDensity(100, max_iter=2).fit(X).reduced_set_
    centers = X[np.sort(np.random.RandomState(0).permutation(500)[:100])]
    for _ in range(2):
        nearest = cdist(X, centers).argmin(axis=1)
        centers = np.array([X[nearest == j].mean(axis=0) for j in range(100)])
    np.testing.assert_allclose(s.centers, centers, rtol=0, atol=1e-12)


def test_few_steps_use_a_sample_of_five_rows_per_center_and_count_all_rows():
    X = datasets.blobs(4000, 2)
    density = KMeansDensity(8, max_iter=1).fit(X)
    assert density.reduced_set_.weights.sum() == 4000
    mean = [X[density.labels_ == j].mean(axis=0) for j in range(density.reduced_set_.n_centers)]
    assert not np.allclose(mean, density.reduced_set_.centers, atol=1e-6)


def test_the_number_of_steps_must_be_positive():
    with pytest.raises(ValueError, match="max_iter must be an integer of at least 1, got 0"):
        KMeansDensity(3, max_iter=0).fit(datasets.blobs(20, 2))

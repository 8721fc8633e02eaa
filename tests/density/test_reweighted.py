"""Test ReweightedDensity, which recounts, moves or reweights the centers of a density."""

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.spatial.distance import cdist
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from rskpca import (
    FastParzenDensity,
    Gaussian,
    KMeansDensity,
    Laplacian,
    RadialKernel,
    ReducedSetKernelPCA,
    ReweightedDensity,
    ShadowDensity,
)
from rskpca.baselines import UniformDensity
from rskpca.density import reweighted as module
from tests import datasets, dense
from tests.density.invariants import DensityInvariants

WEIGHTS = ["nearest", "means", "quadrature", "operator"]
INNER = [ShadowDensity(ell=1.5), UniformDensity(30), KMeansDensity(20), FastParzenDensity(2.0)]


class TestNearestInvariants(DensityInvariants):
    def make(self, kernel=None):
        return ReweightedDensity(ShadowDensity(ell=2.0), "nearest", kernel=kernel)


class TestMeansInvariants(DensityInvariants):
    repeats_rounding = 16

    def make(self, kernel=None):
        return ReweightedDensity(ShadowDensity(ell=2.0), "means", kernel=kernel)


class TestQuadratureInvariants(DensityInvariants):
    weights_rounding = 1e-9

    def make(self, kernel=None):
        return ReweightedDensity(ShadowDensity(ell=1.5), "quadrature", kernel=kernel)


class TestOperatorInvariants(DensityInvariants):
    weights_rounding = 1e-9

    def make(self, kernel=None):
        return ReweightedDensity(ShadowDensity(ell=1.5), "operator", kernel=kernel)


class TestInvariantsWithAnotherInnerDensity(DensityInvariants):
    repeats_rounding = 16

    def make(self, kernel=None):
        return ReweightedDensity(UniformDensity(40), "means", kernel=kernel)


def weighted_rows(n=300, d=3):
    return datasets.blobs(n, d), np.random.default_rng(1).random(n) + 0.1


def fitted(weights, inner=None, kernel=None, n=300):
    X, sample_weight = weighted_rows(n)
    kernel = Gaussian(2.0) if kernel is None else kernel
    inner = ShadowDensity(ell=1.5) if inner is None else inner
    density = ReweightedDensity(inner, weights, kernel=kernel).fit(X, sample_weight=sample_weight)
    plain = clone(inner).set_params(kernel=kernel)
    return X, sample_weight, density, plain.fit(X, sample_weight=sample_weight)


# ------------------------------------------------------------------------------- nearest


@pytest.mark.parametrize("inner", INNER, ids=lambda d: type(d).__name__)
def test_nearest_weights_count_each_row_at_its_nearest_center(inner):
    X, sample_weight, density, plain = fitted("nearest", inner)
    s, distances = density.reduced_set_, cdist(X, plain.reduced_set_.centers)
    kept, labels = np.unique(distances.argmin(axis=1), return_inverse=True)
    np.testing.assert_array_equal(s.centers, plain.reduced_set_.centers[kept])
    np.testing.assert_array_equal(density.labels_, labels)
    np.testing.assert_allclose(s.weights, np.bincount(labels, sample_weight), rtol=1e-12)
    squared = distances.min(axis=1) ** 2
    np.testing.assert_allclose(s.scatter, np.bincount(labels, sample_weight * squared), rtol=1e-9)
    assert s.radius == pytest.approx(distances.min(axis=1).max(), rel=1e-12)


def test_nearest_weights_displace_rows_less_than_the_shadow_density():
    *_, density, plain = fitted("nearest")
    assert density.reduced_set_.scatter.sum() < 0.9 * plain.reduced_set_.scatter.sum()


# --------------------------------------------------------------------------------- means


@pytest.mark.parametrize("inner", INNER, ids=lambda d: type(d).__name__)
def test_centers_move_to_the_means_of_their_cells(inner):
    X, sample_weight, density, plain = fitted("means", inner)
    kept, labels = np.unique(plain.labels_, return_inverse=True)
    np.testing.assert_array_equal(density.labels_, labels)
    for j in range(len(kept)):
        mean = np.average(X[labels == j], axis=0, weights=sample_weight[labels == j])
        np.testing.assert_allclose(density.reduced_set_.centers[j], mean, atol=1e-12)
    np.testing.assert_allclose(
        density.reduced_set_.weights, np.bincount(labels, sample_weight), rtol=1e-12
    )


def test_the_covariance_is_the_difference_between_the_data_and_the_means():
    X, sample_weight, density, _ = fitted("means")
    s = density.reduced_set_
    total = np.cov(X.T, aweights=sample_weight, ddof=0)
    between = np.cov(s.centers.T, aweights=s.weights, ddof=0)
    np.testing.assert_allclose(density.covariance_, total - between, atol=1e-12)
    assert np.trace(density.covariance_) == pytest.approx(s.scatter.sum() / s.n_samples)


def test_the_covariance_is_available_only_with_means():
    density = ReweightedDensity(weights="means").fit(datasets.blobs(50, 2))
    density.set_params(weights="nearest").fit(datasets.blobs(50, 2))
    assert not hasattr(density, "covariance_")


def test_the_means_of_single_row_cells_equal_the_rows():
    X = datasets.blobs(60, 3)
    density = ReweightedDensity(ShadowDensity(ell=np.inf), "means").fit(X)
    np.testing.assert_array_equal(density.reduced_set_.centers, X)
    np.testing.assert_array_equal(density.covariance_, 0)


# ---------------------------------------------------------------------------- quadrature


def mean_embedding_gap(kernel, X, sample_weight, centers, weights):
    """Return n / 2 times the gradient of the squared MMD with respect to w, which is K w - z."""
    K, mixed = (np.exp(dense.log_kernel(kernel, centers, Y)) for Y in (centers, X))
    return K @ weights - mixed @ sample_weight


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(2.0)])
@pytest.mark.parametrize("inner", INNER, ids=lambda d: type(d).__name__)
def test_quadrature_satisfies_the_optimality_conditions(kernel, inner):
    X, sample_weight, density, plain = fitted("quadrature", inner, kernel)
    s, centers = density.reduced_set_, plain.reduced_set_.centers
    place = cdist(s.centers, centers).argmin(axis=1)
    weights = np.zeros(len(centers))
    weights[place] = s.weights
    gap = mean_embedding_gap(kernel, X, sample_weight, centers, weights) / sample_weight.sum()
    multiplier = gap[place].mean()
    np.testing.assert_allclose(gap[place], multiplier, atol=1e-7)
    assert gap.min() > multiplier - 1e-7
    assert s.radius is None
    np.testing.assert_array_equal(density.labels_, cdist(X, s.centers).argmin(axis=1))


def test_quadrature_equals_scipy_nnls_with_a_heavy_row_for_the_sum_constraint():
    X, sample_weight, density, plain = fitted("quadrature", n=120)
    centers, n = plain.reduced_set_.centers, sample_weight.sum()
    # Factor the Gram matrix of the columns k(c_j, .) - mu, and append the row for the sum.
    K, mixed, own = (
        np.exp(dense.log_kernel(Gaussian(2.0), *pair))
        for pair in ((centers, centers), (centers, X), (X, X))
    )
    shares = sample_weight / n
    D = K - (mixed @ shares)[:, None] - mixed @ shares + shares @ own @ shares
    factor = np.linalg.cholesky(D + module.RIDGE * np.eye(len(D))).T
    found, _ = nnls(np.vstack([factor, np.ones(len(D))]), np.append(np.zeros(len(D)), 1.0))
    expected = n * found / found.sum()
    assert 0 < np.count_nonzero(expected == 0) < len(D)
    np.testing.assert_array_equal(density.reduced_set_.centers, centers[expected > 0])
    np.testing.assert_allclose(density.reduced_set_.weights, expected[expected > 0], rtol=1e-8)


@pytest.mark.parametrize("name", ["german", "digits", "pendigits"])
def test_quadrature_reduces_the_mmd(name):
    X = datasets.load(name)[:500]
    kernel = Gaussian("median").resolve(X)
    plain, quadrature, nearest = (
        dense.mmd_to_data(kernel, X, density.fit(X).reduced_set_)
        for density in (
            ShadowDensity(kernel),
            ReweightedDensity(ShadowDensity(kernel), "quadrature"),
            ReweightedDensity(ShadowDensity(kernel), "nearest"),
        )
    )
    assert quadrature < 0.6 * min(plain, nearest)


def test_operator_weights_equal_quadrature_weights_with_the_squared_kernel():
    *_, density, _ = fitted("operator", ShadowDensity(Gaussian(2.0), ell=1.5))
    narrow = Gaussian(2.0 / np.sqrt(2))
    *_, squared, _ = fitted("quadrature", ShadowDensity(ell=1.5 / np.sqrt(2)), narrow)
    np.testing.assert_array_equal(density.reduced_set_.centers, squared.reduced_set_.centers)
    np.testing.assert_allclose(
        density.reduced_set_.weights, squared.reduced_set_.weights, rtol=1e-10
    )
    assert density.kernel_.bandwidth == 2.0


@pytest.mark.parametrize(("name", "bandwidth"), [("german", 30.0), ("pendigits", 120.0)])
def test_operator_weights_reduce_the_embedding_error(name, bandwidth):
    X, new = np.split(datasets.load(name)[:600], [450])
    kernel = Gaussian(bandwidth)
    exact = dense.KernelPCA(kernel, X, 3, True).transform(new)

    def error(density):
        model = ReducedSetKernelPCA(3, kernel=kernel, density=density).fit(X)
        Z = model.transform(new)
        return np.linalg.norm(Z @ np.linalg.lstsq(Z, exact, rcond=None)[0] - exact)

    assert error(ReweightedDensity(weights="operator")) < 0.3 * error(ShadowDensity())


def test_quadrature_on_all_rows_reproduces_the_data():
    X = datasets.blobs(80, 2)
    s = ReweightedDensity(ShadowDensity(ell=np.inf), "quadrature", kernel=Gaussian(0.3)).fit(X)
    np.testing.assert_allclose(s.reduced_set_.weights, 1.0, rtol=1e-5)


def test_the_chunk_size_does_not_matter(monkeypatch):
    X = datasets.blobs(300, 3)
    expected = ReweightedDensity(ShadowDensity(ell=1.5), "quadrature").fit(X).reduced_set_
    monkeypatch.setattr(module, "_SPAN_ROWS", 37)
    found = ReweightedDensity(ShadowDensity(ell=1.5), "quadrature").fit(X).reduced_set_
    np.testing.assert_array_equal(found.centers, expected.centers)
    np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-9)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_number_of_threads_does_not_matter(weights):
    X = datasets.load("digits", 3)
    expected = ReweightedDensity(weights=weights).fit(X).reduced_set_
    for limit in (1, 4):
        with threadpool_limits(limit):
            assert ReweightedDensity(weights=weights).fit(X).reduced_set_ == expected


# ------------------------------------------------------------------- kernels and messages


@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_density_without_a_kernel_uses_the_kernel_of_the_outer_density(weights):
    X = datasets.blobs(100, 2)
    lent = ReweightedDensity(ShadowDensity(), weights, kernel=Gaussian(1.2)).fit(X)
    own = ReweightedDensity(ShadowDensity(Gaussian(1.2)), weights).fit(X)
    assert lent.reduced_set_ == own.reduced_set_
    assert lent.kernel_.bandwidth == own.kernel_.bandwidth == 1.2


def test_an_embedding_uses_the_kernel_of_the_innermost_density():
    X = datasets.blobs(100, 2)
    density = ReweightedDensity(ReweightedDensity(ShadowDensity(Gaussian(1.2)), "means"))
    model = ReducedSetKernelPCA(2, density=density).fit(X)
    assert model.kernel_.bandwidth == model.density_.kernel_.bandwidth == 1.2
    with pytest.raises(ValueError, match="omit the kernel of the density"):
        ReducedSetKernelPCA(2, bandwidth=2.0, density=density).fit(X)


def test_an_inner_density_with_a_different_kernel_is_rejected():
    density = ReweightedDensity(ShadowDensity(Gaussian(2.0)), "nearest", kernel=Gaussian(5.0))
    with pytest.raises(ValueError, match="omit the kernel of the density"):
        density.fit(datasets.blobs(200, 2))


def test_the_density_parameter_remains_unfitted():
    inner = ShadowDensity()
    ReweightedDensity(inner).fit(datasets.blobs(50, 2))
    assert not hasattr(inner, "reduced_set_")


@pytest.mark.parametrize("weights", ["mean", None, 3, np.ones(20)])
def test_an_unknown_weighting_is_rejected(weights):
    with pytest.raises(ValueError, match='weights must be "nearest", "means", "quad'):
        ReweightedDensity(weights=weights).fit(datasets.blobs(20, 2))


@pytest.mark.parametrize("density", ["shadow", 4.0, ShadowDensity])
def test_density_must_be_a_density_estimator(density):
    with pytest.raises(TypeError, match="density must be a density estimator"):
        ReweightedDensity(density).fit(datasets.blobs(20, 2))
    with pytest.raises(TypeError, match="density must be a density estimator"):
        ReducedSetKernelPCA(2, density=ReweightedDensity(density)).fit(datasets.blobs(20, 2))


def test_quadrature_rejects_a_gram_matrix_that_exceeds_memory(monkeypatch):
    monkeypatch.setattr(module, "MOST_CENTERS", 10)
    with pytest.raises(ValueError, match="require the Gram matrix of the centers, but 50 centers"):
        ReweightedDensity(ShadowDensity(ell=np.inf), "quadrature").fit(datasets.blobs(50, 2))


def test_quadrature_rejects_a_kernel_that_is_not_positive_definite():
    boxcar = RadialKernel(lambda s: (s < 1) + 1e-9, 2.0, 1.5)
    with pytest.raises(ValueError, match="require a positive definite kernel"):
        ReweightedDensity(ShadowDensity(ell=3.0), "quadrature", kernel=boxcar).fit(
            datasets.blobs(100, 2)
        )

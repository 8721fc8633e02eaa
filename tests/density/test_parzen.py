"""Test FastParzenDensity: the balls from Algorithm 2, their means and their covariances."""

import tracemalloc

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from rskpca import FastParzenDensity, Gaussian, ShadowDensity
from rskpca._core import reference
from tests import datasets
from tests.density.invariants import DensityInvariants


class TestInvariants(DensityInvariants):
    repeats_rounding = 4

    def make(self, kernel=None):
        return FastParzenDensity(1.0, kernel=kernel)


@pytest.mark.parametrize(("name", "radius"), [("german", 15.0), ("digits", 30.0)])
@pytest.mark.parametrize("weighted", [False, True])
def test_centers_are_the_means_of_the_balls(name, radius, weighted):
    X = datasets.load(name)
    weights = np.random.default_rng(0).random(len(X)) if weighted else np.ones(len(X))
    density = FastParzenDensity(radius).fit(X, sample_weight=weights)
    rows, labels, _ = reference.cover(X, radius)
    assert 10 < len(rows) < len(X)
    np.testing.assert_array_equal(density.labels_, labels)
    s = density.reduced_set_
    for j in range(len(rows)):
        mean = np.average(X[labels == j], axis=0, weights=weights[labels == j])
        np.testing.assert_allclose(s.centers[j], mean, rtol=1e-12, atol=1e-12 * radius)
    np.testing.assert_allclose(s.weights, np.bincount(labels, weights), rtol=1e-12)
    assert s.radius < 2 * radius
    assert s.spacing is None


def full_density(X, labels, weights, bandwidth, new):
    """Evaluate the Gaussian mixture of Wang et al., one ball at a time."""
    window = 0.5 * bandwidth**2 * np.eye(X.shape[1])
    logs = []
    for j in np.unique(labels):
        own, w = X[labels == j], weights[labels == j]
        spread = np.atleast_2d(np.cov(own.T, aweights=w, bias=True)) if len(own) > 1 else 0
        ball = multivariate_normal(np.average(own, axis=0, weights=w), spread + window)
        logs.append(np.log(w.sum() / weights.sum()) + ball.logpdf(new))
    return logsumexp(logs, axis=0)


@pytest.mark.parametrize(
    ("name", "radius", "bandwidth"), [("german", 25.0, 30.0), ("digits", 38.0, 25.0)]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_full_density_equals_a_mixture_of_gaussians(name, radius, bandwidth, weighted):
    X, new = datasets.load(name, 3), datasets.load(name, 20)
    weights = np.random.default_rng(0).random(len(X)) + 0.1 if weighted else np.ones(len(X))
    density = FastParzenDensity(radius, covariance="full", kernel=Gaussian(bandwidth))
    density.fit(X, sample_weight=weights)
    assert 5 < density.reduced_set_.n_centers < len(X) / 2
    expected = full_density(X, density.labels_, weights, bandwidth, new)
    np.testing.assert_allclose(density.score_samples(new), expected, rtol=1e-8)
    assert density.score(new) == pytest.approx(expected.sum(), rel=1e-8)


def test_the_density_equals_the_parzen_window_with_one_point_per_ball():
    X, new = datasets.blobs(60, 3), datasets.blobs(40, 3, seed=1)
    new[0] = 300.0  # the density underflows here, but its logarithm does not
    window = ShadowDensity(Gaussian(1.5), ell=np.inf).fit(X).score_samples(new)
    for covariance in ("kernel", "full"):
        density = FastParzenDensity(1e-6, covariance=covariance, kernel=Gaussian(1.5)).fit(X)
        np.testing.assert_allclose(density.score_samples(new), window, rtol=1e-10)


def test_full_covariances_improve_the_approximation_of_the_parzen_window():
    X, new = datasets.blobs(500, 3), datasets.blobs(300, 3, seed=1)
    window = ShadowDensity(Gaussian(1.5), ell=np.inf).fit(X).score_samples(new)
    error = {
        covariance: np.abs(
            FastParzenDensity(1.5, covariance=covariance, kernel=Gaussian(1.5))
            .fit(X)
            .score_samples(new)
            - window
        ).mean()
        for covariance in ("kernel", "full")
    }
    assert error["full"] < 0.5 * error["kernel"]


def test_the_log_density_is_minus_infinity_at_extreme_distances():
    X = datasets.blobs(60, 3)
    density = FastParzenDensity(1.0, covariance="full", kernel=Gaussian(1.5)).fit(X)
    assert density.score_samples(np.full((1, 3), 1e200)) == [-np.inf]


def test_the_full_density_integrates_to_one():
    X = np.random.default_rng(0).normal(size=(60, 1))
    density = FastParzenDensity(0.5, covariance="full", kernel=Gaussian(0.7)).fit(X)
    mass = quad(lambda x: np.exp(density.score_samples([[x]])[0]), -12, 12, limit=200)[0]
    assert mass == pytest.approx(1.0, abs=1e-6)


def test_integer_weights_are_equivalent_to_repeated_rows_in_the_full_density():
    X, weights = datasets.blobs(200, 3), np.random.default_rng(0).integers(0, 4, 200)
    density = FastParzenDensity(1.5, covariance="full", kernel=Gaussian(1.0))
    weighted = density.fit(X, sample_weight=weights).score_samples(X)
    repeated = density.fit(np.repeat(X, weights, axis=0)).score_samples(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-12)


def test_covariances_are_available_only_on_request():
    X = datasets.blobs(100, 3)
    density = FastParzenDensity(1.0, covariance="full").fit(X)
    assert density.covariances_.shape == (density.reduced_set_.n_centers, 3, 3)
    reduced_set = density.reduced_set_
    density.set_params(covariance="kernel").fit(X)
    assert not hasattr(density, "covariances_")
    assert density.reduced_set_ == reduced_set


def test_no_memory_is_used_for_covariances_unless_they_are_requested():
    X = np.random.default_rng(0).normal(size=(1500, 100))
    FastParzenDensity(1.0).fit(X[:50])  # triggers compilation
    tracemalloc.start()
    density = FastParzenDensity(1.0, kernel=Gaussian(10.0)).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    m, d = density.reduced_set_.centers.shape
    assert peak < m * d**2 * 8 / 5


def test_results_are_accurate_far_from_the_origin():
    X = datasets.blobs(200, 2)
    near = FastParzenDensity(1.0, kernel=Gaussian(1.0)).fit(np.round(X, 3))
    far = FastParzenDensity(1.0, kernel=Gaussian(1.0)).fit(np.round(X, 3) + 2.0**26)
    assert far.reduced_set_.n_centers == near.reduced_set_.n_centers
    np.testing.assert_allclose(
        far.reduced_set_.centers - 2.0**26, near.reduced_set_.centers, rtol=0, atol=1e-7
    )


@pytest.mark.parametrize("radius", [0, -1.0, np.inf, np.nan, "1", None, True])
def test_the_radius_must_be_a_positive_number(radius):
    with pytest.raises(ValueError, match="radius must be a positive, finite number"):
        FastParzenDensity(radius).fit(datasets.blobs(20, 2))


def test_an_unknown_or_unsupported_covariance_is_rejected():
    X = datasets.blobs(20, 2)
    with pytest.raises(ValueError, match='covariance must be "kernel" or "full", got'):
        FastParzenDensity(covariance="diag").fit(X)
    with pytest.raises(ValueError, match=r'"full" requires a Gaussian.*"kernel" works with any'):
        FastParzenDensity(covariance="full", kernel="laplacian").fit(X)

"""Test the sparse kernel PCA likelihood against dense algebra, its maximum and its limit."""

from functools import cache

import numpy as np
import pytest
from scipy.linalg import eigh

from rskpca import Gaussian, ReducedSet, ReducedSetKernelPCA, select_reduced_set
from rskpca.baselines import SparseKernelPCA
from rskpca.baselines._likelihood import Covariance, Likelihood, maximize
from tests import datasets, dense
from tests.baselines.cases import BANDWIDTHS, case, each, kernel
from tests.embedding.invariants import EmbeddingInvariants


class TestInvariants(EmbeddingInvariants):
    def make(self, n_components=4, **parameters):
        return SparseKernelPCA(n_components, noise=0.01, **parameters)


def weighted_points(name, step=2):
    X = case(name)[0][::step]
    return X, np.random.default_rng(0).integers(1, 5, size=len(X)).astype(float)


def dense_likelihood(name, X, weights, u, noise):
    """Return -(1/2) [log|C / s| + sum_i w_i / n psi_i' C^{-1} psi_i] in the span of X."""
    values, vectors = np.linalg.eigh(kernel(name, X, X))
    psi = vectors * np.sqrt(np.maximum(values, 0))
    C = noise * np.eye(len(X)) + psi.T @ (u[:, None] * psi)
    mahalanobis = np.sum(psi * np.linalg.solve(C, psi.T).T, axis=1)
    return -0.5 * (np.linalg.slogdet(C / noise)[1] + weights @ mahalanobis / weights.sum())


@cache
def path(name, noise=0.01):
    """Return the weights and the log likelihood after each step."""
    X, weights = weighted_points(name)
    likelihood = Likelihood.of(Gaussian(BANDWIDTHS[name]), ReducedSet(X, weights))
    covariance = Covariance(likelihood, noise, np.zeros(len(X)))
    states = [(covariance.u.copy(), covariance.log_likelihood())]
    for _ in range(60):
        i, u, gain = covariance.best()
        covariance.set(i, u)
        states.append((covariance.u.copy(), covariance.log_likelihood()))
        assert states[-1][1] - states[-2][1] == pytest.approx(gain, rel=1e-6, abs=1e-9)
    return states, covariance


@each
def test_the_likelihood_matches_dense_algebra_and_never_decreases(name):
    X, weights = weighted_points(name)
    states, _ = path(name)
    for u, value in states[::12]:
        assert value == pytest.approx(dense_likelihood(name, X, weights, u, 0.01), rel=1e-8)
    assert np.all(np.diff([value for _, value in states]) >= -1e-10)


@each
def test_updated_quantities_match_recomputed_quantities(name):
    covariance = path(name)[1]
    S, Q = covariance.S.copy(), covariance.Q.copy()
    covariance.refresh()
    np.testing.assert_allclose(S, covariance.S, rtol=1e-9)
    np.testing.assert_allclose(Q, covariance.Q, rtol=1e-9)


@each
def test_the_solution_is_a_fixed_point_of_both_tipping_updates(name):
    """The EM update and the fixed-point update use Tipping's notation: Sigma, mu_n."""
    X, weights = weighted_points(name)
    noise, n = 0.02, weights.sum()
    likelihood = Likelihood.of(Gaussian(BANDWIDTHS[name]), ReducedSet(X, weights))
    u = maximize(likelihood, noise)
    kept = np.flatnonzero(u)
    assert 5 < len(kept) < 0.7 * len(X)
    K = kernel(name, X[kept], X)
    Sigma = np.linalg.inv(np.diag(1 / u[kept]) + K[:, kept] / noise)
    mu = Sigma @ K / noise
    squares = mu**2 @ weights / n
    em, fixed_point = squares + np.diag(Sigma), squares / (1 - np.diag(Sigma) / u[kept])
    large = u[kept] > 0.1 * u.max()
    np.testing.assert_allclose(em[large], u[kept][large], rtol=0.02)
    np.testing.assert_allclose(fixed_point[large], u[kept][large], rtol=0.05)
    new = np.zeros(len(X))
    new[kept] = em  # EM never decreases the likelihood
    before, after = (dense_likelihood(name, X, weights, v, noise) for v in (u, new))
    assert -1e-9 * abs(before) <= after - before < 1e-3


@each
def test_the_weights_approach_the_sample_weights_as_the_noise_vanishes(name):
    X, weights = weighted_points(name, step=4)
    narrow = Gaussian(BANDWIDTHS[name] / 4)
    likelihood = Likelihood.of(narrow, ReducedSet(X, weights))
    errors = [
        np.abs(weights.sum() * maximize(likelihood, noise, least_gain=1e-15) / weights - 1).max()
        for noise in (1e-3, 1e-4, 1e-5)
    ]
    np.testing.assert_allclose(errors[1:] / np.array(errors[:-1]), 0.1, atol=0.03)
    assert errors[-1] < 0.01


@each
@pytest.mark.parametrize("center", [False, True])
def test_sparse_kernel_pca_without_noise_equals_kernel_pca_of_all_points(name, center):
    """The accuracy is the square root of the likelihood gain at which the updates stop."""
    X, weights = weighted_points(name, step=4)
    narrow = Gaussian(BANDWIDTHS[name] / 4)
    sparse = SparseKernelPCA(3, noise=1e-5, kernel=narrow, ell=np.inf, center=center)
    full = ReducedSetKernelPCA(3, kernel=narrow, ell=np.inf, center=center)
    sparse.fit(X, sample_weight=weights)
    full.fit(X, sample_weight=weights)
    assert sparse.n_centers_ == full.n_centers_
    np.testing.assert_allclose(sparse.weights_, full.reduced_set_.weights, rtol=0.02)
    np.testing.assert_allclose(sparse.eigenvalues_, full.eigenvalues_, rtol=0.02)


@each
def test_the_axes_equal_those_of_the_covariance(name):
    X, new, _ = case(name)
    model = SparseKernelPCA(3, noise=0.01, kernel=Gaussian(BANDWIDTHS[name]), center=False)
    model.set_params(ell=np.inf).fit(X)
    root = np.sqrt(model.weights_)
    values, vectors = eigh(root[:, None] * kernel(name, model.basis_, model.basis_) * root)
    values, vectors = values[::-1][:3], vectors[:, ::-1][:, :3]
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-8)
    expected = kernel(name, new, model.basis_) @ (root[:, None] * vectors / np.sqrt(values))
    dense.assert_equal_up_to_sign(model.transform(new), expected, 1e-8)
    assert model.noise_ == 0.01


@each
def test_the_number_of_centers_does_not_exceed_the_requested_number(name):
    X = case(name)[0]
    kernel = Gaussian(BANDWIDTHS[name])
    counts = []
    for n_centers in (1, 4, 25):
        model = SparseKernelPCA(1, n_centers=n_centers, kernel=kernel, ell=np.inf, center=False)
        counts.append(model.fit(X).n_centers_)
        again = SparseKernelPCA(1, noise=model.noise_, kernel=kernel, ell=np.inf, center=False)
        np.testing.assert_array_equal(again.fit(X).basis_, model.basis_)
    assert counts[0] == 1
    assert 3 <= counts[1] <= 4
    assert 22 <= counts[2] <= 25


def test_results_do_not_depend_on_the_scale_of_the_weights():
    X, weights = weighted_points("german")
    once, huge = (
        maximize(Likelihood.of(Gaussian(BANDWIDTHS["german"]), ReducedSet(X, scale * weights)), 0.1)
        for scale in (1.0, 2.0**1000)
    )
    np.testing.assert_array_equal(once, huge)


def test_lower_noise_keeps_more_points():
    X = datasets.blobs(200, 3)
    counts = [
        SparseKernelPCA(1, noise=noise, bandwidth=4.0, ell=np.inf).fit(X).n_centers_
        for noise in (0.05, 0.01, 0.002)
    ]
    assert counts[0] < counts[1] < counts[2] < 200


def test_a_stream_remains_sparse_after_each_change():
    X = datasets.blobs(200, 3)
    whole = SparseKernelPCA(3, noise=0.01, bandwidth=4.0).fit(X)
    stream = SparseKernelPCA(3, noise=0.01, bandwidth=4.0).partial_fit(X[:90]).partial_fit(X[90:])
    np.testing.assert_array_equal(stream.transform(X), whole.transform(X))
    assert stream.n_centers_ < stream.reduced_set_.n_centers


def test_a_sparse_model_can_be_compressed():
    X = datasets.blobs(200, 3)
    model = SparseKernelPCA(2, noise=0.002, bandwidth=4.0).fit(X)
    small = select_reduced_set(model, model.n_centers_ // 2)
    error = np.linalg.norm(small.transform(X) - model.transform(X))
    assert error < 0.01 * np.linalg.norm(model.transform(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"noise": 0.0}, "noise must be a positive"),
        ({"noise": "small"}, "noise must be a positive"),
        ({"noise": 0.9}, "all weights are zero"),
        ({"noise": 1e-9}, "rounding"),
        ({"n_centers": 0}, "n_centers must be an integer"),
        ({"n_centers": 2.5}, "n_centers must be an integer"),
        ({"n_centers": 500}, "n_centers must be at most .* got 500"),
        ({"n_centers": 5, "noise": 0.1}, "cannot be combined"),
    ],
)
def test_invalid_arguments_are_rejected(parameters, message):
    with pytest.raises(ValueError, match=message):
        SparseKernelPCA(1, bandwidth=4.0, **parameters).fit(datasets.blobs(50, 3))
    model = SparseKernelPCA(1, bandwidth=4.0, **parameters)
    assert not hasattr(model, "density_")


def test_ties_between_points_are_accepted():
    X = np.array([[0.0], [100.0], [200.0]])
    model = SparseKernelPCA(1, n_centers=2, bandwidth=1.0, ell=np.inf, center=False)
    assert 1 <= model.fit(X).n_centers_ <= 2
    assert model.set_params(n_centers=3).fit(X).n_centers_ == 3


def test_a_warning_explains_how_to_get_the_requested_number_of_components():
    model = SparseKernelPCA(9, n_centers=4, bandwidth=4.0)
    with pytest.warns(UserWarning, match=r"n_components=9.*more than 4 centers"):
        model.fit(datasets.blobs(100, 3))

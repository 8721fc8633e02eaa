"""Test kernel map compression: the least-squares fit, its gradient, and the gain from training."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from rskpca import Laplacian, ReducedSetKernelPCA, select_reduced_set
from rskpca.baselines import compress_map
from rskpca.baselines.map_compression import _Network
from rskpca.embedding.compressed import Axes
from tests import datasets
from tests.baselines.cases import case, centered_or_not, each, kernel
from tests.baselines.invariants import CompressionInvariants


class TestInvariants(CompressionInvariants):
    needs_points = True

    def compress(self, model, n_centers):
        return compress_map(model, n_centers, max_iter=5)


@each
@centered_or_not
def test_the_coefficients_solve_the_least_squares_problem_at_the_training_points(name, center):
    X, new, model = case(name, center)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=len(X))
    small = compress_map(model, 10, X, weights, max_iter=5)
    Z, root = small.basis_, np.sqrt(weights)[:, None]
    mean = kernel(name, X, Z).mean(axis=0) if center else 0
    design = root * (kernel(name, X, Z) - mean)
    A = np.linalg.lstsq(design, root * model.transform(X), rcond=None)[0]
    expected = (kernel(name, new, Z) - mean) @ A
    np.testing.assert_allclose(small.transform(new), expected, atol=1e-8)


@each
@centered_or_not
def test_the_gradient_matches_finite_differences(name, center):
    X, _, model = case(name, center)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=len(X))
    network = _Network.for_model(Axes.of(model, 4), model.kernel_, X, weights)
    nodes = X[[3, 50, 90, 120]] + 1.0
    error, gradient = network.error(nodes)
    assert 0 < error < 1
    flat = approx_fprime(
        nodes.ravel(), lambda z: network.error(z.reshape(nodes.shape))[0], epsilon=1e-4
    )
    np.testing.assert_allclose(gradient.ravel(), flat, atol=1e-4 * np.abs(gradient).max())


@each
@centered_or_not
def test_training_reduces_the_error_of_the_initial_centers(name, center):
    X, new, model = case(name, center)

    def error(small, points):
        return np.linalg.norm(small.transform(points) - model.transform(points))

    start, trained = select_reduced_set(model, 10), compress_map(model, 10, X)
    barely = compress_map(model, 10, X, max_iter=1)
    assert error(trained, X) < error(barely, X) <= error(start, X)
    assert error(trained, X) < 0.5 * error(start, X)
    assert error(trained, new) < error(start, new)


def test_the_weighted_reduced_set_is_used_as_training_data_by_default():
    X = datasets.blobs(300, 3)
    model = ReducedSetKernelPCA(3, bandwidth=4.0, ell=3.0).fit(X)
    s = model.reduced_set_
    default = compress_map(model, 8, max_iter=5)
    given = compress_map(model, 8, s.centers, s.weights, max_iter=5)
    np.testing.assert_array_equal(default.basis_, given.basis_)
    repeated = compress_map(
        model, 8, np.repeat(s.centers, s.weights.astype(int), axis=0), max_iter=5
    )
    np.testing.assert_allclose(default.transform(X), repeated.transform(X), atol=1e-6)
    unweighted = compress_map(model, 8, s.centers, max_iter=5)
    assert np.abs(unweighted.transform(X) - default.transform(X)).max() > 1e-5


def test_invalid_arguments_are_rejected():
    X, _, model = case("digits")
    other = ReducedSetKernelPCA(2, kernel=Laplacian(2.0)).fit(datasets.blobs(50, 2))
    with pytest.raises(ValueError, match="Gaussian"):
        compress_map(other, 5)
    with pytest.raises(ValueError, match="max_iter"):
        compress_map(model, 5, max_iter=0)
    with pytest.raises(ValueError, match="features"):
        compress_map(model, 5, X[:, :3])
    with pytest.raises(ValueError, match="sample_weight"):
        compress_map(model, 5, X, np.ones(3))
    with pytest.raises(ValueError, match="without X"):
        compress_map(model, 5, sample_weight=np.ones(3))

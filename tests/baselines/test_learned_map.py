"""Test kernel map compression with learned bandwidths."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.base import clone

from rskpca import Laplacian, ReducedSetKernelPCA
from rskpca.baselines import RadialBasisMap, compress_map, learn_map
from rskpca.baselines.map_compression import _LearnedNetwork
from tests import datasets
from tests.baselines.cases import case, centered_or_not


def weighted_error(model, network):
    """Return the squared error on the centers, relative to the spread of the coordinates."""
    s = model.reduced_set_
    Z = model.transform(s.centers)
    spread = Z - s.weights @ Z / s.n_samples
    total = s.weights @ np.sum(spread**2, axis=1)
    return s.weights @ np.sum((network.transform(s.centers) - Z) ** 2, axis=1) / total


def test_the_gradient_agrees_with_finite_differences():
    rng = np.random.default_rng(0)
    problem = _LearnedNetwork.of(
        rng.normal(size=(40, 3)), rng.random(40) + 0.5, rng.normal(size=(40, 2)), 1.5
    )
    nodes, logs = rng.normal(size=(5, 3)), rng.normal(0, 0.2, size=5)

    def error(flat):
        return problem.error(flat[:15].reshape(5, 3), np.exp(flat[15:]))[0]

    flat = np.concatenate([nodes.ravel(), logs])
    _, by_nodes, by_logs = problem.error(nodes, np.exp(logs))
    expected = approx_fprime(flat, error, 1e-7)
    found = np.concatenate([by_nodes.ravel(), by_logs])
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


@centered_or_not
@pytest.mark.parametrize("name", ["german", "digits"])
def test_learned_bandwidths_reduce_the_error(name, center):
    _, _, model = case(name, center)
    learned, shared = learn_map(model, 8), compress_map(model, 8)
    assert weighted_error(model, learned) < weighted_error(model, shared)
    assert np.ptp(learned.bandwidths) > 0
    assert learned.nodes.shape == shared.basis_.shape


def test_the_transform_equals_the_formula():
    rng = np.random.default_rng(0)
    z, s, a, b = rng.normal(size=(4, 2)), rng.random(4) + 0.5, rng.normal(size=(4, 3)), np.ones(3)
    x = rng.normal(size=(7, 2))
    expected = b + sum(
        a[j] * np.exp(-np.sum((x - z[j]) ** 2, axis=1) / s[j] ** 2)[:, None] for j in range(4)
    )
    network = RadialBasisMap(z, s, a, b)
    np.testing.assert_allclose(network.transform(x), expected, rtol=1e-12)
    np.testing.assert_array_equal(clone(network).fit(x).transform(x), network.transform(x))


def test_invalid_arguments_are_rejected():
    X = datasets.blobs(60, 2)
    model = ReducedSetKernelPCA(2, bandwidth=3.0).fit(X)
    with pytest.raises(ValueError, match="n_centers must be at most"):
        learn_map(model, 100)
    with pytest.raises(ValueError, match="max_iter must be an integer"):
        learn_map(model, 3, max_iter=0)
    with pytest.raises(ValueError, match="Gaussian"):
        learn_map(ReducedSetKernelPCA(2, kernel=Laplacian(3.0)).fit(X), 3)

"""Test kernel PCA identities in feature space that are valid for every operator."""

import numpy as np
import pytest

from rskpca import Gaussian, Laplacian, ReducedSet
from rskpca._core.subspace import Subspace
from rskpca.spectral import Centered, FeatureSpace, Moments, Plain, ritz, solve
from tests import datasets, dense


def systems(kernel):
    """Return eigensystems from Algorithm 1 and Rayleigh-Ritz, with and without centering."""
    X = datasets.blobs(200, 3)
    weights = np.random.default_rng(0).integers(1, 5, 200).astype(float)
    moments = Moments.of(kernel, X[:25]).add(X, weights)
    subspace = Subspace.principal(X, weights, 2)
    points = subspace.points(subspace.coordinates(X[:25]))
    flat = Moments.of(kernel, points, subspace).add(X, weights)
    return {
        "plain": solve(Plain(), kernel, ReducedSet(X, weights), 6),
        "centered": solve(Centered(), kernel, ReducedSet(X, weights), 6),
        "ritz": ritz(moments, 6, center=False),
        "shifted": ritz(moments, 6, center=True),
        "subspace": ritz(flat, 6, center=True),
    }


@pytest.fixture(params=["plain", "centered", "ritz", "shifted", "subspace"])
def name(request):
    return request.param


@pytest.fixture(params=[Gaussian(3.0), Laplacian(3.0)], ids=["gaussian", "laplacian"])
def system(request, name):
    return systems(request.param)[name]


@pytest.fixture
def space(system):
    return FeatureSpace.of(system)


def k(space, X, Y):
    return np.exp(dense.log_kernel(space.kernel, X, Y))


def test_the_axes_are_orthonormal(space):
    K = k(space, space.centers, space.centers)
    np.testing.assert_allclose(space.axes.T @ K @ space.axes, np.eye(6), atol=1e-8)
    np.testing.assert_allclose(space.values, K @ space.axes, atol=1e-8)
    np.testing.assert_allclose(space.means, K @ space.shares, atol=1e-8)
    assert space.mean == pytest.approx(space.shares @ K @ space.shares, abs=1e-8)


def test_coordinates_are_inner_products_with_the_axes(system, space):
    new = datasets.blobs(40, 3, seed=1)
    Z = system.extend(new) * np.sqrt(system.eigenvalues)
    K = k(space, new, space.centers)
    np.testing.assert_allclose(Z, (K - space.means) @ space.axes, atol=1e-8)


def test_the_residual_is_the_distance_from_the_projection(system, space):
    """Check ||psi(x) - h(z)||^2 = k(x, x) - 2 h(z)(x) + ||h(z)||^2 at the coordinates z of x."""
    new = datasets.blobs(40, 3, seed=1)
    Z = system.extend(new) * np.sqrt(system.eigenvalues)
    at = np.einsum("ij,ij->i", space.coefficients(Z), k(space, new, space.centers))
    expected = 1 - 2 * at + space.squared_norms(Z)
    np.testing.assert_allclose(space.residuals(new), expected, atol=1e-8)


def test_the_mean_on_a_basis_is_the_projection_of_the_data_mean():
    kernel = Gaussian(3.0)
    X, Y = datasets.blobs(200, 3), datasets.blobs(40, 3, seed=1)
    shifted = FeatureSpace.of(systems(kernel)["shifted"])
    weights = np.random.default_rng(0).integers(1, 5, 200)
    rows = np.exp(dense.log_kernel(kernel, np.repeat(X, weights, axis=0), shifted.centers))
    np.testing.assert_allclose(shifted.means, rows.mean(axis=0), atol=1e-8)
    assert np.isfinite(shifted.residuals(Y)).all()


def test_axes_and_mean_are_evaluated_at_new_points(space):
    new = datasets.blobs(40, 3, seed=1)
    axes, mean = space.functions_at(new)
    K = k(space, new, space.centers)
    np.testing.assert_allclose(axes, K @ space.axes, atol=1e-8)
    np.testing.assert_allclose(mean, K @ space.shares, atol=1e-8)

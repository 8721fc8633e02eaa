"""Test kernel values at points of a subspace against the full kernel and the reference."""

import numpy as np
import pytest

from rskpca import Gaussian, Laplacian
from rskpca._core import gram, reference
from rskpca._core.subspace import Subspace
from tests import datasets


def subspace_of(X, n_axes):
    return Subspace.principal(X, np.ones(len(X)), n_axes)


def points_in(subspace, count, seed=0):
    coordinates = np.random.default_rng(seed).normal(size=(count, subspace.axes.shape[1]))
    return subspace.points(coordinates)


@pytest.mark.parametrize("kernel", [Gaussian(3.0), Laplacian(3.0)])
@pytest.mark.parametrize("n_axes", [1, 4, 20])
def test_kernel_values_in_a_subspace_equal_the_full_kernel(kernel, n_axes):
    X = datasets.blobs(300, 20)
    subspace = subspace_of(X, n_axes)
    C = points_in(subspace, 30)
    centers = gram.Centers.prepare(C, kernel.scale, np.float64, subspace)
    found = gram.product(kernel, X, centers, lambda values: values.copy(), len(C))
    np.testing.assert_allclose(found, kernel(X, C), atol=1e-12, rtol=0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_in_the_subspace_have_accurate_distances(dtype):
    """Squared norms cancel, and the square root would amplify their rounding errors."""
    X, kernel = datasets.blobs(300, 20) + 5, Laplacian(3.0)
    subspace = subspace_of(X, 4)
    C = points_in(subspace, 30)
    centers = gram.Centers.prepare(C, kernel.scale, dtype, subspace)
    found = gram.product(kernel, C, centers, lambda values: values.copy(), len(C), dtype=dtype)
    tolerance = {np.float64: 1e-12, np.float32: 1e-5}[dtype]
    np.testing.assert_allclose(found, kernel(C, C), atol=tolerance, rtol=0)


def test_a_subspace_serves_points_only_if_they_are_many_and_lie_in_it():
    subspace = subspace_of(datasets.blobs(300, 20), 4)
    assert subspace.serves(points_in(subspace, 30))
    assert not subspace.serves(points_in(subspace, 5))
    assert not subspace.serves(points_in(subspace, 30) + 1e-6)


def test_squared_distances_equal_the_reference():
    X = datasets.blobs(200, 12)
    subspace = subspace_of(X, 5)
    C = points_in(subspace, 10)
    kernel = Gaussian(2.0)
    squared = reference.subspace_squared_distances(
        X, subspace.coordinates(C), subspace.origin, subspace.axes
    )
    centers = gram.Centers.prepare(C, kernel.scale, np.float64, subspace)
    found = gram.scaled_distances(X, centers, kernel, np.empty((len(X), len(C))))
    np.testing.assert_allclose(-found * kernel.scale**2, squared, rtol=1e-12)
    np.testing.assert_allclose(squared, reference.pairwise_squared_distances(X, C), rtol=1e-12)


def test_float32_rows_have_float32_accuracy():
    X = datasets.blobs(200, 12)
    subspace, kernel = subspace_of(X, 5), Gaussian(8.0)
    C = points_in(subspace, 10)
    centers = gram.Centers.prepare(C, kernel.scale, np.float32, subspace)
    rows = X.astype(np.float32)
    found = gram.product(
        kernel, rows, centers, lambda values: values.copy(), len(C), dtype=np.float32
    )
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, kernel(rows, C), atol=2e-5)


def test_moments_in_a_subspace_equal_those_of_the_full_kernel():
    X, kernel = datasets.blobs(500, 12), Gaussian(4.0)
    subspace = subspace_of(X, 5)
    C, weights = points_in(subspace, 10), np.arange(1.0, 501.0)
    centers = gram.Centers.prepare(C, kernel.scale, np.float64, subspace)
    for found, wanted in zip(
        gram.moments(kernel, X, weights, centers),
        reference.moments(kernel, X, weights, C, np.eye(len(C))),
        strict=True,
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-11)


@pytest.mark.parametrize(("n", "d"), [(400, 30), (300, 300), (40, 300), (2000, 600)])
def test_axes_are_the_leading_principal_axes(n, d):
    """Singular values decrease quickly, so that the leading axes are well defined."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * 0.5 ** np.arange(d) @ np.linalg.qr(rng.normal(size=(d, d)))[0]
    axes = subspace_of(X + 7, 8).axes
    exact = np.linalg.svd(X - X.mean(axis=0))[2][:8].T
    np.testing.assert_allclose(axes @ axes.T, exact @ exact.T, atol=1e-6)


def test_weights_act_like_repeated_rows():
    X, counts = datasets.blobs(60, 4), np.arange(60) % 3 + 1
    weighted = Subspace.principal(X, counts.astype(float), 2)
    repeated = subspace_of(np.repeat(X, counts, axis=0), 2)
    np.testing.assert_allclose(weighted.origin, repeated.origin, rtol=1e-12)
    np.testing.assert_allclose(
        weighted.axes @ weighted.axes.T, repeated.axes @ repeated.axes.T, atol=1e-10
    )


def test_directions_without_variance_are_not_axes():
    X = np.zeros((50, 5))
    X[:, 2] = np.arange(50)
    assert subspace_of(X, 5).axes.shape == (5, 1)
    assert subspace_of(np.ones((10, 3)), 2).axes.shape == (3, 0)


def test_invalid_axes_are_rejected():
    with pytest.raises(ValueError, match="axes must be orthonormal"):
        Subspace(np.zeros(2), np.ones((2, 2)))
    with pytest.raises(ValueError, match="one row per feature"):
        Subspace(np.zeros(3), np.eye(2))

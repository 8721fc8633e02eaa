"""Reduced-set construction: stationary points, and coefficients of the projection."""

import numpy as np
import pytest

from rskpca import Laplacian, ReducedSetKernelPCA
from rskpca.baselines import construct_reduced_set
from tests import datasets
from tests.baselines.cases import (
    BANDWIDTHS,
    case,
    centered_or_not,
    each,
    exact_axes,
    kernel,
    projected,
)
from tests.baselines.invariants import CompressionInvariants


class TestInvariants(CompressionInvariants):
    def compress(self, model, n_centers):
        return construct_reduced_set(model, n_centers, n_restarts=2)


def left_of_the_axes(name, center, Z):
    """Points and coefficients of what is left of each axis beside the span of Z."""
    X, V = case(name, center)[0], exact_axes(name, center)
    B = np.linalg.solve(kernel(name, Z, Z), kernel(name, Z, X) @ V)
    return np.concatenate([X, Z]), np.concatenate([V, -B])


def height_and_slope(name, z, points, coefficients):
    """F(z) = sum_k <R_k, psi(z)>^2 and its gradient in units of 1 / bandwidth."""
    k, sigma = kernel(name, z[None], points)[0], BANDWIDTHS[name]
    products = k @ coefficients
    slope = 4 / sigma * (k * (coefficients @ products)) @ (points - z)
    return np.sum(products**2), np.linalg.norm(slope)


@each
@centered_or_not
def test_the_coefficients_are_those_of_the_projection(name, center):
    _, new, model = case(name, center)
    small = construct_reduced_set(model, 12)
    expected = projected(name, center, small.basis_, new)
    np.testing.assert_allclose(small.transform(new), expected, atol=1e-8)


@each
@centered_or_not
def test_each_point_is_stationary_and_above_all_data(name, center):
    X, _, model = case(name, center)
    Z = construct_reduced_set(model, 5).basis_
    for step in (1, 3):
        residual = left_of_the_axes(name, center, Z[:step])
        height, slope = height_and_slope(name, Z[step], *residual)
        heights, slopes = zip(*[height_and_slope(name, x, *residual) for x in X], strict=True)
        assert slope < 1e-7 * max(slopes)
        assert height >= max(heights)


@each
def test_the_error_falls_with_each_point_and_the_first_ones_stay(name):
    model = case(name, center=True)[2]
    models = [construct_reduced_set(model, m) for m in (1, 2, 4, 8, 16)]
    errors = [np.sum(small.axis_errors_**2) for small in models]
    assert np.all(np.diff(errors) < 0)
    np.testing.assert_array_equal(models[2].basis_, models[4].basis_[:4])


def test_a_single_point_is_its_own_pre_image():
    """The only axis is psi(x) itself."""
    X = np.array([[1.0, 2.0], [1.0, 2.0]])
    model = ReducedSetKernelPCA(1, bandwidth=3.0, ell=np.inf, center=False).fit(X)
    small = construct_reduced_set(model, 1)
    np.testing.assert_allclose(small.basis_, X[:1], atol=1e-8)
    assert small.axis_errors_[0] < 1e-7


def test_the_seed_decides_the_starts():
    model = ReducedSetKernelPCA(4, bandwidth=1.0, ell=np.inf).fit(datasets.blobs(150, 4))
    a, b, c = (construct_reduced_set(model, 10, n_restarts=1, random_state=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(a.basis_, b.basis_)
    assert not np.array_equal(a.basis_, c.basis_)


def test_a_kernel_it_cannot_serve():
    model = ReducedSetKernelPCA(2, kernel=Laplacian(2.0)).fit(datasets.blobs(50, 2))
    with pytest.raises(ValueError, match=r"Gaussian.*Laplacian.*select_reduced_set"):
        construct_reduced_set(model, 5)


def test_restarts_that_are_no_number():
    with pytest.raises(ValueError, match="n_restarts"):
        construct_reduced_set(case("digits")[2], 5, n_restarts=0)

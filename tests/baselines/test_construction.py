"""Test reduced-set construction: stationary points and projection coefficients."""

import numpy as np
import pytest

from rskpca import Laplacian, ReducedSetKernelPCA
from rskpca.baselines import construct_reduced_set
from tests import datasets
from tests.baselines.cases import (
    BANDWIDTHS,
    case,
    centered_or_not,
    dense_axes,
    each,
    kernel,
    project_densely,
)
from tests.baselines.invariants import CompressionInvariants


class TestInvariants(CompressionInvariants):
    def compress(self, model, n_centers):
        return construct_reduced_set(model, n_centers, n_restarts=2)


def residual_axes(name, center, Z):
    """Return points and coefficients of the part of each axis outside the span of Z."""
    X, V = case(name, center)[0], dense_axes(name, center)
    B = np.linalg.solve(kernel(name, Z, Z), kernel(name, Z, X) @ V)
    return np.concatenate([X, Z]), np.concatenate([V, -B])


def objective_and_gradient_norm(name, z, points, coefficients):
    """Return F(z) = sum_k <R_k, psi(z)>^2 and its gradient norm, in units of 1 / bandwidth."""
    k, sigma = kernel(name, z[None], points)[0], BANDWIDTHS[name]
    products = k @ coefficients
    slope = 4 / sigma * (k * (coefficients @ products)) @ (points - z)
    return np.sum(products**2), np.linalg.norm(slope)


@each
@centered_or_not
def test_the_coefficients_equal_those_of_the_projection(name, center):
    _, new, model = case(name, center)
    small = construct_reduced_set(model, 12)
    expected = project_densely(name, center, small.basis_, new)
    np.testing.assert_allclose(small.transform(new), expected, atol=1e-8)


@each
@centered_or_not
def test_each_point_is_stationary_and_at_least_as_good_as_any_row(name, center):
    X, _, model = case(name, center)
    Z = construct_reduced_set(model, 5).basis_
    for step in (1, 3):
        residual = residual_axes(name, center, Z[:step])
        height, slope = objective_and_gradient_norm(name, Z[step], *residual)
        heights, slopes = zip(
            *[objective_and_gradient_norm(name, x, *residual) for x in X], strict=True
        )
        assert slope < 1e-7 * max(slopes)
        assert height >= max(heights)


@each
def test_each_point_reduces_the_error_and_leaves_the_earlier_points_unchanged(name):
    model = case(name, center=True)[2]
    models = [construct_reduced_set(model, m) for m in (1, 4, 12)]
    errors = [np.sum(small.axis_errors_**2) for small in models]
    assert np.all(np.diff(errors) < 0)
    np.testing.assert_array_equal(models[1].basis_, models[2].basis_[:4])


def test_a_single_point_is_its_own_pre_image():
    """The only axis is psi(x) itself."""
    X = np.array([[1.0, 2.0], [1.0, 2.0]])
    model = ReducedSetKernelPCA(1, bandwidth=3.0, ell=np.inf, center=False).fit(X)
    small = construct_reduced_set(model, 1)
    np.testing.assert_allclose(small.basis_, X[:1], atol=1e-8)
    assert small.axis_errors_[0] < 1e-7


def test_the_seed_determines_the_starting_points():
    model = ReducedSetKernelPCA(4, bandwidth=1.0, ell=np.inf).fit(datasets.blobs(150, 4))
    a, b, c = (construct_reduced_set(model, 10, n_restarts=1, random_state=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(a.basis_, b.basis_)
    assert not np.array_equal(a.basis_, c.basis_)


def test_an_unsupported_kernel_is_rejected():
    model = ReducedSetKernelPCA(2, kernel=Laplacian(2.0)).fit(datasets.blobs(50, 2))
    with pytest.raises(ValueError, match=r"Gaussian.*Laplacian.*select_reduced_set"):
        construct_reduced_set(model, 5)


def test_n_restarts_must_be_a_positive_integer():
    with pytest.raises(ValueError, match="n_restarts"):
        construct_reduced_set(case("digits")[2], 5, n_restarts=0)

"""Test the formula for the eigenvalue correction and its benefit on real data."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from rskpca import Gaussian, Laplacian, ReducedSet, ReweightedDensity, ShadowDensity
from rskpca.spectral import Centered, Moments, Plain, corrected_eigenvalues, ritz, solve
from tests import datasets, dense

OPERATORS = {False: Plain(), True: Centered()}


def cells(m=40, d=3, seed=0):
    rng = np.random.default_rng(seed)
    weights, scatter = rng.integers(1, 6, m).astype(float), rng.random(m)
    s = ReducedSet(datasets.blobs(m, d, seed), weights, scatter=scatter, displacement=scatter)
    root = rng.normal(size=(d, d))
    return s, root @ root.T


def second_difference(system, s, shape, step=1e-3):
    """Return mu sum_j (mean of f^2 at c_j +- h) - f(c_j)^2, with h along the shape axes."""
    values, vectors = np.linalg.eigh(shape / np.trace(shape))
    squares = [
        value * (system.extend(s.centers + sign * step * axis) ** 2 - system.functions**2)
        for value, axis in zip(values, vectors.T, strict=True)
        for sign in (1, -1)
    ]
    return system.eigenvalues * (s.scatter @ sum(squares)) / (2 * step**2)


@pytest.mark.parametrize("center", [False, True])
def test_the_correction_equals_the_second_difference_of_the_squared_functions(center):
    s, shape = cells()
    system = solve(OPERATORS[center], Gaussian(2.0), s, 5)
    expected = system.eigenvalues + second_difference(system, s, shape)
    np.testing.assert_allclose(corrected_eigenvalues(system, s, shape), expected, rtol=1e-5)


@pytest.mark.parametrize("center", [False, True])
def test_the_correction_matches_the_formula_with_dense_derivatives(center):
    s, shape = cells()
    system = solve(OPERATORS[center], Gaussian(2.0), s, 5)
    k = np.exp(-(cdist(s.centers, s.centers) ** 2) / 4.0)
    to = s.centers[None] - s.centers[:, None]  # c_j - c_i
    A, f = system.coefficients, system.functions
    gradients = np.einsum("ij,ijk,jr->irk", k, to, A) / 2
    hessians = np.einsum("ij,ijk,ijl,jr->irkl", k, to, to, A) / 4
    hessians -= np.einsum("ij,jr->ir", k, A)[:, :, None, None] * np.eye(3) / 2
    S = s.scatter[:, None, None] * shape / np.trace(shape)
    terms = np.einsum("irk,ikl,irl->ir", gradients, S, gradients)
    terms += f * np.einsum("ikl,irkl->ir", S, hessians)
    expected = system.eigenvalues * (1 + terms.sum(axis=0))
    np.testing.assert_allclose(corrected_eigenvalues(system, s, shape), expected, rtol=1e-10)


@pytest.mark.parametrize("center", [False, True])
def test_the_correction_does_not_depend_on_the_basis_of_the_functions(center):
    s, shape = cells()
    direct = solve(OPERATORS[center], Gaussian(2.0), s, 4)
    moments = Moments.of(Gaussian(2.0), s.centers[::-1]).add(s.centers, s.weights)
    np.testing.assert_allclose(
        corrected_eigenvalues(ritz(moments, 4, center=center), s, shape),
        corrected_eigenvalues(direct, s, shape),
        rtol=1e-7,
    )


def test_the_correction_is_zero_without_scatter():
    s, _ = cells()
    system = solve(Plain(), Gaussian(2.0), s, 5)
    np.testing.assert_array_equal(
        corrected_eigenvalues(system, s, np.zeros((3, 3))), system.eigenvalues
    )


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize(
    ("name", "bandwidth"), [("german", 30.0), ("pendigits", 120.0), ("covtype", None)]
)
def test_the_correction_removes_two_thirds_of_the_error_for_means(name, bandwidth, center):
    X = datasets.load(name)[:, :16]
    X = X[np.random.default_rng(0).permutation(len(X))[:600]]
    if name == "covtype":
        X = X[:, :10]
    kernel = Gaussian(bandwidth or "median").resolve(X)
    density = ReweightedDensity(ShadowDensity(kernel), "means").fit(X)
    s = density.reduced_set_
    system = solve(OPERATORS[center], kernel, s, 5)
    exact = dense.KernelPCA(kernel, X, 5, center).eigenvalues
    corrected = corrected_eigenvalues(system, s, density.covariance_)
    before, after = (np.abs(mu / exact - 1).mean() for mu in (system.eigenvalues, corrected))
    assert after < before / 3


def test_other_kernels_and_sets_without_scatter_are_rejected():
    s, shape = cells()
    with pytest.raises(ValueError, match="must have a Gaussian kernel, got Laplacian"):
        corrected_eigenvalues(solve(Plain(), Laplacian(2.0), s, 2), s, shape)
    system = solve(Plain(), Gaussian(2.0), s, 2)
    with pytest.raises(ValueError, match=r"shape \(3, 3\), got \(2, 2\)"):
        corrected_eigenvalues(system, s, shape[:2, :2])
    with pytest.raises(ValueError, match="reduced_set must have a scatter"):
        corrected_eigenvalues(system, ReducedSet(s.centers, s.weights), shape)

"""Test random walks on weighted centers against the n x n matrix of repeated rows."""

import numpy as np
import pytest

from rskpca import Gaussian, Laplacian, RadialKernel, ReducedSet
from rskpca.spectral import Diffusion, NormalizedLaplacian, solve
from rskpca.spectral.basis import projected
from tests import datasets, dense


def weighted_set(m=60, d=2, seed=0):
    return ReducedSet(
        datasets.blobs(m, d, seed), np.random.default_rng(seed).integers(1, 6, m).astype(float)
    )


def repeated(s):
    return np.repeat(np.arange(s.n_centers), s.weights.astype(int))


def assert_equals_walk(system, s, exact):
    np.testing.assert_allclose(system.eigenvalues[0], 1.0, atol=1e-12)
    np.testing.assert_allclose(system.eigenvalues[1:], exact.eigenvalues, atol=1e-12)
    columns = exact.separated()
    assert len(columns) >= 3
    functions = system.functions[repeated(s)][:, 1:]
    dense.assert_equal_up_to_sign(functions[:, columns], exact.functions[:, columns], 1e-10)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(2.0)])
def test_the_walk_on_weighted_centers_equals_the_walk_on_repeated_rows(alpha, kernel):
    s = weighted_set()
    exact = dense.Markov(kernel, s.centers[repeated(s)], 6, alpha)
    system = solve(Diffusion(alpha), kernel, s, 7)
    assert_equals_walk(system, s, exact)
    new, columns = datasets.blobs(40, 2, seed=3), exact.separated()
    dense.assert_equal_up_to_sign(
        system.extend(new)[:, 1 + columns], exact.extend(new)[:, columns], 1e-10
    )


@pytest.mark.parametrize("self_affinity", [False, True])
@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(2.0)])
def test_the_laplacian_of_weighted_centers_equals_that_of_repeated_rows(self_affinity, kernel):
    s = weighted_set()
    exact = dense.Markov(kernel, s.centers[repeated(s)], 6, self_affinity=self_affinity)
    assert_equals_walk(solve(NormalizedLaplacian(self_affinity), kernel, s, 7), s, exact)


def test_the_walk_with_self_affinities_equals_diffusion_with_alpha_zero():
    s, X = weighted_set(), datasets.blobs(20, 2, seed=4)
    one = solve(NormalizedLaplacian(self_affinity=True), Gaussian(2.0), s, 5)
    other = solve(Diffusion(0.0), Gaussian(2.0), s, 5)
    np.testing.assert_allclose(one.extend(X), other.extend(X), atol=1e-12)


@pytest.mark.parametrize("scale", [1e-6, 0.3, 1.0])
def test_scaling_equal_weights_leaves_the_eigenfunctions_unchanged(scale):
    """Without self-affinities, a center with a weight below 1 counts as one point."""
    C = datasets.blobs(60, 2)
    X = datasets.blobs(20, 2, seed=4)
    one = solve(NormalizedLaplacian(), Gaussian(2.0), ReducedSet(C, np.ones(60)), 4)
    other = solve(NormalizedLaplacian(), Gaussian(2.0), ReducedSet(C, np.full(60, scale)), 4)
    np.testing.assert_allclose(other.eigenvalues, one.eigenvalues, atol=1e-12)
    np.testing.assert_allclose(other.extend(X) * scale, one.extend(X), atol=1e-12)


@pytest.mark.parametrize("graph", [None, 1e3])
def test_a_light_center_hardly_affects_the_others(graph):
    """The self-affinity of a center with weight 1 is omitted for any weights of the others."""
    C, X = datasets.blobs(60, 2), datasets.blobs(20, 2, seed=4)
    weights = np.append(np.ones(59), 1e-9)
    one = solve(NormalizedLaplacian(), Gaussian(2.0), ReducedSet(C[:59], np.ones(59)), 4, graph)
    other = solve(NormalizedLaplacian(), Gaussian(2.0), ReducedSet(C, weights), 4, graph)
    np.testing.assert_allclose(other.eigenvalues, one.eigenvalues, atol=1e-7)
    np.testing.assert_allclose(other.functions[:59], one.functions, atol=1e-7)
    np.testing.assert_allclose(other.extend(C), other.functions, atol=1e-10)
    near = np.linalg.norm(X[:, None] - C, axis=2).argmin(axis=1) < 59
    np.testing.assert_allclose(other.extend(X)[near], one.extend(X)[near], atol=1e-7)


def test_extension_through_a_basis_is_exact_at_the_centers_for_any_weights():
    C = datasets.blobs(30, 2)
    s = ReducedSet(C, np.random.default_rng(0).uniform(0.1, 3.0, 30))
    system = solve(NormalizedLaplacian(), Laplacian(2.0), s, 4)
    np.testing.assert_allclose(projected(system, C).extend(C), system.functions, atol=1e-8)


@pytest.mark.parametrize("operator", [Diffusion(0.5), NormalizedLaplacian()])
def test_scaling_the_kernel_leaves_the_eigenvalues_unchanged(operator):
    s, new = weighted_set(), datasets.blobs(20, 2, seed=4)
    tripled = RadialKernel(lambda s: 3 * np.exp(-s), 2.0, 2.0)
    one, other = (solve(operator, kernel, s, 5) for kernel in (Gaussian(2.0), tripled))
    np.testing.assert_allclose(other.eigenvalues, one.eigenvalues, rtol=1e-12)
    factor = one.functions[0, 0] / other.functions[0, 0]
    np.testing.assert_allclose(factor * other.extend(new), one.extend(new), atol=1e-12)


def test_the_degrees_of_nearly_isolated_centers_are_accurate():
    """The affinities of such a center are below the rounding error of its self-affinity."""
    C = np.append(datasets.blobs(40, 2), [[30.0, 30.0]], axis=0)
    exact = dense.Markov(Gaussian(4.0), C, 3, self_affinity=False)
    assert exact.degrees[-1] < 1e-17
    system = solve(NormalizedLaplacian(), Gaussian(4.0), ReducedSet(C, np.ones(41)), 4)
    dense.assert_equal_up_to_sign(system.functions[:, 1:], exact.functions, 1e-9)
    np.testing.assert_allclose(system.extend(C), system.functions, atol=1e-10)


def test_an_isolated_center_has_zero_coordinates():
    C = np.append(datasets.blobs(40, 2), [[1e4, 0.0]], axis=0)
    system = solve(NormalizedLaplacian(), Gaussian(2.0), ReducedSet(C, np.ones(41)), 4)
    assert system.operator.n_isolated == 1
    np.testing.assert_array_equal(system.functions[-1], 0)
    np.testing.assert_allclose(system.extend(C), system.functions, atol=1e-12)


@pytest.mark.parametrize("operator", [Diffusion(1.0), NormalizedLaplacian()])
def test_points_beyond_the_reach_of_all_centers_have_zero_coordinates_without_a_warning(operator):
    system = solve(operator, Gaussian(2.0), weighted_set(), 4)
    far = np.array([[1e6, 0.0]])
    for dtype in (np.float64, np.float32):
        np.testing.assert_array_equal(system.extend(far.astype(dtype)), 0)

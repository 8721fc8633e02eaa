"""Test Algorithm 1 (weight, decompose, reweight, extend) for any order of the centers."""

import sys

import numpy as np
import pytest

from rskpca import Gaussian, Laplacian, ReducedSet
from rskpca._core.gram import gram
from rskpca.kernels import Kernel
from rskpca.spectral import Centered, Diffusion, Multiplied, NormalizedLaplacian, Plain, solve
from rskpca.spectral.eigensystem import decompose, signs
from rskpca.spectral.neighbours import NeighbourGraph
from tests import datasets, dense

solve_module = sys.modules["rskpca.spectral.eigensystem"]


def even(X, Y):
    return np.exp(-np.abs(X[:, :1] - Y[:, 0]))


OPERATORS = [
    Plain(),
    Centered(),
    Multiplied(even),
    Diffusion(0.5),
    NormalizedLaplacian(),
    NormalizedLaplacian(self_affinity=True),
]


def weighted_set(m=60, d=2, seed=0):
    return ReducedSet(
        datasets.blobs(m, d, seed), np.random.default_rng(seed).integers(1, 6, m).astype(float)
    )


def reordered(s, order):
    return ReducedSet(s.centers[order], s.weights[order])


@pytest.mark.parametrize("operator", [Plain(), Centered()])
@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(2.0)])
def test_weighted_centers_are_equivalent_to_repeated_rows(operator, kernel):
    s = weighted_set()
    X = np.repeat(s.centers, s.weights.astype(int), axis=0)
    exact = dense.KernelPCA(kernel, X, 8, center=isinstance(operator, Centered))
    system = solve(operator, kernel, s, 8)
    scale = exact.eigenvalues[0]
    np.testing.assert_allclose(system.eigenvalues, exact.eigenvalues, atol=1e-12 * scale, rtol=0)
    new = datasets.blobs(40, 2, seed=3)
    dense.assert_equal_up_to_sign(
        (system.extend(new) * np.sqrt(system.eigenvalues))[:, exact.separated()],
        exact.transform(new)[:, exact.separated()],
        1e-10,
    )


@pytest.mark.parametrize("operator", OPERATORS)
def test_functions_are_orthonormal_and_the_trace_is_exact(operator):
    s = weighted_set()
    system = solve(operator, Gaussian(1.0), s, 60)
    measure = system.operator.measure(s.weights)
    gram = system.functions.T @ (measure[:, None] * system.functions)
    np.testing.assert_allclose(gram, np.eye(len(system.eigenvalues)), atol=1e-10)
    assert system.trace == pytest.approx(system.eigenvalues.sum(), rel=1e-12)


@pytest.mark.parametrize("operator", OPERATORS)
def test_extension_reproduces_the_functions_at_the_centers(operator):
    system = solve(operator, Gaussian(2.0), weighted_set(), 6)
    np.testing.assert_allclose(system.extend(system.centers), system.functions, atol=1e-12)


def test_a_subset_of_the_eigenpairs_is_an_eigensystem():
    system = solve(Diffusion(), Gaussian(2.0), weighted_set(), 5)
    some = system.select(slice(1, 4))
    X = datasets.blobs(30, 2, seed=2)
    np.testing.assert_array_equal(some.eigenvalues, system.eigenvalues[1:4])
    np.testing.assert_allclose(some.extend(X), system.extend(X)[:, 1:4], atol=1e-14)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("n_components", [1, 5, 12])
def test_the_matrix_free_path_equals_the_dense_path(operator, n_components, monkeypatch):
    s = weighted_set(400, 3)
    stored = solve(operator, Gaussian(2.0), s, n_components)
    monkeypatch.setattr(solve_module, "STORED_CENTERS", 100)
    free = solve(operator, Gaussian(2.0), s, n_components)
    scale = stored.eigenvalues[0]
    np.testing.assert_allclose(free.eigenvalues, stored.eigenvalues, atol=1e-12 * scale, rtol=0)
    assert free.trace == pytest.approx(stored.trace, rel=1e-12)
    root = np.sqrt(stored.eigenvalues)
    X = datasets.blobs(100, 3, seed=2)
    np.testing.assert_allclose(free.functions * root, stored.functions * root, atol=1e-10)
    np.testing.assert_allclose(free.extend(X) * root, stored.extend(X) * root, atol=1e-10)


# ------------------------------------------------------------------------------ signs


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("m", [60, 400])
def test_results_including_signs_do_not_depend_on_the_order_of_the_centers(operator, m):
    s = weighted_set(m)
    expected = solve(operator, Gaussian(3.0), s, 6)
    X = datasets.blobs(50, 2, seed=5)
    scale = np.abs(expected.extend(X)).max()
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(m)
        system = solve(operator, Gaussian(3.0), reordered(s, order), 6)
        np.testing.assert_allclose(system.extend(X), expected.extend(X), atol=1e-8 * scale)


def grid(nx, ny, height=1.3):
    x, y = np.meshgrid(np.arange(nx) - (nx - 1) / 2, height * (np.arange(ny) - (ny - 1) / 2))
    return np.column_stack([x.ravel(), y.ravel()])


@pytest.mark.parametrize(
    "points",
    [np.arange(9.0)[:, None], grid(5, 7), grid(4, 6, 1.7) + 10.0],
    ids=["line", "odd grid", "even grid"],
)
@pytest.mark.parametrize("operator", OPERATORS)
def test_signs_are_determined_for_symmetric_data(points, operator):
    """A function that is odd in two features has zero third moment and covariance with them."""
    s = ReducedSet(points, np.ones(len(points)))
    kernel = Gaussian(4.0)
    expected = solve(operator, kernel, s, 6)
    gaps = -np.diff(solve(operator, kernel, s, 7).eigenvalues) / expected.eigenvalues[0]
    assert gaps.min() > 1e-5
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(len(points))
        system = solve(operator, kernel, reordered(s, order), 6)
        lengths = np.sum(expected.functions**2, axis=0)
        agreement = np.sum(system.functions * expected.functions[order], axis=0) / lengths
        np.testing.assert_allclose(agreement, 1.0, atol=1e-6)


def test_signs_do_not_depend_on_the_scale_of_the_weights():
    s = weighted_set()
    X = datasets.blobs(50, 2, seed=5)
    one = solve(Centered(), Gaussian(3.0), s, 5).extend(X)
    many = solve(Centered(), Gaussian(3.0), ReducedSet(s.centers, 1e6 * s.weights), 5).extend(X)
    np.testing.assert_allclose(1e3 * many, one, atol=1e-9)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
def test_ties_are_broken_by_the_last_center_in_lexicographic_order(order):
    centers = np.array([[0.0, 2.0], [1.0, 1.0], [2.0, 0.0]])
    functions = np.array([[1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
    np.testing.assert_array_equal(signs(functions[order], centers[order]), [-1, 1])


def test_float32_points_give_float32_functions():
    system = solve(Centered(), Gaussian(3.0), weighted_set(), 5)
    X = datasets.blobs(50, 2, seed=5, dtype=np.float32)
    single = system.extend(X)
    assert single.dtype == np.float32
    double = system.extend(X.astype(np.float64))
    np.testing.assert_allclose(single, double, atol=1e-5 * np.abs(double).max(), rtol=0)


@pytest.mark.parametrize(
    ("bandwidth", "width", "dtype"), [(0.01, 20.0, np.float64), (100.0, 20_000.0, np.float32)]
)
def test_float32_is_used_if_the_centers_span_at_most_1000_bandwidths(bandwidth, width, dtype):
    s = ReducedSet(np.linspace(0, width, 30)[:, None], np.ones(30))
    system = solve(Plain(), Gaussian(bandwidth), s, 3)
    assert system.arithmetic(np.float32) == dtype
    assert system.extend(s.centers.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("m", [50, 512])
def test_points_that_the_kernel_cannot_distinguish_have_no_components(m):
    """The centered Gram matrix is zero up to rounding error, which is not a component."""
    s = ReducedSet(datasets.blobs(m, 2), np.ones(m))
    assert len(solve(Centered(), Gaussian(1e12), s, 3).eigenvalues) == 0
    assert len(solve(Plain(), Gaussian(1e12), s, 3).eigenvalues) == 1


def test_a_negligible_weight_in_a_random_walk_is_reported():
    points = ReducedSet(np.array([[0.0], [1.0], [9.0]]), np.array([200.0, 100.0, 5e-324]))
    with pytest.raises(ValueError, match=r"The smallest weight, 4\.94066e-324, vanishes"):
        solve(Diffusion(), Gaussian(1.0), points, 2)


@pytest.mark.parametrize("graph", [None, 5])
def test_sums_over_the_centers_are_products_with_the_kernel_matrix(graph):
    centers = datasets.blobs(40, 2)
    system = decompose(Plain(), Gaussian(2.0), ReducedSet(centers, np.ones(40)), 2, graph)
    columns = np.random.default_rng(0).normal(size=(40, 40))
    matrix = gram(Gaussian(2.0), centers, centers)
    if graph is not None:
        matrix = NeighbourGraph.of(Gaussian(2.0), centers, graph).rows(centers).toarray()
    np.testing.assert_allclose(system.sums(columns), matrix @ columns, atol=1e-12)


@pytest.mark.parametrize("negative", [0.5, 1e-4])
def test_a_kernel_with_a_negative_eigenvalue_is_rejected(negative):
    centers = np.column_stack([np.full(30, 2.0), np.linspace(-1, 1, 30)])
    wrong = Kernel(lambda X, Y: X * [1.0, -negative] @ Y.T)
    with pytest.raises(ValueError, match="not positive definite: its matrix for 30 of the centers"):
        solve(Plain(), wrong, ReducedSet(centers, np.ones(30)), 2)

"""Test Rayleigh-Ritz against Algorithm 1 on all centers and against dense Nystrom on few."""

import sys

import numpy as np
import pytest

from rskpca import Gaussian, Laplacian, NystromKernelPCA, RadialKernel, ReducedSet
from rskpca._core import gram, reference
from rskpca.kernels import Kernel
from rskpca.spectral import Centered, Moments, Plain, ritz, solve
from tests import datasets, dense


def weighted_set(m=60, d=2, seed=0):
    return ReducedSet(
        datasets.blobs(m, d, seed), np.random.default_rng(seed).integers(1, 6, m).astype(float)
    )


def coordinates(system, X):
    return system.extend(X) * np.sqrt(system.eigenvalues)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(2.0)])
def test_using_all_centers_as_the_basis_equals_algorithm_1(kernel, center):
    s = weighted_set()
    expected = solve(Centered() if center else Plain(), kernel, s, 6)
    system = ritz(Moments.of(kernel, s.centers).add(s.centers, s.weights), 6, center=center)
    np.testing.assert_allclose(system.eigenvalues, expected.eigenvalues, rtol=1e-9)
    new = datasets.blobs(40, 2, seed=3)
    np.testing.assert_allclose(coordinates(system, new), coordinates(expected, new), atol=1e-9)
    assert system.trace == pytest.approx(expected.trace, rel=1e-9)
    assert system.residual < 1e-8 * system.trace


@pytest.mark.parametrize("center", [False, True])
def test_results_on_few_points_equal_dense_pca_of_the_projections(center):
    X, Z, kernel = datasets.blobs(300, 2), datasets.blobs(15, 2, seed=5), Gaussian(3.0)
    values, vectors = np.linalg.eigh(np.exp(dense.log_kernel(kernel, Z, Z)))
    whiten = vectors / np.sqrt(values) @ vectors.T
    B = np.exp(dense.log_kernel(kernel, X, Z)) @ whiten
    shift = B.mean(axis=0) if center else 0
    _, singular, axes = np.linalg.svd(B - shift, full_matrices=False)
    system = ritz(Moments.of(kernel, Z).add(X), 4, center=center)
    np.testing.assert_allclose(system.eigenvalues, singular[:4] ** 2, rtol=1e-9)
    new = datasets.blobs(50, 2, seed=9)
    expected = (np.exp(dense.log_kernel(kernel, new, Z)) @ whiten - shift) @ axes[:4].T
    dense.assert_equal_up_to_sign(coordinates(system, new), expected, 1e-9)
    np.testing.assert_allclose(system.extend(Z), system.functions, atol=1e-9)
    assert system.residual == pytest.approx(len(X) - np.sum(B**2), rel=1e-9)


def test_moments_do_not_depend_on_chunks_and_treat_integer_weights_as_repeats():
    s, kernel = weighted_set(), Gaussian(2.0)
    Z = s.centers[::4]
    whole = Moments.of(kernel, Z).add(np.repeat(s.centers, s.weights.astype(int), axis=0))
    parts = Moments.of(kernel, Z).add(s.centers[:20], s.weights[:20])
    parts = parts.add(s.centers[20:], s.weights[20:])
    for name in ("total", "first", "second"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-10)


def test_repeated_basis_points_are_dropped():
    X, kernel = datasets.blobs(200, 3), Gaussian(4.0)
    once = ritz(Moments.of(kernel, X[:20]).add(X), 5, center=True)
    twice = ritz(Moments.of(kernel, np.repeat(X[:20], 3, axis=0)).add(X), 5, center=True)
    np.testing.assert_array_equal(twice.centers, X[:20])
    np.testing.assert_allclose(twice.extend(X), once.extend(X), atol=1e-10)


def test_eigenvalues_are_below_the_exact_eigenvalues_by_at_most_the_residual():
    X, kernel = datasets.blobs(300, 3), Gaussian(3.0)
    exact = dense.KernelPCA(kernel, X, 8, center=False).eigenvalues
    for m in (10, 40, 160):
        system = ritz(Moments.of(kernel, X[:m]).add(X), 8, center=False)
        below = exact - system.eigenvalues
        assert np.all(below >= -1e-9)
        assert np.all(below <= system.residual + 1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_equal_the_reference_for_any_number_of_threads(weighted):
    rng = np.random.default_rng(0)
    X, C = rng.normal(size=(5000, 3)), rng.normal(size=(40, 3))
    columns = np.triu(rng.normal(size=(40, 40)))
    weights = rng.random(5000) if weighted else None
    ones = np.ones(5000) if weights is None else weights
    expected = reference.moments(Gaussian(1.5), X, ones, C, columns)
    one, two = (gram.moments(Gaussian(1.5), X, weights, C, columns, n_threads=n) for n in (1, 2))
    for a, b, c in zip(one, two, expected, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, c, rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Gaussian(3.0), Laplacian(1.0)])
@pytest.mark.parametrize("weighted", [False, True])
def test_whitening_after_summation_preserves_accuracy(kernel, weighted, monkeypatch):
    module = sys.modules[Moments.__module__]
    X, Z = datasets.blobs(3000, 2), datasets.blobs(60, 2, seed=5)
    weights = np.random.default_rng(0).random(3000) if weighted else None
    systems, sums = [], []
    for allowed in (0.0, module._ROUNDING):
        monkeypatch.setattr(module, "_ROUNDING", allowed)
        sums.append(Moments.of(kernel, Z).add(X, weights))
        systems.append(ritz(sums[-1], 5, center=True))
    lost = np.finfo(float).eps * np.sum(sums[0].columns ** 2)
    np.testing.assert_allclose(sums[1].second, sums[0].second, rtol=0, atol=lost * sums[0].total)
    first, second = (coordinates(system, X[:200]) for system in systems)
    np.testing.assert_allclose(second, first, atol=1e-10)


@pytest.mark.parametrize(("bandwidth", "whitened"), [(0.5, False), (50.0, True)])
def test_a_nearly_dependent_basis_is_whitened_row_by_row(bandwidth, whitened, monkeypatch):
    X, original = datasets.blobs(3000, 2), gram.moments
    given = []

    def spied(kernel, X, weights, C, columns=None):
        given.append(columns)
        return original(kernel, X, weights, C, columns)

    monkeypatch.setattr(gram, "moments", spied)
    Moments.of(Gaussian(bandwidth), X[:12]).add(X)
    assert [columns is not None for columns in given] == [whitened]


def test_a_kernel_that_is_not_positive_definite_is_rejected():
    X = np.random.default_rng(0).normal(size=(300, 2))
    wrong = RadialKernel(lambda s: np.maximum(1 - s / 9, 0), 2, 1.0)
    with pytest.raises(ValueError, match="The kernel is not positive definite: projecting"):
        ritz(Moments.of(wrong, X[:20]).add(X), 2, center=False)
    with pytest.raises(ValueError, match="requires a positive definite kernel"):
        NystromKernelPCA(2, kernel=wrong, landmarks="leverage", n_centers=60).fit(X)


def test_a_kernel_with_nan_values_is_rejected():
    X = datasets.blobs(60, 2)
    wrong = RadialKernel(lambda s: np.where(s > 1, np.nan, 1.0), 2, 1.0)
    with pytest.raises(ValueError, match="kernel values must be finite"):
        ritz(Moments.of(wrong, X[:20]).add(X), 2, center=False)


def test_moments_from_blocks_can_be_merged():
    X, Z = datasets.blobs(500, 2), datasets.blobs(20, 2, seed=5)
    start = Moments.of(Gaussian(3.0), Z)
    parts = [start.add(X[:200]), start.add(X[200:])]
    merged, whole = parts[0].merge(parts[1]), start.add(X)
    assert merged.total == whole.total
    np.testing.assert_allclose(merged.first, whole.first, rtol=1e-12)
    np.testing.assert_allclose(merged.second, whole.second, rtol=1e-9, atol=1e-9)
    with pytest.raises(ValueError, match=r"Moments with different bases cannot be merged"):
        start.merge(Moments.of(Gaussian(3.0), Z[:10]))


def test_removed_rows_leave_the_moments_of_the_others():
    X, Z = datasets.blobs(500, 2), datasets.blobs(20, 2, seed=5)
    weights = np.arange(500) % 3 + 1.0
    start = Moments.of(Gaussian(3.0), Z)
    left = start.add(X, weights).remove(X[200:], weights[200:])
    expected = start.add(X[:200], weights[:200])
    assert left.total == expected.total
    assert left.diagonal_sum == pytest.approx(expected.diagonal_sum)
    np.testing.assert_allclose(left.first, expected.first, rtol=1e-9)
    np.testing.assert_allclose(left.second, expected.second, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("weight", "message"), [(1.0, "no rows would be left"), (1.1, "only 50")])
def test_only_rows_that_are_there_can_be_removed(weight, message):
    X = datasets.blobs(50, 2)
    moments = Moments.of(Gaussian(3.0), X[:10]).add(X)
    with pytest.raises(ValueError, match=message):
        moments.remove(X, np.full(50, weight))


def test_weight_is_removed_only_up_to_rounding_for_any_total():
    X = datasets.blobs(50, 2)
    moments = Moments.of(Gaussian(3.0), X[:10]).add(X, np.full(50, 2e4))
    with pytest.raises(ValueError, match="no rows would be left"):
        moments.remove(X, np.full(50, 2e4 * (1 + 1e-10)))


def test_a_basis_of_one_point_has_one_component():
    X, kernel = datasets.blobs(80, 2), Gaussian(3.0)
    system = ritz(Moments.of(kernel, X[:1]).add(X), 3, center=False)
    np.testing.assert_allclose(system.eigenvalues, [np.sum(kernel(X, X[:1]) ** 2)], rtol=1e-12)


def test_redundant_basis_points_of_a_linear_kernel_are_dropped():
    X, linear = datasets.blobs(80, 2), Kernel(lambda X, Y: X @ Y.T)
    moments = Moments.of(linear, X[:5]).add(X)
    assert len(moments.basis) == 2
    system = ritz(moments, 2, center=False)
    np.testing.assert_allclose(system.eigenvalues, np.linalg.eigvalsh(X.T @ X)[::-1], rtol=1e-10)


def test_an_indefinite_kernel_is_recognized_at_redundant_basis_points():
    wrong = Kernel(lambda X, Y: X * [1.0, -0.5] @ Y.T)
    with pytest.raises(ValueError, match=r"squared distance in feature space is -0\.286"):
        Moments.of(wrong, np.array([[1.0, 0.0], [1.5, 1.0]]))


@pytest.mark.parametrize("convert", [np.float32, lambda values: np.array(values, order="F")])
def test_projections_accept_any_array_that_a_profile_returns(convert):
    X = datasets.blobs(60, 2)
    kernel = RadialKernel(lambda u: convert(np.exp(-u)), power=2, bandwidth=2.0)
    found, expected = (Moments.of(k, X[::6]).project(X) for k in (kernel, Gaussian(2.0)))
    np.testing.assert_allclose(found, expected, atol=1e-5)

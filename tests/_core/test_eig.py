"""Test that Lanczos agrees with LAPACK, even for repeated eigenvalues and low rank."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from rskpca import Gaussian
from rskpca._core import eig, reference
from tests import datasets


def as_operator(matrix):
    return LinearOperator(
        matrix.shape, matvec=lambda v: matrix @ v, matmat=lambda V: matrix @ V, dtype=np.float64
    )


def polygon(n):
    angles = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angles), np.sin(angles)])


def assert_eigenpairs(matrix, values, vectors, n_components):
    expected, _ = reference.leading_eigenpairs(matrix, n_components)
    scale = expected[0]
    assert len(values) == n_components
    assert np.all(np.diff(values) <= 0)
    np.testing.assert_allclose(values, expected, atol=1e-12 * scale, rtol=0)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-11 * scale, rtol=0)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n_components), atol=1e-10, rtol=0)


@pytest.mark.parametrize("n_components", [1, 5, 15, 20, 100, 400])
def test_the_leading_eigenpairs_of_a_gram_matrix_match_the_reference(n_components):
    matrix = Gaussian(1.0)(datasets.blobs(400, 3))
    values, vectors = eig.leading_eigenpairs(matrix.copy(), n_components)
    assert_eigenpairs(matrix, values, vectors, n_components)


@pytest.mark.parametrize("n_components", [1, 2, 6, 7, 20])
@pytest.mark.parametrize("form", [np.copy, as_operator])
def test_double_eigenvalues_of_a_regular_polygon_are_both_found(form, n_components):
    """Every eigenvalue of this circulant matrix except the first is double."""
    matrix = Gaussian(0.5)(polygon(600))
    values, vectors = eig.leading_eigenpairs(form(matrix), n_components)
    assert_eigenpairs(matrix, values, vectors, n_components)


@pytest.mark.parametrize("form", [np.copy, as_operator])
def test_all_eigenvectors_of_a_highly_repeated_eigenvalue_are_found(form):
    """Eight identical groups of points that are far apart have eight equal eigenvalues."""
    matrix = np.kron(np.eye(8), np.ones((50, 50)))
    values, vectors = eig.leading_eigenpairs(form(matrix), 8)
    assert_eigenpairs(matrix, values, vectors, 8)


@pytest.mark.parametrize("size", [40, 400])
@pytest.mark.parametrize("form", [np.copy, as_operator])
def test_no_components_beyond_the_rank_are_returned(size, form):
    """Eigenvalues within rounding error of zero are dropped."""
    factor = np.random.default_rng(0).normal(size=(size, 3))
    matrix = factor @ factor.T
    values, vectors = eig.leading_eigenpairs(form(matrix), 10)
    assert_eigenpairs(matrix, values, vectors, 3)


@pytest.mark.parametrize("scale", [1e-200, 1e-12, 1.0, 1e200])
def test_small_eigenvalues_are_dropped_relative_to_the_largest(scale):
    matrix = scale * Gaussian(1.0)(datasets.blobs(60, 2))
    values, _ = eig.leading_eigenpairs(matrix.copy(), 5)
    expected, _ = reference.leading_eigenpairs(matrix, 5)
    np.testing.assert_allclose(values, expected, rtol=1e-10)


@pytest.mark.parametrize("size", [5, 400])
def test_a_zero_matrix_has_no_components(size):
    values, vectors = eig.leading_eigenpairs(np.zeros((size, size)), 2)
    assert values.shape == (0,)
    assert vectors.shape == (size, 0)


@pytest.mark.parametrize("size", [50, 400])
def test_lanczos_results_match_lapack(size, monkeypatch):
    matrix = Gaussian(2.0)(datasets.blobs(size, 3))
    monkeypatch.setattr(eig, "LANCZOS_FROM_SIZE", 1)
    values, vectors = eig.leading_eigenpairs(as_operator(matrix), 5)
    monkeypatch.setattr(eig, "LANCZOS_FROM_SIZE", 10**9)
    expected, others = eig.leading_eigenpairs(matrix.copy(), 5)
    np.testing.assert_allclose(values, expected, atol=1e-12 * expected[0], rtol=0)
    np.testing.assert_allclose(np.abs(np.sum(vectors * others, axis=0)), 1.0, atol=1e-10)


@pytest.mark.parametrize("decay", [0.9, 0.97, 0.99])
def test_an_operator_with_slowly_decaying_eigenvalues_converges(decay, monkeypatch):
    """The solver restarts its basis several times and does not fall back to LAPACK."""
    monkeypatch.setattr(eig, "_direct", None)
    axes, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(800, 800)))
    matrix = (axes * decay ** np.arange(800)) @ axes.T
    values, vectors = eig.leading_eigenpairs(as_operator(matrix), 4)
    assert_eigenpairs(matrix, values, vectors, 4)


def test_lanczos_applies_the_operator_only_a_few_times():
    matrix = Gaussian(1.0)(datasets.blobs(800, 3))
    calls = []

    def multiply(V):
        calls.append(1)
        return matrix @ V

    product = LinearOperator(matrix.shape, matvec=multiply, matmat=multiply, dtype=np.float64)
    eig.leading_eigenpairs(product, 5)
    assert len(calls) <= 15


@pytest.mark.parametrize("pieces", [1, 3])
def test_eigenvalues_that_cluster_at_the_largest_are_found_without_lapack(pieces, monkeypatch):
    """The walk on a long chain has eigenvalues close to 1, which plain Lanczos does not resolve."""
    monkeypatch.setattr(eig, "_direct", None)
    chain = np.arange(400)[:, None]
    gram = np.kron(np.eye(pieces), Gaussian(1.5)(chain))
    root = np.sqrt(gram.sum(axis=0))
    matrix = gram / root / root[:, None]
    assert eig._lanczos(matrix, 4)[0] is None
    values, vectors = eig.leading_eigenpairs(matrix.copy(), 4)
    assert_eigenpairs(matrix, values, vectors, 4)


@pytest.mark.parametrize("copies", [2, 3, 6])
@pytest.mark.parametrize("decay", [1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_no_copy_of_a_repeated_eigenvalue_is_missed(kind, copies, decay):
    """Plain Lanczos converges without finding some of the copies."""
    spectrum = np.r_[np.ones(copies), np.exp(-decay * np.arange(1, 600 - copies + 1) ** 2)]
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((600, 600)))[0]
    matrix = basis * spectrum @ basis.T
    matrix = (matrix + matrix.T) / 2
    values, vectors = eig.leading_eigenpairs(kind(matrix), 20)
    assert_eigenpairs(matrix, values, vectors, 20)


def test_lapack_takes_over_if_lanczos_does_not_converge(monkeypatch):
    for solver in ("_lanczos", "_block_lanczos"):
        monkeypatch.setattr(eig, solver, lambda *_: (None, None))
    matrix = Gaussian(2.0)(datasets.blobs(400, 3))
    for form in (np.copy, as_operator):
        values, vectors = eig.leading_eigenpairs(form(matrix), 4)
        assert_eigenpairs(matrix, values, vectors, 4)


@pytest.mark.parametrize("n_components", [4, 30, 100, 300])
def test_lapack_can_be_interrupted_if_the_matrix_is_large(n_components, monkeypatch):
    """SciPy's solver would hold the GIL, so that Ctrl-C has to wait."""
    calls = []
    monkeypatch.setattr(eig, "interruptible", lambda f, A: calls.append(f) or f(A))
    monkeypatch.setattr(eig, "_lanczos", lambda *_: (None, None))
    monkeypatch.setattr(eig, "_cholesky_lanczos", lambda *_: (None, None))
    monkeypatch.setattr(eig, "SUBSET_UP_TO_SIZE", 399)
    matrix = Gaussian(1.0)(datasets.blobs(400, 3))
    values, vectors = eig.leading_eigenpairs(matrix.copy(), n_components)
    assert calls == [np.linalg.eigh]
    assert_eigenpairs(matrix, values, vectors, n_components)


def test_results_are_reproducible_bit_for_bit():
    matrix = Gaussian(2.0)(datasets.blobs(500, 3))
    first, second = (eig.leading_eigenpairs(matrix.copy(), 4) for _ in range(2))
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])


def test_all_components_of_an_operator_are_found():
    matrix = Gaussian(0.3)(datasets.blobs(30, 3))
    values, vectors = eig.leading_eigenpairs(as_operator(matrix), 30)
    assert_eigenpairs(matrix, values, vectors, 30)


def chain(size):
    """Return a random walk on a line, whose eigenvalues cos(pi l / size) cluster just below 1."""
    ones = np.ones(size - 1)
    matrix = sparse.diags_array([ones, ones], offsets=[-1, 1]).tolil()
    matrix[0, 0] = matrix[-1, -1] = 1
    return (matrix / 2).tocsr()


@pytest.mark.parametrize("size", [100, 6000])
def test_eigenpairs_of_a_sparse_matrix_are_found_where_lanczos_is_slow(size):
    matrix = chain(size)
    values, vectors = eig.leading_eigenpairs(matrix, 4)
    np.testing.assert_allclose(values, np.cos(np.pi * np.arange(4) / size), atol=1e-12)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-10)


def test_eigenpairs_of_a_sparse_matrix_are_found_where_lanczos_is_fast():
    matrix = Gaussian(2.0)(datasets.blobs(400, 3))
    matrix /= matrix.sum(axis=1).max()
    values, vectors = eig.leading_eigenpairs(sparse.csr_array(matrix), 4)
    assert_eigenpairs(matrix, values, vectors, 4)


@pytest.mark.parametrize("size", range(10, 120, 3))
def test_many_equal_eigenvalues_are_found(size):
    matrix = np.eye(size) - np.ones((size, size)) / size
    values, vectors = eig.leading_eigenpairs(matrix.copy(), 2)
    np.testing.assert_allclose(values, [1.0, 1.0], rtol=1e-12)
    np.testing.assert_allclose(matrix @ vectors, vectors, atol=1e-12)


@pytest.mark.parametrize("size", [40, 400])
def test_negative_eigenvalues_of_an_indefinite_matrix_are_kept(size):
    """Eigenvalues are sorted, and those within rounding error of zero are dropped."""
    axes, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(size, size)))
    values = -np.arange(1.0, size + 1)
    values[:4] = 3.0, 1e-17, -1e-17, -0.5
    matrix = (axes * values) @ axes.T
    matrix = (matrix + matrix.T) / 2 / size
    found, vectors = eig.leading_eigenpairs(matrix.copy(), 6, 1e-13, indefinite=True)
    np.testing.assert_allclose(size * found, [3.0, -0.5, -5.0, -6.0], atol=1e-10)
    np.testing.assert_allclose(matrix @ vectors, vectors * found, atol=1e-12)
    positive, _ = eig.leading_eigenpairs(matrix.copy(), 6, 1e-13)
    np.testing.assert_allclose(size * positive, [3.0], atol=1e-10)

"""Test the operators against the n x n matrix of repeated rows."""

import numpy as np
import pytest

from rskpca import Gaussian, ReducedSet
from rskpca.spectral import Centered, Diffusion, Multiplied, Plain, solve
from tests import datasets, dense

C = datasets.blobs(25, 2)
W = np.random.default_rng(0).integers(1, 5, size=25)
K = Gaussian(2.0)(C)
REPEATED = np.repeat(np.arange(25), W)
NEW = datasets.blobs(7, 2, seed=1)


def even(X, Y):
    """Return a positive definite g, whose product with the kernel is also positive definite."""
    return 1 + X @ Y.T


def test_the_plain_operator_leaves_the_kernel_unchanged():
    np.testing.assert_array_equal(Plain().fit(K, W).apply(K.copy(), C, C), K)


def test_centering_with_weights_equals_centering_repeated_rows():
    n = W.sum()
    H = np.eye(n) - 1 / n
    expected = H @ K[np.ix_(REPEATED, REPEATED)] @ H
    centered = Centered().fit(K, W.astype(float)).apply(K.copy(), C, C)
    np.testing.assert_allclose(centered[np.ix_(REPEATED, REPEATED)], expected, atol=1e-13)


def test_new_points_are_centered_at_the_mean_of_the_data():
    block = Gaussian(2.0)(NEW, C)
    big, n = K[np.ix_(REPEATED, REPEATED)], W.sum()
    rows = block[:, REPEATED]
    expected = rows - rows.mean(axis=1)[:, None] - big.mean(axis=0) + big.sum() / n**2
    centered = Centered().fit(K, W.astype(float)).apply(block.copy(), NEW, C)
    np.testing.assert_allclose(centered[:, REPEATED], expected, atol=1e-13)


@pytest.mark.parametrize("operator", [Plain(), Centered(), Multiplied(even), Diffusion(0.5)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_extension_equals_the_applied_operator_times_the_coefficients(operator, dtype):
    fitted = operator.fit(K, W.astype(float))
    block = Gaussian(2.0)(NEW, C).astype(dtype)
    A = np.random.default_rng(0).normal(size=(25, 3))
    expected = fitted.apply(block.astype(np.float64), NEW, C) @ A
    product = fitted.extension(A, np.ones(3), dtype)(block.copy(), NEW, C)
    assert product.dtype == dtype
    np.testing.assert_allclose(product, expected, atol=100 * np.finfo(dtype).eps)


def test_a_custom_g_leads_to_the_eigenproblem_of_g_times_k():
    s = ReducedSet(C, W.astype(float))
    system = solve(Multiplied(even), Gaussian(2.0), s, 5)
    rows = C[REPEATED]
    values, vectors = np.linalg.eigh(even(rows, rows) * Gaussian(2.0)(rows))
    np.testing.assert_allclose(system.eigenvalues, values[::-1][:5], rtol=1e-12)
    functions = vectors[:, ::-1][:, :5]
    extended = (even(NEW, rows) * Gaussian(2.0)(NEW, rows)) @ functions / values[::-1][:5]
    dense.assert_equal_up_to_sign(system.functions[REPEATED], functions, 1e-9)
    dense.assert_equal_up_to_sign(system.extend(NEW), extended, 1e-9)


@pytest.mark.parametrize(
    ("g", "message"),
    [
        (lambda X, Y: np.ones(len(X)), r"g must return an array of shape .* = \(25, 25\)"),
        (lambda X, Y: np.full((len(X), len(Y)), np.nan), "must be finite"),
    ],
)
def test_an_invalid_result_from_a_custom_g_is_reported(g, message):
    with pytest.raises(ValueError, match=message):
        solve(Multiplied(g), Gaussian(2.0), ReducedSet(C, W.astype(float)), 2)

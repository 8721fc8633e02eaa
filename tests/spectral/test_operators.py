"""Operators: what is done to the kernel, against the n x n matrix of repeated rows."""

import numpy as np
import pytest

from rskpca import Gaussian
from rskpca.spectral import Centered, Diffusion, Multiplied, Plain
from tests import datasets

C = datasets.blobs(25, 2)
W = np.random.default_rng(0).integers(1, 5, size=25)
K = Gaussian(2.0)(C)
REPEATED = np.repeat(np.arange(25), W)
NEW = datasets.blobs(7, 2, seed=1)


def even(X, Y):
    """A g of one's own: positive definite, and so its product with the kernel."""
    return 1 + X @ Y.T


def test_plain_is_the_kernel_itself():
    np.testing.assert_array_equal(Plain().fit(K, W).apply(K.copy(), C, C), K)


def test_centering_with_weights_is_centering_of_the_repeated_rows():
    n = W.sum()
    H = np.eye(n) - 1 / n
    expected = H @ K[np.ix_(REPEATED, REPEATED)] @ H
    centered = Centered().fit(K, W.astype(float)).apply(K.copy(), C, C)
    np.testing.assert_allclose(centered[np.ix_(REPEATED, REPEATED)], expected, atol=1e-13)


def test_new_points_are_centered_about_the_mean_of_the_data():
    block = Gaussian(2.0)(NEW, C)
    big, n = K[np.ix_(REPEATED, REPEATED)], W.sum()
    rows = block[:, REPEATED]
    expected = rows - rows.mean(axis=1)[:, None] - big.mean(axis=0) + big.sum() / n**2
    centered = Centered().fit(K, W.astype(float)).apply(block.copy(), NEW, C)
    np.testing.assert_allclose(centered[:, REPEATED], expected, atol=1e-13)


@pytest.mark.parametrize("operator", [Plain(), Centered(), Multiplied(even), Diffusion(0.5)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_extension_is_apply_times_coefficients(operator, dtype):
    fitted = operator.fit(K, W.astype(float))
    block = Gaussian(2.0)(NEW, C).astype(dtype)
    A = np.random.default_rng(0).normal(size=(25, 3))
    expected = fitted.apply(block.astype(np.float64), NEW, C) @ A
    product = fitted.extension(A, np.ones(3), dtype)(block.copy(), NEW, C)
    assert product.dtype == dtype
    np.testing.assert_allclose(product, expected, atol=100 * np.finfo(dtype).eps)

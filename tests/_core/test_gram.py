"""Test that kernel matrices equal the reference, even far from the origin or near zero distance."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from rskpca import Gaussian, Laplacian, RadialKernel
from rskpca._core import gram, reference
from rskpca.value_kernels import NamedKernel
from tests import datasets

KERNELS = {
    "gaussian": Gaussian,
    "laplacian": Laplacian,
    "cauchy": partial(RadialKernel, lambda s: 1 / (1 + s), 2.0),
    "three halves": partial(RadialKernel, lambda s: np.exp(-s), 1.5),
    "quartic": partial(RadialKernel, lambda s: np.exp(-s), 4.0),
}


def expected(kernel, X, C):
    squared = reference.pairwise_squared_distances(X, C)
    return kernel.profile((squared / kernel.bandwidth**2) ** (kernel.power / 2))


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("bandwidth", [1e-3, 0.5, 30.0])
def test_the_gram_matrix_equals_the_reference(name, bandwidth):
    kernel = KERNELS[name](bandwidth)
    X, C = datasets.blobs(300, 5), datasets.blobs(70, 5, seed=1)
    C[:20] = X[:20]
    np.testing.assert_allclose(gram.gram(kernel, X, C), expected(kernel, X, C), atol=1e-13, rtol=0)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("shift", [1e4, 1e8])
def test_accuracy_is_kept_if_the_data_are_shifted(name, shift):
    kernel = KERNELS[name](1.5)
    X = datasets.blobs(400, 4) + shift
    np.testing.assert_allclose(gram.gram(kernel, X, X), expected(kernel, X, X), atol=1e-13, rtol=0)


@pytest.mark.parametrize("name", KERNELS)
def test_accuracy_is_kept_for_distant_clusters(name):
    """The clusters are 1e8 bandwidths apart, so no single origin is close to all of them."""
    kernel = KERNELS[name](1.0)
    X = np.concatenate([datasets.blobs(60, 2) + shift for shift in (0.0, 1e8, -3e8)])
    np.testing.assert_allclose(gram.gram(kernel, X, X), expected(kernel, X, X), atol=1e-13, rtol=0)


@pytest.mark.parametrize("size", [1e-12, 1e-9, 1e-4])
def test_the_cusp_of_the_laplacian_is_resolved(size):
    """Only the rounding error of the data remains, far below the sqrt(eps) / size of products."""
    X = datasets.blobs(50, 3)
    C = X + size * np.random.default_rng(0).normal(size=X.shape)
    kernel = Laplacian(10 * size)
    rounding = 4 * np.finfo(float).eps * np.abs(X).max() / kernel.bandwidth
    np.testing.assert_allclose(
        gram.gram(kernel, X, C), expected(kernel, X, C), atol=rounding, rtol=0
    )


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(2.0)])
def test_the_diagonal_is_one(kernel):
    X = datasets.blobs(200, 30) * 50 + 1e3
    np.testing.assert_allclose(np.diagonal(gram.gram(kernel, X, X)), 1.0, atol=1e-14, rtol=0)


@pytest.mark.parametrize("kernel", [Gaussian(3.0), Laplacian(3.0)])
def test_float32_input_is_processed_in_float32_precision(kernel):
    X = datasets.blobs(200, 6) + 1000
    X32 = X.astype(np.float32)
    block = gram.product(kernel, X32, X32, lambda block: block, len(X), dtype=np.float32)
    assert block.dtype == np.float32
    np.testing.assert_allclose(block, expected(kernel, X32, X32), atol=5e-6, rtol=0)


@pytest.mark.parametrize("bandwidth", [1e-100, 1e100])
@pytest.mark.parametrize("family", [Gaussian, Laplacian])
def test_scaling_data_and_bandwidth_leaves_the_kernel_unchanged(family, bandwidth):
    X = datasets.blobs(20, 2)
    np.testing.assert_allclose(family(bandwidth)(X * bandwidth), family(1.0)(X), atol=1e-13, rtol=0)


@given(
    seed=st.integers(0, 2**32),
    n=st.integers(1, 300),
    m=st.integers(1, 80),
    n_threads=st.sampled_from([1, 2, 4]),
    columns=st.integers(1, 4),
)
@settings(max_examples=40)
def test_the_product_equals_the_reference(seed, n, m, n_threads, columns):
    rng = np.random.default_rng(seed)
    X, C, A = rng.normal(size=(n, 3)), rng.normal(size=(m, 3)), rng.normal(size=(m, columns))
    kernel = Gaussian(1.3)
    fast = gram.product(kernel, X, C, lambda block: block @ A, columns, n_threads=n_threads)
    slow = reference.kernel_product(kernel, X, C, A)
    np.testing.assert_allclose(fast, slow, atol=1e-12 * m, rtol=0)


def test_results_are_bitwise_equal_for_any_number_of_threads():
    X, C = datasets.blobs(3000, 7), datasets.blobs(500, 7, seed=1)
    one, two, four = (gram.gram(Gaussian(3.0), X, C, n_threads=n) for n in (1, 2, 4))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, four)


def test_inputs_are_not_modified():
    X, C = datasets.blobs(50, 3), datasets.blobs(20, 3, seed=1)
    X.flags.writeable = C.flags.writeable = False
    before = X.copy(), C.copy()
    gram.gram(Gaussian(1.0), X, C)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(C, before[1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_columns", range(1, 9))
def test_the_multiplier_equals_a_matrix_product(n_columns, dtype):
    rng = np.random.default_rng(0)
    block, columns = rng.random((37, 211)).astype(dtype), rng.random((211, n_columns)).astype(dtype)
    product = gram.multiplier(columns)(block)
    assert product.dtype == dtype
    exact = block.astype(np.float64) @ columns.astype(np.float64)
    np.testing.assert_allclose(product, exact, rtol=20 * np.finfo(dtype).eps)


def test_a_function_of_rows_receives_the_slice_of_those_rows():
    X, C = datasets.blobs(5000, 3), datasets.blobs(40, 3, seed=1)
    offsets = np.random.default_rng(0).normal(size=5000)

    def shifted(block, rows):
        return block + offsets[rows, None]

    found = gram.row_product(Gaussian(2.0), X, C, shifted, 40)
    np.testing.assert_array_equal(found, gram.gram(Gaussian(2.0), X, C) + offsets[:, None])


@pytest.mark.parametrize(("dtype", "n_rows"), [(np.float64, 2501), (np.float32, 1024)])
def test_sums_over_large_batches_equal_those_of_the_whole_matrix(dtype, n_rows):
    kernel, X, C = Gaussian(2.0), datasets.blobs(40_003, 2), datasets.blobs(20, 2, seed=1)
    centers = gram.prepare(kernel, C, dtype)
    assert gram.KernelRows(kernel, X, centers, dtype).n_rows == n_rows
    first, second = gram.moments(kernel, X, None, centers)
    values = gram.gram(kernel, X, C)
    rounding = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(first, values.sum(axis=0), rtol=rounding)
    np.testing.assert_allclose(second, values.T @ values, rtol=rounding)


@pytest.mark.parametrize("kind", ["dense", "float32", "sparse", "values"])
def test_the_transposed_product_equals_the_dense_one_for_any_number_of_threads(kind):
    X, C = datasets.blobs(3_000, 7), datasets.blobs(60, 7, seed=1)
    columns = np.random.default_rng(0).normal(size=(3_000, 4))
    kernel = NamedKernel("poly", degree=2) if kind == "values" else Gaussian(3.0)
    X = {"float32": np.float32, "sparse": csr_array}.get(kind, np.asarray)(X)
    expected = gram.gram(kernel, X, C).T @ columns
    one, two, four = (
        gram.transposed_product(kernel, X, C, columns, n_threads=n) for n in (1, 2, 4)
    )
    np.testing.assert_allclose(one, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, four)

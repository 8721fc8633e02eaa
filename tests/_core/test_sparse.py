"""Test that sparse rows give the same numbers as dense ones."""

import numpy as np
import pytest
from scipy import sparse as scipy_sparse

from rskpca import Gaussian, Laplacian, RadialKernel
from rskpca._core import gram, reference, sparse
from rskpca._core.subspace import Subspace
from rskpca.kernels import sklearn_kernel


def rows(n=60, d=40, seed=0, density=0.15):
    rng = np.random.default_rng(seed)
    return scipy_sparse.csr_array(np.where(rng.random((n, d)) < density, rng.random((n, d)), 0.0))


KERNELS = {
    "gaussian": Gaussian(1.5),
    "laplacian": Laplacian(1.5),
    "cauchy": RadialKernel(lambda s: 1 / (1 + s), 2.0, 1.5),
    **{
        f"scikit-learn's {name}": sklearn_kernel(name, n_features=40)
        for name in ("linear", "poly", "cosine", "laplacian")
    },
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("sparse_rows", [True, False])
@pytest.mark.parametrize("sparse_centers", [True, False])
def test_kernel_values_do_not_depend_on_the_storage(name, sparse_rows, sparse_centers):
    X, C, kernel = rows(), rows(30, seed=1), KERNELS[name]
    exact = gram.gram(kernel, X.toarray(), C.toarray())
    found = gram.gram(
        kernel, X if sparse_rows else X.toarray(), C if sparse_centers else C.toarray()
    )
    np.testing.assert_allclose(found, exact, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_moments_of_sparse_rows_equal_those_of_dense_rows(dtype):
    X, C = rows(500).astype(dtype), rows(30, seed=1)
    weights = np.random.default_rng(0).uniform(size=500)
    first, second = gram.moments(Gaussian(2.0), X, weights, C)
    exact = gram.moments(Gaussian(2.0), X.toarray().astype(np.float64), weights, C.toarray())
    np.testing.assert_allclose(first, exact[0], rtol=1e-12)
    np.testing.assert_allclose(second, exact[1], rtol=1e-12)


@pytest.mark.parametrize("dense_centers", [True, False])
@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_close_rows_far_from_zero_are_compared_by_differences(dense_centers, offset):
    X = rows(40)
    X.data += offset
    C = X.copy()
    C.data += 1e-3 * np.random.default_rng(0).normal(size=C.nnz)
    exact = np.exp(-np.sqrt(reference.pairwise_squared_distances(X.toarray(), C.toarray())))
    found = gram.gram(Laplacian(1.0), X, C.toarray() if dense_centers else C)
    np.testing.assert_allclose(found, exact, atol=1e-13)


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(2.0)])
@pytest.mark.parametrize("inside", [True, False])
def test_sparse_rows_are_projected_onto_a_subspace(kernel, inside):
    X = rows(50)
    if inside:  # all rows lie in the subspace, so that their distance from it is 0
        X = scipy_sparse.csr_array(np.where(np.arange(40) < 6, X.toarray(), 0.0))
        subspace = Subspace(np.zeros(40), np.eye(40)[:, :6])
    else:
        subspace = Subspace.principal(X.toarray(), np.ones(50), 6)
    C = subspace.points(np.random.default_rng(0).normal(size=(20, 6)))
    centers = gram.prepare(kernel, C, np.float64, subspace)
    exact = gram.gram(kernel, X.toarray(), C)
    np.testing.assert_allclose(gram.gram(kernel, X, centers), exact, atol=1e-12)


def test_principal_axes_of_sparse_rows_equal_those_of_dense_rows():
    rng = np.random.default_rng(0)
    X = scipy_sparse.csr_array(rows(400, 90).multiply(5.0 ** -rng.integers(0, 6, size=90)))
    weights = rng.uniform(0.5, 2, size=400)
    found = Subspace.principal(X, weights, 4)
    exact = Subspace.principal(X.toarray(), weights, 4)
    np.testing.assert_allclose(found.origin, exact.origin, atol=1e-14)
    angles = np.linalg.svd(found.axes.T @ exact.axes, compute_uv=False)
    np.testing.assert_allclose(angles, 1.0, atol=1e-6)  # the iteration for dense rows uses float32
    np.testing.assert_allclose(found.coordinates(X), found.coordinates(X.toarray()), atol=1e-13)


def test_distances_between_pairs_are_those_of_the_dense_rows():
    X, C = rows(), rows(seed=1)
    exact = ((X.toarray() - C.toarray()) ** 2).sum(axis=1)
    for first in (X, X.toarray()):
        for second in (C, C.toarray()):
            found = sparse.paired_squared_distances(first, second)
            np.testing.assert_allclose(found, exact, rtol=1e-13)


def test_rows_are_stacked_in_the_form_of_the_first():
    X = rows(3)
    both = sparse.stack(X, X.toarray())
    assert sparse.is_sparse(both)
    np.testing.assert_array_equal(both.toarray(), np.vstack([X.toarray()] * 2))
    assert isinstance(sparse.stack(X.toarray(), X), np.ndarray)
    assert sparse.same_rows(X, X.toarray())
    assert not sparse.same_rows(X, 2 * X)
    assert not sparse.same_rows(X, X[:2])


@pytest.mark.parametrize("kinds", ["dense", "sparse", "sparse after dense", "no first", "dtypes"])
def test_rows_of_two_arrays_are_selected_in_any_order(kinds):
    X, Y = rows(4), rows(3)
    first = X if kinds == "sparse" else X.toarray()
    second = Y.toarray() if kinds in ("dense", "no first") else Y
    if kinds == "no first":
        first = first[:0]
    if kinds == "dtypes":
        first, second = first.astype(np.float32), Y.toarray()
    order = np.array([2, 0, first.shape[0] + 1])
    chosen, both = sparse.select(first, second, order), sparse.stack(first, second)
    assert chosen.dtype == both.dtype
    np.testing.assert_array_equal(sparse.densify(chosen), sparse.densify(both)[order])

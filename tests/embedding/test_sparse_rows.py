"""Test that embeddings of sparse rows equal those of the same dense rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from rskpca import Gaussian, Laplacian, NystromKernelPCA, merge
from rskpca.kernels import sklearn_kernel


def rows(n=300, d=50, seed=0):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(d, 0.05), size=6)
    counts = np.stack([rng.multinomial(8, topics[i % 6]) for i in range(n)])
    return sparse.csr_array(counts.astype(np.float64))


def assert_same(first, second, atol=1e-8):
    """Compare embeddings up to the signs of the components."""
    signs = np.sign((first * second).sum(axis=0))
    np.testing.assert_allclose(first * signs, second, atol=atol)


KERNELS = {
    "gaussian": Gaussian(5.0),
    "median": Gaussian(),
    "laplacian": Laplacian(5.0),
    "cosine": sklearn_kernel("cosine", n_features=50),
    "poly": sklearn_kernel("poly", n_features=50),
}
LANDMARKS = ["uniform", "cholesky", "rpcholesky", "leverage", "means"]


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("landmarks", LANDMARKS)
def test_nystrom_of_sparse_rows_equals_that_of_dense_rows(name, landmarks):
    X = rows()
    model = NystromKernelPCA(3, kernel=KERNELS[name], landmarks=landmarks, n_centers=40)
    dense = clone(model).fit(X.toarray())
    model.fit(X)
    assert_same(model.transform(X), dense.transform(X.toarray()))
    assert_same(model.transform(X.toarray()), dense.transform(X))
    np.testing.assert_allclose(model.eigenvalues_, dense.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(
        model.reconstruction_error(X), dense.reconstruction_error(X.toarray()), atol=1e-8
    )
    errors = model.certificate_.embedding, dense.certificate_.embedding
    np.testing.assert_allclose(*errors, rtol=1e-6)
    assert_same(model.row_error(X)[0][:, None], dense.row_error(X.toarray())[0][:, None], 1e-6)


@pytest.mark.parametrize("kernel", [Gaussian(5.0), KERNELS["cosine"]])
def test_sparse_chunks_can_be_added_forgotten_and_merged(kernel):
    X, weights = rows(), np.random.default_rng(0).uniform(0.5, 2, size=300)
    whole = NystromKernelPCA(3, kernel=kernel, landmarks=X[:40]).fit(X, sample_weight=weights)
    parts = clone(whole)
    for part in (slice(0, 120), slice(120, 300), slice(120, 200)):
        parts.partial_fit(X[part], sample_weight=weights[part])
    parts.forget(X[120:200], sample_weight=weights[120:200])
    assert_same(parts.transform(X), whole.transform(X))
    halves = [clone(whole).fit(X[:150], sample_weight=weights[:150])]
    shared = clone(whole).set_params(landmarks=halves[0].shared_landmarks_)
    halves.append(shared.fit(X[150:], sample_weight=weights[150:]))
    assert_same(merge(*halves).transform(X), whole.transform(X))


@pytest.mark.parametrize("landmarks", ["means", "auto"])
def test_a_target_error_is_reached_with_sparse_rows(landmarks):
    X = rows(600)
    model = NystromKernelPCA(2, kernel=Gaussian(5.0), landmarks=landmarks, max_error=0.1).fit(X)
    known = clone(model).set_params(landmarks=model.shared_landmarks_, max_error=None)
    dense = known.fit(X.toarray())
    assert model.certificate_.embedding.limit <= 0.1
    assert_same(model.transform(X), dense.transform(X.toarray()))


@pytest.mark.parametrize("form", ["csr_matrix", "csc_array", "coo_array", "lil_array"])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_other_formats_and_dtypes_are_converted(form, dtype):
    X = rows()
    other = getattr(sparse, form)(X.astype(dtype))
    model = NystromKernelPCA(2, kernel=Gaussian(5.0), landmarks=30)
    exact = clone(model).fit(X).transform(X)
    Z = model.fit(other).transform(other)
    assert Z.dtype == (np.float32 if dtype is np.float32 else np.float64)
    np.testing.assert_allclose(Z, exact, atol=1e-6)


def test_the_given_matrix_is_not_modified():
    X = sparse.csr_array(([1.0, 2.0, 0.0, 3.0, 1.0], [4, 1, 2, 1, 0], [0, 3, 4, 5]), shape=(3, 5))
    before = X.data.copy(), X.indices.copy()
    model = NystromKernelPCA(1, kernel=Gaussian(5.0), landmarks=3)
    Z = model.fit(X).transform(X)
    np.testing.assert_array_equal(X.data, before[0])
    np.testing.assert_array_equal(X.indices, before[1])
    np.testing.assert_allclose(Z, clone(model).fit(X.toarray()).transform(X.toarray()), atol=1e-12)


def test_nan_in_sparse_rows_is_reported():
    X = rows()
    X.data[7] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        NystromKernelPCA(2, kernel=Gaussian(5.0)).fit(X)


def test_a_sparse_model_rejects_a_different_number_of_features():
    model = NystromKernelPCA(2, kernel=Gaussian(5.0)).fit(rows())
    with pytest.raises(ValueError, match="expecting 50 features"):
        model.transform(rows(d=40))


def test_extension_through_sparse_data_equals_extension_through_dense_data():
    X = rows()
    model = NystromKernelPCA(2, kernel=Gaussian(5.0), landmarks=40, extension="data")
    dense = clone(model).fit(X.toarray()).transform(X.toarray())
    np.testing.assert_allclose(model.fit(X).transform(X), dense, atol=1e-8)


def test_points_of_sparse_models_cannot_be_reconstructed():
    model = NystromKernelPCA(2, kernel=Gaussian(5.0), landmarks=40).fit(rows())
    with pytest.raises(ValueError, match="inverse_transform requires dense centers"):
        model.inverse_transform(np.zeros((1, 2)))

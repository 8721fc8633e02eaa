"""Test that embeddings of sparse rows equal those of the same dense rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from rskpca import (
    Gaussian,
    KernelPCA,
    Laplacian,
    NystromKernelPCA,
    ReducedSetKernelPCA,
    ShadowDensity,
    merge,
)
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


ESTIMATORS = {
    "kernel PCA": KernelPCA(2, kernel="rbf"),
    "linear kernel PCA": KernelPCA(2),
    "reduced set": ReducedSetKernelPCA(2, bandwidth=5.0),
    "landmarks": NystromKernelPCA(2, bandwidth=5.0, landmarks=30),
    "shadow density": ShadowDensity(Gaussian(5.0)),
}


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_in_sparse_rows_are_reported(name, value):
    X, bad = rows(), rows()
    bad.data[7] = value
    message = "contains NaN" if np.isnan(value) else "contains infinity"
    model = clone(ESTIMATORS[name])
    for method in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=message):
            method(bad)
    assert not [name for name in vars(model) if name.endswith("_")]
    evaluate = model.score_samples if name == "shadow density" else model.transform
    before = (model.fit(X), evaluate(X))[1]
    for method in (evaluate, model.partial_fit):
        with pytest.raises(ValueError, match=message):
            method(bad)
    np.testing.assert_array_equal(evaluate(X), before)


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


# ------------------------------------------------------------------ KernelPCA

NAMES = ["cosine", "rbf", "poly", "linear"]


def assert_same_results(model, dense, X, atol=1e-8):
    """Compare a model of sparse rows with one of the same dense rows."""
    np.testing.assert_allclose(model.eigenvalues_, dense.eigenvalues_, rtol=1e-8)
    assert_same(model.transform(X), dense.transform(X.toarray()), atol)
    assert_same(model.transform(X.toarray()), dense.transform(X), atol)
    for found, expected in zip(model.row_error(X), dense.row_error(X.toarray()), strict=True):
        np.testing.assert_allclose(found, expected, atol=atol)


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("d", [50, 400])
def test_exact_kernel_pca_of_sparse_rows_equals_that_of_dense_rows(kernel, d):
    X, new = rows(300, d), rows(40, d, seed=1)
    model = KernelPCA(3, kernel=kernel)
    dense = clone(model).fit(X.toarray())
    model.fit(X)
    assert model.error_ == dense.error_ == 0
    assert model.method_ == dense.method_
    assert_same_results(model, dense, X)
    assert_same_results(model, dense, new)


@pytest.mark.parametrize(
    ("kernel", "d"), [("rbf", 50), ("poly", 50), ("cosine", 2_500), ("linear", 2_500)]
)
def test_approximate_kernel_pca_of_sparse_rows_equals_that_of_dense_rows(kernel, d):
    X, new = rows(3_000, d), rows(40, d, seed=1)
    model = KernelPCA(3, kernel=kernel, max_error=0.1).fit(X)
    assert "in the span of" in model.method_
    shared = {"kernel": model.model_.kernel, "landmarks": model.embedding_.shared_landmarks_}
    dense = NystromKernelPCA(3, **shared).fit(X.toarray())
    assert_same_results(model, dense, X[:200])
    assert_same_results(model, dense, new)


@pytest.mark.parametrize("kernel", NAMES)
def test_kernel_pca_chooses_the_same_basis_for_sparse_and_dense_rows(kernel):
    X = rows(3_000)
    model = KernelPCA(3, kernel=kernel, max_error=0.1)
    dense = clone(model).fit(X.toarray())
    model.fit(X)
    assert model.method_ == dense.method_
    assert_same_results(model, dense, X)


@pytest.mark.parametrize("kernel", NAMES)
def test_a_sparse_stream_of_kernel_pca_equals_a_dense_stream(kernel):
    X = rows(600)
    model, dense = KernelPCA(3, kernel=kernel), KernelPCA(3, kernel=kernel)
    for part in (slice(0, 300), slice(300, 450), slice(450, 600)):
        model.partial_fit(X[part])
        dense.partial_fit(X[part].toarray())
    assert_same_results(model, dense, X)


@pytest.mark.parametrize("n", [300, 3_000])
@pytest.mark.parametrize("kernel", NAMES)
def test_features_of_sparse_rows_equal_those_of_dense_rows(n, kernel):
    X, new = rows(n), rows(40, seed=1)
    model = KernelPCA(3, kernel=kernel, max_error=0.1).fit(X)
    features = model.feature_map(new)
    np.testing.assert_allclose(features, model.feature_map(new.toarray()), atol=1e-8)
    dense = clone(model).fit(X.toarray()).feature_map(new.toarray())
    np.testing.assert_allclose(features @ features.T, dense @ dense.T, atol=1e-8)

"""Compare kernels that are evaluated directly with those of scikit-learn."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import pairwise_kernels

from rskpca import Gaussian, NystromKernelPCA
from rskpca.kernels import Kernel, NamedKernel, sklearn_kernel
from tests import datasets

NAMES = ["linear", "poly", "rbf", "sigmoid", "cosine", "laplacian"]
DEFINITE = [name for name in NAMES if name != "sigmoid"]


def histogram(x, y, power=1.0):
    return (np.minimum(x, y) ** power).sum()


def rows(n=150, d=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def align(Z, exact):
    return Z * np.sign((Z * exact).sum(axis=0))


@pytest.mark.parametrize("gamma", [None, 0.3])
@pytest.mark.parametrize("name", NAMES)
def test_values_and_diagonal_equal_those_of_scikit_learn(name, gamma):
    X, Y = rows(40), rows(30, seed=1)
    X[3] = 0.0  # a row without direction
    kernel = sklearn_kernel(name, gamma, degree=2, coef0=0.5, n_features=4)
    params = {"gamma": gamma, "degree": 2, "coef0": 0.5}
    exact = pairwise_kernels(X, Y, metric=name, filter_params=True, **params)
    np.testing.assert_allclose(kernel(X, Y), exact, atol=1e-13)
    own = np.diagonal(pairwise_kernels(X, metric=name, filter_params=True, **params))
    np.testing.assert_allclose(kernel.diagonal(X), own, atol=1e-13)
    np.testing.assert_allclose(kernel.squared()(X, Y), exact**2, atol=1e-12)
    np.testing.assert_allclose(kernel.squared().diagonal(X), own**2, atol=1e-12)


def test_rbf_is_a_gaussian():
    assert sklearn_kernel("rbf", 0.25, n_features=3).same_as(Gaussian(2.0))


def test_a_function_of_two_rows_gets_its_parameters():
    X = np.abs(rows(20))
    kernel = sklearn_kernel(histogram, params={"power": 0.5}, n_features=4)
    exact = np.sqrt(np.minimum(X[:, None], X)).sum(axis=2)
    np.testing.assert_allclose(kernel(X), exact, rtol=1e-14)
    np.testing.assert_allclose(kernel.diagonal(X), np.diagonal(exact), rtol=1e-14)


@pytest.mark.parametrize("name", DEFINITE)
@pytest.mark.parametrize("landmarks", ["uniform", "cholesky", "rpcholesky", "leverage"])
def test_nystrom_with_enough_landmarks_equals_kernel_pca(name, landmarks):
    X = rows()
    kernel = sklearn_kernel(name, n_features=4)
    model = NystromKernelPCA(3, kernel=kernel, landmarks=landmarks, n_centers=len(X))
    matrix = pairwise_kernels(X, metric=name)
    exact = KernelPCA(3, kernel="precomputed").fit(matrix)
    expected = exact.transform(matrix)
    Z = model.fit_transform(X)
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(align(Z, expected), expected, atol=1e-8)
    np.testing.assert_allclose(model.transform(X[:10]), Z[:10], atol=1e-10)
    ratio = exact.eigenvalues_ / KernelPCA(kernel="precomputed").fit(matrix).eigenvalues_.sum()
    np.testing.assert_allclose(model.explained_variance_ratio_, ratio, rtol=1e-8)


def test_a_function_of_two_rows_equals_kernel_pca():
    X = np.abs(rows(60))
    exact = KernelPCA(3, kernel=histogram).fit(X)
    kernel = sklearn_kernel(histogram, n_features=4)
    model = NystromKernelPCA(3, kernel=kernel, landmarks="uniform", n_centers=60).fit(X)
    expected = exact.transform(X)
    np.testing.assert_allclose(align(model.transform(X), expected), expected, atol=1e-8)


@pytest.mark.parametrize("name", ["linear", "poly", "cosine"])
def test_reconstruction_errors_are_distances_to_the_principal_subspace(name):
    X = rows(80)
    kernel = sklearn_kernel(name, n_features=4)
    model = NystromKernelPCA(2, kernel=kernel, landmarks=80, center=False).fit(X)
    own, Z = kernel.diagonal(X), model.transform(X)
    np.testing.assert_allclose(model.reconstruction_error(X), own - (Z**2).sum(axis=1), atol=1e-9)


def test_streaming_with_a_general_kernel_equals_one_fit():
    X, weights = rows(), np.random.default_rng(1).uniform(0.5, 2, size=150)
    kernel = sklearn_kernel("poly", n_features=4)
    whole = NystromKernelPCA(3, kernel=kernel, landmarks=X[:40]).fit(X, sample_weight=weights)
    parts = clone(whole)
    for part in (slice(0, 50), slice(50, 120), slice(120, 150), slice(50, 120)):
        parts.partial_fit(X[part], sample_weight=weights[part])
    parts.forget(X[50:120], sample_weight=weights[50:120])
    np.testing.assert_allclose(parts.eigenvalues_, whole.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(
        parts.explained_variance_ratio_, whole.explained_variance_ratio_, rtol=1e-10
    )


def test_the_certificate_of_a_general_kernel_is_measured_on_a_complete_sample():
    X = datasets.blobs(300, 3)
    kernel = sklearn_kernel("laplacian", gamma=0.2, n_features=3)
    exact = NystromKernelPCA(3, kernel=kernel, landmarks=300).fit(X)
    model = NystromKernelPCA(3, kernel=kernel, landmarks="rpcholesky", n_centers=40).fit(X)
    Z, expected = model.transform(X), exact.transform(X)
    turn = np.linalg.svd(Z.T @ expected)
    error = np.linalg.norm(Z @ (turn[0] @ turn[2]) - expected) / np.linalg.norm(expected)
    assert error == pytest.approx(model.certificate_.embedding.estimate, rel=0.2)
    assert model.certificate_.ell is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_embedding_has_the_dtype_of_the_rows(dtype):
    X = rows().astype(dtype)
    model = NystromKernelPCA(2, kernel=NamedKernel("cosine"), landmarks=50).fit(X)
    assert model.transform(X).dtype == dtype
    assert model.kernel_.gamma == 0.25


def test_named_kernels_can_be_pickled_and_cloned():
    kernel = sklearn_kernel("poly", degree=2, n_features=4)
    assert pickle.loads(pickle.dumps(kernel)).same_as(kernel)
    assert clone(kernel).same_as(kernel)
    assert clone(sklearn_kernel(histogram, n_features=4)).same_as(
        sklearn_kernel(histogram, n_features=4)
    )
    assert not kernel.same_as(sklearn_kernel("poly", degree=3, n_features=4))


def test_values_of_a_function_are_not_overwritten():
    X = rows(30)
    matrix = X @ X.T

    def lookup(first, second):
        return matrix if len(first) == len(second) == 30 else first @ second.T

    before = matrix.copy()
    NystromKernelPCA(2, kernel=Kernel(lookup), landmarks=X, center=True).fit(X).transform(X)
    np.testing.assert_array_equal(matrix, before)


BAD = {
    "shape": (Kernel(lambda X, Y: (X @ Y.T)[:, :1]), r"shape \(len\(X\), len\(Y\)\) = \(2, 2\)"),
    "asymmetric": (Kernel(lambda X, Y: X @ Y.T + X[:, :1]), "not symmetric"),
    "negative": (Kernel(lambda X, Y: -X @ Y.T), r"not positive definite: k\(x, x\)"),
    "indefinite": (
        Kernel(lambda X, Y: np.abs(np.subtract.outer(X[:, 0], Y[:, 0])) + 0.1),
        "definite",
    ),
    "sigmoid": (NamedKernel("sigmoid", coef0=-1), "not positive definite"),
    "NaN": (Kernel(lambda X, Y: np.full((len(X), len(Y)), np.nan)), "must be finite"),
    "diagonal": (
        Kernel(lambda X, Y: X @ Y.T, diagonal_function=lambda X: X[:, 0]),
        "diagonal_function",
    ),
    "name": (NamedKernel("polynomial"), "name must be one of"),
    "gamma": (NamedKernel("poly", gamma=-1.0), "gamma must be a positive"),
}


@pytest.mark.parametrize("case", BAD)
def test_invalid_kernels_raise_errors_that_name_the_fix(case):
    kernel, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        NystromKernelPCA(2, kernel=kernel, landmarks=50).fit(rows())


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match='"cosine", "laplacian" or a function'):
        sklearn_kernel("chi2", n_features=2)

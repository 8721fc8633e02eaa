"""Test ``eigenvectors_`` of every embedding against a dense eigendecomposition."""

import numpy as np
import pytest

from rskpca import (
    DiffusionMaps,
    Gaussian,
    Laplacian,
    LaplacianEigenmaps,
    NormalizedCut,
    ReducedSetKernelPCA,
)
from tests import datasets, dense

N_COMPONENTS = 5
with_each_kernel = pytest.mark.parametrize(
    "kernel", [Gaussian(4.0), Laplacian(4.0)], ids=["gaussian", "laplacian"]
)
with_and_without_basis = pytest.mark.parametrize("basis", [None, 60])


def fit_with_weights(estimator, n=300):
    """Fit to rows with unequal integer weights."""
    weights = np.random.default_rng(0).integers(1, 4, size=n)
    return estimator.fit(datasets.blobs(n, 3), sample_weight=weights)


def assert_leading_eigenpairs(model, matrix, skip=0):
    """Compare with the leading eigenpairs of a symmetric matrix up to sign."""
    values, vectors = np.linalg.eigh(matrix)
    kept = slice(skip, skip + N_COMPONENTS)
    values, expected = values[::-1], vectors[:, ::-1][:, kept]
    # The eigenvectors are unique only if the eigenvalues are separated.
    assert np.diff(-values[: kept.stop + 1]).min() > 1e-4 * values[0]
    np.testing.assert_allclose(model.eigenvalues_, values[kept], atol=1e-8 * values[0])
    np.testing.assert_allclose(
        dense.aligned(model.eigenvectors_, expected), expected, rtol=0, atol=1e-8
    )


def weighted_gram(model, basis=None):
    """Return diag(sqrt w) K diag(sqrt w), with K projected onto the span of the basis, if any."""
    kernel, s = model.kernel_, model.reduced_set_

    def k(X, Y):
        return np.exp(dense.log_kernel(kernel, X, Y))

    K = k(s.centers, s.centers)
    if basis is not None:
        to_basis = k(s.centers, basis)
        K = to_basis @ np.linalg.solve(k(basis, basis), to_basis.T)
    if model.center:
        shares = s.weights / s.weights.sum()
        K = K - shares @ K - (K @ shares)[:, None] + shares @ K @ shares
    return K * np.sqrt(np.outer(s.weights, s.weights))


@with_each_kernel
@pytest.mark.parametrize("ell", [3.0, np.inf])
@pytest.mark.parametrize("center", [True, False])
def test_kernel_pca_eigenvectors_decompose_the_weighted_gram_matrix(kernel, ell, center):
    model = fit_with_weights(
        ReducedSetKernelPCA(N_COMPONENTS, kernel=kernel, ell=ell, center=center)
    )
    assert_leading_eigenpairs(model, weighted_gram(model))


@with_each_kernel
@pytest.mark.parametrize("center", [True, False])
def test_kernel_pca_eigenvectors_on_a_basis_decompose_the_projected_gram_matrix(kernel, center):
    model = fit_with_weights(
        ReducedSetKernelPCA(N_COMPONENTS, kernel=kernel, ell=3.0, center=center, basis=20)
    )
    assert len(model.basis_) == 20 < model.n_centers_
    assert_leading_eigenpairs(model, weighted_gram(model, model.basis_))


def symmetric_walk(model, alpha=0.0, self_affinity=True):
    """Return D^{-1/2} A D^{-1/2}, where A_ij = w_i w_j k(c_i, c_j) / (q_i q_j)^alpha.

    Without self-affinities, each of the w_i points at a center has w_i - 1 neighbors there.
    """
    s = model.reduced_set_
    K = np.exp(dense.log_kernel(model.kernel_, s.centers, s.centers))
    if not self_affinity:
        np.fill_diagonal(K, 1 - 1 / s.weights)
    q = K @ s.weights
    A = K * np.outer(s.weights, s.weights) / np.outer(q, q) ** alpha
    d = A.sum(axis=1)
    return A / np.sqrt(np.outer(d, d))


@with_each_kernel
@with_and_without_basis
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_diffusion_map_eigenvectors_decompose_the_symmetric_walk(kernel, basis, alpha):
    model = fit_with_weights(
        DiffusionMaps(N_COMPONENTS, kernel=kernel, ell=3.0, alpha=alpha, basis=basis)
    )
    assert_leading_eigenpairs(model, symmetric_walk(model, alpha), skip=1)


@with_each_kernel
@with_and_without_basis
@pytest.mark.parametrize("self_affinity", [True, False])
def test_laplacian_eigenmap_eigenvectors_decompose_the_symmetric_walk(kernel, basis, self_affinity):
    model = fit_with_weights(
        LaplacianEigenmaps(
            N_COMPONENTS, kernel=kernel, ell=3.0, self_affinity=self_affinity, basis=basis
        )
    )
    assert_leading_eigenpairs(model, symmetric_walk(model, 0.0, self_affinity), skip=1)


@with_each_kernel
@with_and_without_basis
@pytest.mark.parametrize("self_affinity", [True, False])
def test_normalized_cut_eigenvectors_decompose_the_symmetric_walk(kernel, basis, self_affinity):
    model = fit_with_weights(
        NormalizedCut(
            N_COMPONENTS, kernel=kernel, ell=3.0, self_affinity=self_affinity, basis=basis
        )
    )
    assert_leading_eigenpairs(model, symmetric_walk(model, 0.0, self_affinity))

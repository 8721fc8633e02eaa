"""Test sampled kernel matrices and random projections against dense formulas."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from rskpca import Gaussian, Laplacian, ReducedSetKernelPCA
from rskpca.baselines import ProjectedKernelPCA, SampledKernelPCA, randomized
from rskpca.baselines.randomized import _sample_gram
from tests import datasets, dense

KERNELS = [Gaussian(3.0), Laplacian(3.0)]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("center", [True, False])
def test_all_entries_give_exact_kernel_pca(kernel, center):
    X, new = datasets.blobs(120, 3), datasets.blobs(40, 3, seed=1)
    model = SampledKernelPCA(4, n_entries=500, kernel=kernel, center=center).fit(X)
    exact = dense.KernelPCA(kernel, X, 4, center)
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues, rtol=1e-9)
    dense.assert_equal_up_to_sign(model.transform(new), exact.transform(new), 1e-7)


@pytest.mark.parametrize("kernel", KERNELS)
def test_pairs_are_evaluated_in_blocks_and_together_if_there_are_many(kernel, monkeypatch):
    X = datasets.blobs(100, 3)
    monkeypatch.setattr(randomized, "_BLOCK", 30)
    few = _sample_gram(kernel, X, 0.2, np.random.RandomState(0)).toarray()
    monkeypatch.setattr(randomized, "_MANY", 0.0)
    many = _sample_gram(kernel, X, 0.2, np.random.RandomState(0)).toarray()
    np.testing.assert_allclose(few, many, rtol=1e-12)
    K = np.exp(dense.log_kernel(kernel, X, X))
    np.fill_diagonal(K, 0.2)
    np.testing.assert_allclose(few[few > 0], (K / 0.2)[few > 0], rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_mean_of_sampled_matrices_is_the_kernel_matrix(kernel):
    X = datasets.blobs(30, 2)
    K = np.exp(dense.log_kernel(kernel, X, X))
    draws = np.array(
        [_sample_gram(kernel, X, 0.3, np.random.RandomState(i)).toarray() for i in range(1000)]
    )
    np.testing.assert_allclose(draws, draws.transpose(0, 2, 1))
    np.testing.assert_allclose(np.diagonal(draws, axis1=1, axis2=2), 1.0)
    deviation = K * np.sqrt((1 - 0.3) / 0.3 / len(draws))
    assert np.all(np.abs(draws.mean(axis=0) - K) <= 5 * deviation + 1e-12)
    upper = draws[:, *np.triu_indices(30, 1)]
    assert np.mean(upper > 0) == pytest.approx(0.3, abs=0.005)
    entries = {0.0, *np.round(K[0, 1:] / 0.3, 12)}
    assert set(np.round(draws[:, 0, 1:], 12).ravel()) <= entries


def test_the_eigenvectors_are_those_of_the_sampled_matrix():
    X = datasets.blobs(100, 3)
    model = SampledKernelPCA(3, n_entries=30, kernel=Gaussian(3.0), random_state=4).fit(X)
    S = _sample_gram(Gaussian(3.0), X, 0.3, np.random.RandomState(4)).toarray()
    H = np.eye(100) - 1 / 100
    values, vectors = np.linalg.eigh(H @ S @ H)
    np.testing.assert_allclose(model.eigenvalues_, values[:-4:-1], rtol=1e-9)
    dense.assert_equal_up_to_sign(model.eigenvectors_, vectors[:, :-4:-1], 1e-7)
    K = np.exp(-cdist(X[:5], X, "sqeuclidean") / 9.0)
    centered = K - K.mean(axis=1, keepdims=True) - S.mean(axis=0) + S.mean()
    expected = centered @ model.eigenvectors_ / np.sqrt(model.eigenvalues_)
    np.testing.assert_allclose(model.transform(X[:5]), expected, atol=1e-9)


def test_more_entries_or_directions_improve_accuracy():
    X, new = datasets.blobs(300, 8), datasets.blobs(80, 8, seed=1)
    exact = ReducedSetKernelPCA(3, bandwidth=6.0, ell=np.inf).fit(X).transform(new)

    def error(model):
        Z = model.fit(X).transform(new)
        return np.linalg.norm(Z @ np.linalg.lstsq(Z, exact, rcond=None)[0] - exact)

    for make in (
        lambda size, seed: SampledKernelPCA(3, n_entries=size, bandwidth=6.0, random_state=seed),
        lambda size, seed: ProjectedKernelPCA(
            3, n_directions=size, bandwidth=6.0, random_state=seed
        ),
    ):
        few, many = (np.mean([error(make(n, seed)) for seed in range(3)]) for n in (10, 250))
        assert many < 0.4 * few


@pytest.mark.parametrize("center", [True, False])
def test_projected_kernel_pca_equals_kernel_pca_of_the_projected_rows(center):
    X, new = datasets.blobs(100, 6), datasets.blobs(20, 6, seed=1)
    model = ProjectedKernelPCA(3, n_directions=4, kernel=Gaussian(4.0), center=center).fit(X)
    P = model.signs_
    np.testing.assert_allclose(np.abs(P), 0.5)
    exact = dense.KernelPCA(Gaussian(4.0), X @ P, 3, center)
    dense.assert_equal_up_to_sign(model.transform(new), exact.transform(new @ P), 1e-8)
    assert model.basis_.shape == (100, 4)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SampledKernelPCA(0), "n_components must be an integer of at least 1, got 0"),
        (SampledKernelPCA(2, n_entries=2.5), "n_entries must be an integer .* got 2.5"),
        (SampledKernelPCA(2, center=3), "center must be True or False, got 3"),
        (ProjectedKernelPCA(2, n_directions=0), "n_directions must be an integer .* got 0"),
        (ProjectedKernelPCA(2, bandwidth=-1.0), "bandwidth must be a positive"),
    ],
)
def test_invalid_parameters_are_rejected(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(datasets.blobs(30, 3))

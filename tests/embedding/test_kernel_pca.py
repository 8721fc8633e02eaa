"""Test that ReducedSetKernelPCA equals kernel PCA of the quantized data."""

import sys
from functools import cache

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA

from rskpca import Gaussian, Laplacian, RadialKernel, ReducedSetKernelPCA, ShadowDensity
from rskpca._validation import FewComponentsWarning
from tests import datasets, dense
from tests.embedding.invariants import ReducedSetInvariants


class TestInvariants(ReducedSetInvariants):
    def make(self, n_components=4, **parameters):
        return ReducedSetKernelPCA(n_components, **parameters)


class TestUncenteredInvariants(ReducedSetInvariants):
    """Invariants of the uncentered operator in the paper."""

    def make(self, n_components=4, **parameters):
        return ReducedSetKernelPCA(n_components, center=False, **parameters)


# ------------------------------------------------------------------------- the oracle

N_COMPONENTS = 12
DATA = {
    "digits": (lambda: datasets.load("digits", step=2), 100.0),
    "breast cancer": (lambda: datasets.load("breast cancer"), 12.0),
    "diabetes": (lambda: datasets.load("diabetes"), 6.0),
}


@cache
def split(name):
    """Return training rows, new rows and the bandwidth."""
    load, bandwidth = DATA[name]
    X = load()
    return X[: int(0.8 * len(X))], X[int(0.8 * len(X)) :], bandwidth


def assert_equals_kernel_pca(model, exact, *points):
    """Check eigenvalues and projections to 1e-10.

    Components with separated eigenvalues are compared one by one up to sign. The leading ones are
    also compared by their inner products, which are invariant to rotations within an eigenspace.
    """
    scale = exact.eigenvalues[0]
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues, atol=1e-10 * scale, rtol=0)
    columns = exact.separated()
    assert len(columns) >= 3
    for X in points:
        Z, expected = model.transform(X), exact.transform(X)
        dense.assert_equal_up_to_sign(Z[:, columns], expected[:, columns], 1e-10)
        upto = columns[-1] + 1
        products, others = Z[:, :upto] @ Z[:, :upto].T, expected[:, :upto] @ expected[:, :upto].T
        assert np.abs(products - others).max() < 1e-10 * np.abs(others).max()


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("ell", [2.5, 4.0, 6.0])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("family", [Gaussian, Laplacian])
def test_the_result_equals_kernel_pca_of_the_quantized_data(name, ell, center, family):
    X, new, bandwidth = split(name)
    kernel = family(bandwidth)
    model = ReducedSetKernelPCA(N_COMPONENTS, kernel=kernel, ell=ell, center=center).fit(X)
    quantized = model.reduced_set_.centers[model.density_.labels_]
    assert 2 * N_COMPONENTS < model.n_centers_ < len(X)
    assert np.linalg.norm(X - quantized, axis=1).max() < bandwidth / ell
    exact = dense.KernelPCA(kernel, quantized, N_COMPONENTS, center)
    assert_equals_kernel_pca(model, exact, new, X)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("family", [Gaussian, Laplacian])
def test_an_infinite_ell_gives_kernel_pca_of_the_data(name, center, family):
    X, new, bandwidth = split(name)
    kernel = family(bandwidth)
    model = ReducedSetKernelPCA(N_COMPONENTS, kernel=kernel, ell=np.inf, center=center).fit(X)
    assert_equals_kernel_pca(model, dense.KernelPCA(kernel, X, N_COMPONENTS, center), new, X)


@pytest.mark.parametrize("name", DATA)
def test_results_with_an_infinite_ell_equal_those_of_scikit_learn(name):
    X, new, bandwidth = split(name)
    theirs = KernelPCA(N_COMPONENTS, kernel="rbf", gamma=1 / bandwidth**2, eigen_solver="dense")
    ours = ReducedSetKernelPCA(N_COMPONENTS, kernel="rbf", gamma=1 / bandwidth**2, ell=np.inf)
    expected, Z = theirs.fit_transform(X), ours.fit_transform(X)
    scale = theirs.eigenvalues_[0]
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, atol=1e-8 * scale, rtol=0)
    gaps = -np.diff(theirs.eigenvalues_) / scale
    columns = np.flatnonzero((np.append(1, gaps[:-1]) > 1e-4) & (gaps > 1e-4))
    assert len(columns) >= 3
    dense.assert_equal_up_to_sign(Z[:, columns], expected[:, columns], 1e-8)
    dense.assert_equal_up_to_sign(
        ours.transform(new)[:, columns], theirs.transform(new)[:, columns], 1e-8
    )


def test_small_eigenvalues_are_accurate():
    """Every component above rounding error is tested, not only the leading ones."""
    X, new = datasets.blobs(100, 2), datasets.blobs(50, 2, seed=1)
    model = ReducedSetKernelPCA(kernel=Gaussian(0.5), ell=4.0).fit(X)
    quantized = model.reduced_set_.centers[model.density_.labels_]
    n = len(model.eigenvalues_)
    exact = dense.KernelPCA(Gaussian(0.5), quantized, n, center=True)
    np.testing.assert_allclose(
        model.eigenvalues_, exact.eigenvalues, atol=1e-13 * exact.eigenvalues[0], rtol=0
    )
    Z, expected = model.transform(new), exact.transform(new)
    kept = np.arange(np.count_nonzero(exact.eigenvalues > 1e-6 * exact.eigenvalues[0]))
    assert len(kept) > 40
    np.testing.assert_allclose(
        Z[:, kept] @ Z[:, kept].T, expected[:, kept] @ expected[:, kept].T, atol=1e-8
    )


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("ell", [3.0, np.inf])
def test_integer_weights_are_equivalent_to_repeated_rows(center, ell):
    X, new = datasets.blobs(300, 3), datasets.blobs(60, 3, seed=1)
    weights = np.random.default_rng(0).integers(0, 4, size=300)
    weighted = ReducedSetKernelPCA(4, bandwidth=4.0, ell=ell, center=center)
    repeated = ReducedSetKernelPCA(4, bandwidth=4.0, ell=ell, center=center)
    weighted.fit(X, sample_weight=weights)
    repeated.fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-10)
    expected = repeated.transform(new)
    np.testing.assert_allclose(
        weighted.transform(new), expected, atol=1e-10 * np.abs(expected).max()
    )


def test_integer_weights_are_equivalent_to_repeated_rows_in_the_median_bandwidth():
    X = datasets.blobs(200, 3)
    weights = np.random.default_rng(0).integers(0, 4, size=200)
    weighted = ReducedSetKernelPCA(2).fit(X, sample_weight=weights)
    repeated = ReducedSetKernelPCA(2).fit(np.repeat(X, weights, axis=0))
    assert weighted.kernel_.bandwidth == pytest.approx(repeated.kernel_.bandwidth, rel=1e-12)
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-9)


def test_scaling_the_weights_scales_only_the_eigenvalues():
    X = datasets.blobs(300, 3)
    one = ReducedSetKernelPCA(3, bandwidth=4.0).fit(X)
    half = ReducedSetKernelPCA(3, bandwidth=4.0).fit(X, sample_weight=np.full(300, 0.5))
    np.testing.assert_allclose(half.eigenvalues_, one.eigenvalues_ / 2, rtol=1e-10)
    np.testing.assert_allclose(half.transform(X), one.transform(X), atol=1e-10)


@pytest.mark.parametrize("center", [True, False])
def test_the_matrix_free_path_equals_the_dense_path(center, monkeypatch):
    X, new, bandwidth = split("digits")
    model = ReducedSetKernelPCA(8, bandwidth=bandwidth, ell=6.0, center=center)
    expected, eigenvalues = model.fit(X).transform(new), model.eigenvalues_
    ratios = model.explained_variance_ratio_
    monkeypatch.setattr(sys.modules["rskpca.spectral.eigensystem"], "STORED_CENTERS", 50)
    assert model.n_centers_ > 300
    Z = model.fit(X).transform(new)
    np.testing.assert_allclose(model.eigenvalues_, eigenvalues, atol=1e-10 * eigenvalues[0], rtol=0)
    np.testing.assert_allclose(Z, expected, atol=1e-10 * np.abs(expected).max(), rtol=0)
    np.testing.assert_allclose(model.explained_variance_ratio_, ratios, rtol=1e-10)


def test_results_do_not_depend_on_the_location_of_the_data():
    X, new = datasets.blobs(300, 3), datasets.blobs(50, 3, seed=1)
    X, new = (np.round(a * 2**10) / 2**10 for a in (X, new))  # so that the shift is exact
    here = ReducedSetKernelPCA(4, bandwidth=4.0).fit(X).transform(new)
    there = ReducedSetKernelPCA(4, bandwidth=4.0).fit(X + 2.0**27).transform(new + 2.0**27)
    np.testing.assert_allclose(there, here, atol=1e-10)


def test_distant_clusters_are_embedded_accurately():
    """Distances computed from inner products would lose all digits at 1e8 bandwidths."""
    X = np.concatenate([datasets.blobs(100, 2) + shift for shift in (0.0, 1e8, -3e8)])
    kernel = Gaussian(2.0)
    model = ReducedSetKernelPCA(8, kernel=kernel, ell=4.0).fit(X)
    quantized = model.reduced_set_.centers[model.density_.labels_]
    exact = dense.KernelPCA(kernel, quantized, 8, center=True)
    np.testing.assert_allclose(
        model.eigenvalues_, exact.eigenvalues, atol=1e-7 * exact.eigenvalues[0], rtol=0
    )


# ------------------------------------------------------------------------- attributes


@pytest.mark.parametrize("center", [True, False])
def test_explained_variance_ratios_are_shares_of_the_total(center):
    X = datasets.blobs(100, 3)
    full = ReducedSetKernelPCA(bandwidth=1.0, ell=4.0, center=center).fit(X)
    assert full.explained_variance_ratio_.sum() == pytest.approx(1.0, abs=1e-12)
    few = ReducedSetKernelPCA(5, bandwidth=1.0, ell=4.0, center=center).fit(X)
    np.testing.assert_allclose(
        few.explained_variance_ratio_, full.explained_variance_ratio_[:5], rtol=1e-10
    )


def test_coordinates_are_uncorrelated_and_their_squared_norms_are_the_eigenvalues():
    X = datasets.blobs(200, 3)
    model = ReducedSetKernelPCA(4, bandwidth=3.0, ell=4.0).fit(X)
    quantized = model.reduced_set_.centers[model.density_.labels_]
    Z = model.transform(quantized)
    np.testing.assert_allclose(Z.T @ Z, np.diag(model.eigenvalues_), atol=1e-9)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-10)


def test_attributes_match_the_reduced_set():
    X = datasets.blobs(200, 3)
    model = ReducedSetKernelPCA(4).fit(X)
    assert model.n_centers_ == model.reduced_set_.n_centers == len(model.basis_)
    np.testing.assert_array_equal(model.basis_, model.reduced_set_.centers)
    assert model.kernel_.bandwidth / 4 == model.reduced_set_.radius
    assert model.reduced_set_ == ShadowDensity(model.kernel_, ell=4.0).fit(X).reduced_set_


# ------------------------------------------------------------------ kernel and density


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": Gaussian(2.0)},
        {"kernel": "rbf", "gamma": 0.25},
        {"kernel": "gaussian", "bandwidth": 2.0},
        {"gamma": 0.25},
        {"bandwidth": 2.0},
        {"kernel": RadialKernel(lambda s: np.exp(-s), 2.0, 2.0)},
        {"density": ShadowDensity(Gaussian(2.0), ell=4.0)},
        {"density": ShadowDensity(ell=4.0), "bandwidth": 2.0},
        {"density": ShadowDensity(), "kernel": Gaussian(2.0)},
    ],
)
def test_equivalent_parameters_give_equal_models(parameters):
    X = datasets.blobs(200, 3)
    expected = ReducedSetKernelPCA(3, bandwidth=2.0, ell=4.0).fit(X)
    model = ReducedSetKernelPCA(3, **parameters).fit(X)
    assert model.reduced_set_ == expected.reduced_set_
    np.testing.assert_allclose(model.transform(X), expected.transform(X), atol=1e-12)


def test_a_density_with_a_different_kernel_is_rejected():
    model = ReducedSetKernelPCA(3, kernel=Laplacian(5.0), density=ShadowDensity(Gaussian(2.0)))
    with pytest.raises(ValueError, match=r"own kernel Gaussian.*uses Laplacian.*omit the kernel"):
        model.fit(datasets.blobs(200, 3))
    assert not hasattr(model, "density_")


def test_a_density_with_the_same_kernel_is_accepted():
    X = datasets.blobs(200, 3)
    model = ReducedSetKernelPCA(3, bandwidth=2.0, density=ShadowDensity(Gaussian(2.0))).fit(X)
    assert model.reduced_set_ == ReducedSetKernelPCA(3, bandwidth=2.0).fit(X).reduced_set_


def test_the_seed_determines_the_sample_for_the_median():
    X = datasets.blobs(3000, 2)
    bandwidths = [
        ReducedSetKernelPCA(2, random_state=seed).fit(X).kernel_.bandwidth for seed in (0, 0, 1)
    ]
    assert bandwidths[0] == bandwidths[1] != bandwidths[2]


def test_verbose_is_passed_to_the_density():
    X = datasets.blobs(100, 2)
    assert ReducedSetKernelPCA(2, verbose=1).fit(X).density_.verbose == 1


@pytest.mark.parametrize("size", [1e-25, 1e-20, 1e19, 1e30])
def test_float32_data_of_any_scale_are_accurate(size):
    X = datasets.blobs(300, 3)
    scaled = (size * X).astype(np.float32)
    Z = ReducedSetKernelPCA(2, bandwidth=2 * size).fit(scaled).transform(scaled)
    expected = ReducedSetKernelPCA(2, bandwidth=2.0).fit(X).transform(X)
    np.testing.assert_allclose(Z, expected, atol=1e-4)


def test_warnings_point_to_the_calling_line():
    with pytest.warns(UserWarning, match="requested components") as record:
        ReducedSetKernelPCA(50, bandwidth=2.0, ell=np.inf).fit(datasets.blobs(20, 2))
    assert record[0].filename == __file__
    stream = ReducedSetKernelPCA(50, bandwidth=2.0, ell=np.inf).partial_fit(datasets.blobs(20, 2))
    with pytest.warns(UserWarning, match="requested components") as record:
        len(stream.eigenvalues_)
    assert record[0].filename == __file__


def test_a_profile_with_nan_values_is_reported():
    kernel = RadialKernel(lambda s: np.where(s > 1, np.nan, 1.0), 2.0, 1.0)
    with pytest.raises(ValueError, match="profile"):
        ReducedSetKernelPCA(2, kernel=kernel).fit(datasets.blobs(50, 2))


@pytest.mark.parametrize("n_clusters", range(2, 13))
def test_distant_clusters_give_no_spurious_components(n_clusters):
    """Centering leaves one component fewer than there are clusters."""
    rng = np.random.default_rng(n_clusters)
    X = 1e6 * rng.normal(size=(n_clusters, 3))[np.arange(300) % n_clusters]
    X += 0.001 * rng.normal(size=X.shape)
    with pytest.warns(FewComponentsWarning, match=f"Only {n_clusters - 1} of the 20"):
        model = ReducedSetKernelPCA(20, bandwidth=1.0).fit(X)
    assert len(model.eigenvalues_) == n_clusters - 1


@pytest.mark.parametrize("distance", [1e2, 1e4, 5e5])
def test_float32_is_accurate_for_clusters_that_are_far_apart(distance):
    X = datasets.blobs(400, 2, dtype=np.float32)
    X[200:] += np.float32(distance)
    model = ReducedSetKernelPCA(4, bandwidth=1.0).fit(X)
    Z = model.transform(X)
    assert Z.dtype == np.float32
    exact = model.transform(X.astype(np.float64))
    np.testing.assert_allclose(Z, exact, atol=2e-5 * np.abs(exact).max())

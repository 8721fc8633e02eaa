"""Test shadow densities in the feature space of any kernel, and for sparse rows."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from rskpca import Gaussian, Laplacian, ReducedSetKernelPCA, ShadowDensity, load, merge, save
from rskpca._core import value_cover
from rskpca.kernels import Kernel, NamedKernel, sklearn_kernel
from tests import datasets

WORDS = [
    "kernel", "kernels", "colonel", "eigen", "eigenvalue", "eigenvector", "vector", "sector",
    "center", "centre", "centers", "radius", "radii", "shadow", "shadows", "show", "row", "rows",
]  # fmt: skip


def pairs_of_letters(word):
    return [word[i : i + 2] for i in range(len(word) - 1)]


def spectrum(x, y):
    """Count matching letter pairs of two words, which are given by index (Leslie et al. 2002)."""
    first, second = (pairs_of_letters(WORDS[int(i[0])]) for i in (x, y))
    return float(sum(a == b for a in first for b in second))


def values_of(kernel):
    """Return the same kernel, given only by its values."""
    return Kernel(lambda X, Y: kernel(X, Y))


def rows(n=400, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)) + 0.5


CASES = {
    "poly": (sklearn_kernel("poly", degree=2, n_features=3), rows()),
    "cosine": (sklearn_kernel("cosine", n_features=3), rows()),
    "string": (
        sklearn_kernel(spectrum, n_features=1),
        np.random.default_rng(0).integers(len(WORDS), size=(200, 1)).astype(float),
    ),
}


def naive_cover(kernel, X, radius):
    """Apply Algorithm 2 with distances in feature space, row by row."""
    matrix = kernel(X)
    own = np.diag(matrix)
    centers, labels = [], []
    for i in range(len(X)):
        near = [j for j, c in enumerate(centers) if own[i] + own[c] - 2 * matrix[i, c] < radius**2]
        if not near:
            centers.append(i)
        labels.append(near[0] if near else len(centers) - 1)
    return centers, labels


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Gaussian(0.7)])
@pytest.mark.parametrize("ell", [2.0, 4.0, np.inf])
def test_the_cover_of_a_gaussian_equals_the_euclidean_cover(kernel, ell):
    X = datasets.blobs(600, 3)
    euclidean = ShadowDensity(kernel, ell=ell).fit(X)
    density = ShadowDensity(values_of(kernel), ell=ell).fit(X)
    np.testing.assert_array_equal(density.reduced_set_.centers, euclidean.reduced_set_.centers)
    np.testing.assert_array_equal(density.labels_, euclidean.labels_)
    np.testing.assert_array_equal(density.reduced_set_.weights, euclidean.reduced_set_.weights)
    assert density.ell_ == pytest.approx(ell)
    if np.isfinite(ell):
        distance = np.sqrt(2 * kernel.drop(euclidean.reduced_set_.radius))
        assert density.reduced_set_.radius == pytest.approx(distance)


@pytest.mark.parametrize("case", CASES)
def test_the_cover_equals_algorithm_2_row_by_row(case, monkeypatch):
    kernel, X = CASES[case]
    monkeypatch.setattr(value_cover, "_ROWS", 37)
    monkeypatch.setattr(value_cover, "_PANEL", 10)
    density = ShadowDensity(kernel, ell=2.0).fit(X)
    reduced_set = density.reduced_set_
    centers, labels = naive_cover(density.kernel_, X, reduced_set.radius)
    np.testing.assert_array_equal(reduced_set.centers, X[centers])
    np.testing.assert_array_equal(density.labels_, labels)
    own = kernel.diagonal(X)
    moved = own + own[centers][labels] - 2 * np.array([
        kernel(X[[i]], X[[centers[j]]])[0, 0] for i, j in enumerate(labels)
    ])  # fmt: skip
    sums = np.bincount(labels, np.sqrt(np.maximum(moved, 0)))
    np.testing.assert_allclose(reduced_set.displacement, sums, atol=1e-6)
    np.testing.assert_allclose(reduced_set.scatter, np.bincount(labels, moved), atol=1e-10)
    kappa = own.mean()
    assert reduced_set.radius == pytest.approx(np.sqrt(2 * kappa * (1 - np.exp(-1 / 4))))
    assert reduced_set.in_feature_space


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_the_model_equals_the_dense_method_on_the_quantized_rows(case, center):
    kernel, X = CASES[case]
    model = ReducedSetKernelPCA(3, kernel=kernel, ell=2.0, center=center).fit(X)
    assert model.n_centers_ < len(X)
    quantized = model.reduced_set_.centers[model.density_.labels_]
    matrix = kernel(quantized)
    if center:
        matrix = matrix - matrix.mean(axis=0) - matrix.mean(axis=1)[:, None] + matrix.mean()
    eigenvalues, vectors = np.linalg.eigh(matrix)
    leading = slice(None, -4, -1)
    np.testing.assert_allclose(model.eigenvalues_, eigenvalues[leading], rtol=1e-9)
    exact = vectors[:, leading] * np.sqrt(eigenvalues[leading])
    Z = model.transform(quantized)
    gaps = np.abs(np.diff(eigenvalues[::-1][:4])) / eigenvalues[-1]
    assert gaps.min() > 1e-6  # otherwise, the axes are not unique
    np.testing.assert_allclose(Z * np.sign((Z * exact).sum(axis=0)), exact, atol=1e-7)
    own = kernel.diagonal(quantized)
    if not center:
        np.testing.assert_allclose(
            model.reconstruction_error(quantized), own - (Z**2).sum(axis=1), atol=1e-9
        )


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("center", [True, False])
def test_guaranteed_bounds_hold(case, center):
    kernel, X = CASES[case]
    model = ReducedSetKernelPCA(2, kernel=kernel, ell=2.0, center=center).fit(X)
    levels = {level.name: level for level in model.certify(X).levels}
    measured = levels["measured"]
    for name in ("a priori", "a posteriori"):
        assert measured.mmd <= levels[name].mmd
        assert measured.operator <= levels[name].operator
    assert levels["a posteriori"].operator <= levels["a priori"].operator
    exact = ReducedSetKernelPCA(2, kernel=kernel, ell=np.inf, center=center).fit(X)
    low, high = model.certificate_.certain.T
    assert (low <= exact.eigenvalues_).all()
    assert (exact.eigenvalues_ <= high).all()


@pytest.mark.parametrize("case", CASES)
def test_chunks_can_be_added_forgotten_and_merged(case):
    kernel, X = CASES[case]
    first = X[:100]
    whole = ShadowDensity(kernel, ell=2.0).partial_fit(first).partial_fit(X[100:])
    parts = ShadowDensity(kernel, ell=2.0).partial_fit(first)
    for part in np.array_split(X[100:], 5):
        parts.partial_fit(part)
        parts = pickle.loads(pickle.dumps(parts)) if case != "string" else parts
    assert parts.reduced_set_ == whole.reduced_set_
    begun = ShadowDensity(kernel, ell=2.0).partial_fit(first)
    left = whole.forget(X[100:]).reduced_set_
    np.testing.assert_array_equal(left.weights, begun.reduced_set_.weights)
    other = ShadowDensity(kernel, ell=2.0).fit(X[100:])
    both = merge(begun, other).reduced_set_
    assert both.n_samples == len(X)
    assert both.radius == max(begun.reduced_set_.radius, other.reduced_set_.radius)
    assert both.in_feature_space


def test_automatic_ell_meets_the_tolerance():
    kernel, X = CASES["poly"]
    density = ShadowDensity(kernel, ell="auto", tol=0.2, error="mmd").fit(X)
    model = ReducedSetKernelPCA(2, kernel=kernel, density=density).fit(X)
    assert model.certify(X).levels[-1].mmd <= 0.2
    assert 1 < density.reduced_set_.n_centers < len(X)


def test_models_with_named_kernels_can_be_saved(tmp_path):
    X = rows()
    model = ReducedSetKernelPCA(2, kernel=NamedKernel("poly", degree=2), ell=2.0).fit(X)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert again.reduced_set_ == model.reduced_set_
    assert again.partial_fit(X).reduced_set_ == model.partial_fit(X).reduced_set_


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(2.0), NamedKernel("cosine")])
@pytest.mark.parametrize("options", [{}, {"basis": 20}, {"basis": 20, "refine": "nystrom"}])
def test_results_for_sparse_rows_equal_those_for_dense_rows(kernel, options):
    X = np.where(np.abs(rows(d=6)) > 1, rows(d=6), 0.0)
    S = sparse.csr_array(X)
    model = ReducedSetKernelPCA(3, kernel=kernel, ell=2.0, **options)
    dense = clone(model).fit(X)
    model.fit(S)
    np.testing.assert_array_equal(model.density_.labels_, dense.density_.labels_)
    np.testing.assert_array_equal(model.reduced_set_.centers.toarray(), dense.reduced_set_.centers)
    np.testing.assert_allclose(model.transform(S), dense.transform(X), atol=1e-8)
    np.testing.assert_allclose(
        model.certificate_.embedding, dense.certificate_.embedding, rtol=1e-6, atol=1e-12
    )
    measured = [m.certify(rows).levels[-1] for m, rows in ((model, S), (dense, X))]
    if not options.get("refine"):
        assert measured[0].mmd == pytest.approx(measured[1].mmd, abs=1e-7)
    stacked = clone(model).set_params(refine=None)
    dense = clone(stacked).partial_fit(X[:100]).partial_fit(X[100:])
    for part in (S[:100], X[100:250], S[250:]):
        stacked.partial_fit(part)
    np.testing.assert_array_equal(stacked.reduced_set_.weights, dense.reduced_set_.weights)
    stacked.forget(S[250:]).partial_fit(S[250:])
    assert stacked.reduced_set_.n_samples == len(X)


def test_limited_and_merged_sparse_streams_equal_dense_streams():
    X = np.where(np.abs(rows(d=6)) > 1, rows(d=6), 0.0)
    S = sparse.csr_array(X)
    bounded = ShadowDensity(Gaussian(2.0), ell=4.0, max_centers=30)
    for part in (slice(0, 150), slice(150, 400)):
        bounded.partial_fit(S[part])
    dense = clone(bounded).fit(X)
    np.testing.assert_array_equal(bounded.reduced_set_.weights, dense.reduced_set_.weights)
    assert bounded.reduced_set_.radius == pytest.approx(dense.reduced_set_.radius)
    sparse_parts, dense_parts = (
        merge(
            *(
                ShadowDensity(Gaussian(2.0)).fit(data[part])
                for part in (slice(200), slice(200, 400))
            )
        )
        for data in (S, X)
    )
    np.testing.assert_array_equal(
        sparse_parts.reduced_set_.weights, dense_parts.reduced_set_.weights
    )
    scores = sparse_parts.score_samples(S), dense_parts.score_samples(X)
    np.testing.assert_allclose(*scores, rtol=1e-10)


BAD = {
    "max_centers": (
        ShadowDensity(NamedKernel("poly"), max_centers=10), "max_centers=10 requires a radial",
    ),
    "tol": (ShadowDensity(NamedKernel("poly"), tol=0.1), 'requires a radial kernel or ell="auto"'),
    "zero": (ShadowDensity(Kernel(lambda X, Y: 0 * X @ Y.T)), "positive for at least one row"),
    "sigmoid": (
        ReducedSetKernelPCA(2, kernel=NamedKernel("sigmoid", coef0=-1)), "positive definite",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_unsupported_settings_raise_errors(case):
    estimator, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        estimator.fit(rows())


def test_density_estimates_and_coarser_sets_require_a_radial_kernel():
    X = rows()
    density = ShadowDensity(NamedKernel("poly")).fit(X)
    with pytest.raises(ValueError, match="kernel must be a radial kernel"):
        density.score_samples(X)
    with pytest.raises(ValueError, match="coarsen requires Euclidean distances"):
        density.reduced_set_.coarsen(1.0)
    with pytest.raises(ValueError, match="cannot merge a set with Euclidean"):
        density.reduced_set_.merge(ShadowDensity(Gaussian(2.0)).fit(X).reduced_set_)

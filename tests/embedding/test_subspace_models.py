"""Test that a model whose points lie in a subspace equals the same model without the subspace."""

from dataclasses import replace

import numpy as np
import pytest

from rskpca import Gaussian, Laplacian, NystromKernelPCA, select_reduced_set
from rskpca._core import gram
from rskpca.baselines import compress_map, construct_reduced_set
from rskpca.kernels import sklearn_kernel
from tests import datasets

METHODS = ["ridge", "fixed-point", "distances"]


def rows(seed=0):
    return datasets.blobs(300, 20, seed=seed) * 0.8 ** np.arange(20)


def fit(kernel, n_centers=40):
    options = {"landmarks": "means", "n_centers": n_centers, "n_axes": 6}
    return NystromKernelPCA(3, kernel=kernel, **options).fit(rows())


def without_subspace(model):
    """Return a fitted model that evaluates the kernel with all features."""
    full, wider = (replace(system, subspace=None) for system in (model.system, model.wider))
    return replace(model, system=full, evaluated=full, wider=wider)


@pytest.fixture(params=[Gaussian(3.0), Laplacian(5.0)], ids=["gaussian", "laplacian"])
def models(request):
    """Return a model in a subspace, and the same model without it."""
    model = fit(request.param).model_
    assert model.system.subspace is not None
    return model, without_subspace(model)


def test_coordinates_and_residuals_are_equal(models):
    X = rows(1)
    for method in ("embed", "residuals"):
        found, expected = (getattr(model, method)(X) for model in models)
        np.testing.assert_allclose(found, expected, atol=1e-11)


def wide_model(decay):
    X = datasets.blobs(300, 150, seed=0) * decay ** np.arange(150)
    options = {"landmarks": "means", "n_centers": 40, "n_axes": 6}
    return NystromKernelPCA(3, kernel=Gaussian(12.0), **options).fit(X).model_, X


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_rows_with_many_features_are_projected_in_float32_if_the_model_is_not_exact(shift):
    model, X = wide_model(0.97)
    assert model.system.residual > 0.05 * model.system.trace
    moved = replace(model.system.subspace, origin=model.system.subspace.origin + shift)
    system = replace(model.system, centers=model.system.centers + shift, subspace=moved)
    expected = replace(system, subspace=None).extend(X + shift)
    found = system.extend(X + shift)
    assert found.dtype == np.float64
    assert 1e-13 < np.abs(found - expected).max() / np.abs(expected).max() < 3e-6


@pytest.mark.parametrize("distance", [10.0, 1e5])
def test_rows_are_projected_in_float64_if_centers_are_many_bandwidths_apart(distance):
    rng = np.random.default_rng(0)
    clusters = distance * np.eye(5, 120)[rng.integers(5, size=400)]
    X = clusters + 0.05 * rng.normal(size=clusters.shape)
    options = {"landmarks": "means", "n_centers": 40, "n_axes": 10}
    model = NystromKernelPCA(3, kernel=Gaussian(1.0), **options).fit(X).model_
    expected = replace(model.system, subspace=None).extend(X)
    found = model.system.extend(X)
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()


def test_rows_are_projected_in_float64_if_the_model_is_nearly_exact():
    model, X = wide_model(0.5)
    assert model.system.residual < 0.05 * model.system.trace
    expected = replace(model.system, subspace=None).extend(X)
    scale = np.abs(model.system.coefficients).sum(axis=0).max()  # coefficients cancel
    np.testing.assert_allclose(model.system.extend(X), expected, atol=1e-14 * scale)


@pytest.mark.parametrize("name", ["cosine", "poly", "linear"])
def test_kernels_without_a_bandwidth_extend_models_with_many_features(name):
    X = datasets.blobs(300, 150, seed=0)
    kernel = sklearn_kernel(name, n_features=150)
    model = NystromKernelPCA(3, kernel=kernel, landmarks="means", n_centers=40, n_axes=6).fit(X)
    Z, error = model.transform(X), model.model_.residuals(X)
    assert Z.shape == (300, 3)
    assert np.isfinite(Z).all()
    assert np.isfinite(error).all()


@pytest.mark.parametrize("method", METHODS)
def test_preimages_are_equal(method):
    model = fit(Gaussian(3.0)).model_
    Z = model.embed(rows(1)[:40])
    found, expected = (m.preimages(Z, method) for m in (model, without_subspace(model)))
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_certificates_and_errors_of_rows_are_equal(models):
    found, expected = (model.certificate for model in models)
    np.testing.assert_allclose(found.embedding, expected.embedding, rtol=1e-7)
    np.testing.assert_allclose(found.likely, expected.likely, rtol=1e-7)
    found, expected = (model.row_errors(rows(1)) for model in models)
    np.testing.assert_allclose(found.coordinates, expected.coordinates, rtol=1e-6)


def test_kernel_values_are_never_computed_with_all_features(monkeypatch):
    model, X = fit(Gaussian(3.0)).model_, rows(1)
    prepare, seen = gram.Centers.prepare, []

    def record(C, scale, dtype, subspace=None, **options):
        seen.append(subspace)
        return prepare(C, scale, dtype, subspace, **options)

    monkeypatch.setattr(gram.Centers, "prepare", record)
    model.embed(X), model.residuals(X), model.residuals(X)
    assert [subspace is model.system.subspace for subspace in seen] == [True, True]


@pytest.mark.parametrize(
    ("compress", "serves"),
    [(select_reduced_set, True), (construct_reduced_set, True), (compress_map, False)],
)
def test_a_compressed_model_uses_the_subspace_only_if_its_points_lie_in_it(compress, serves):
    kernel = Gaussian(3.0)
    model = fit(kernel, 60)
    small = compress(model, 20, *([] if serves else [rows()]))
    system = small.eigensystem_
    assert (system.subspace is not None) == serves
    expected = replace(system, subspace=None).extend(rows(1))
    np.testing.assert_allclose(system.extend(rows(1)), expected, atol=1e-9)
    assert np.abs(small.transform(rows(1)) - model.transform(rows(1))).max() < 0.05

"""Test that a model whose points lie in a subspace equals the same model without the subspace."""

from dataclasses import replace

import numpy as np
import pytest

from rskpca import Gaussian, Laplacian, NystromKernelPCA, select_reduced_set
from rskpca._core import gram
from rskpca.baselines import compress_map, construct_reduced_set
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

    def record(C, scale, dtype, subspace=None):
        seen.append(subspace)
        return prepare(C, scale, dtype, subspace)

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

"""Test the predicted displacements and errors against their definitions."""

import numpy as np
import pytest

from rskpca import Gaussian, Laplacian, ReducedSetKernelPCA, ShadowDensity
from rskpca.planning.distortion import coordinate_error, distortion
from tests import datasets, dense


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(2.0)], ids=["Gaussian", "Laplacian"])
@pytest.mark.parametrize("ell", [2.0, 4.0])
def test_the_error_is_exact_if_the_sample_is_the_data(kernel, ell):
    X = datasets.blobs(300, 2)
    density = ShadowDensity(kernel, ell).fit(X)
    Q = density.reduced_set_.centers[density.labels_]

    def mean_squared_kernel(A, B):
        return np.exp(2 * dense.log_kernel(kernel, A, B)).mean()

    squared = mean_squared_kernel(X, X) + mean_squared_kernel(Q, Q) - 2 * mean_squared_kernel(X, Q)
    moved = distortion(X, kernel, kernel.scale / ell)
    kept = density.reduced_set_.n_centers / 300
    assert moved.operator_error(kept, 300) == pytest.approx(np.sqrt(squared), rel=1e-6)
    values = np.exp(np.diagonal(dense.log_kernel(kernel, X, Q)))
    expected = np.mean(np.sqrt(2 - 2 * values))
    assert moved.mean_displacement(kept) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("radius", [0.25, 0.0])
def test_the_error_is_zero_if_every_row_is_a_center(radius):
    moved = distortion(np.arange(100.0)[:, None], Gaussian(1.0), radius)
    assert moved.operator_error(1.0, 2000) == moved.mean_displacement(1.0) == 0


def test_a_sample_predicts_the_displacement_of_all_rows():
    X = datasets.load("pendigits")
    kernel = Gaussian().resolve(X)
    density = ShadowDensity(kernel, 4.0).fit(X)
    squared = np.sum((X - density.reduced_set_.centers[density.labels_]) ** 2, axis=1)
    seen = np.mean(np.sqrt(2 - 2 * np.exp(-squared / kernel.scale**2)))
    sample = X[np.random.default_rng(0).permutation(len(X))[:549]]
    kept = density.reduced_set_.n_centers / len(X)
    moved = distortion(sample, kernel, kernel.scale / 4).mean_displacement(kept)
    assert moved == pytest.approx(seen, rel=0.1)


# ------------------------------------------------------------------- error of the coordinates


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(2.0)], ids=["Gaussian", "Laplacian"])
@pytest.mark.parametrize("ell", [2.0, 4.0])
def test_the_error_equals_that_of_the_certificate_if_the_sample_is_the_data(kernel, ell):
    X = datasets.blobs(300, 2)
    model = ReducedSetKernelPCA(3, kernel=kernel, ell=ell).fit(X)
    found = coordinate_error(
        X, kernel, kernel.scale / ell, 3, n_centers=model.n_centers_, n_samples=300
    )
    assert found == pytest.approx(model.certificate_.embedding.estimate, rel=1e-6)


@pytest.mark.parametrize("name", ["pendigits", "magic"])
def test_a_sample_predicts_the_error_of_the_coordinates(name):
    X = datasets.load(name)
    X = X[np.random.default_rng(0).permutation(len(X))]
    kernel = Gaussian().resolve(X)
    model = ReducedSetKernelPCA(4, kernel=kernel, ell=4.0).fit(X)
    counts = {"n_centers": model.n_centers_, "n_samples": len(X)}
    found = coordinate_error(X[:1000], kernel, kernel.scale / 4, 4, **counts)
    assert 0.5 < found / model.certificate_.embedding.estimate < 2


def test_the_error_is_unknown_for_few_rows_many_components_or_one_center():
    X = datasets.blobs(300, 2)
    options = {"n_centers": 50, "n_samples": 1000}
    assert coordinate_error(X[:31], Gaussian(2.0), 0.5, 3, **options) is None
    assert coordinate_error(X, Gaussian(2.0), 0.5, 101, **options) is None
    assert coordinate_error(X, Gaussian(2.0), 100.0, 3, n_centers=1, n_samples=1000) is None
    assert coordinate_error(X, Gaussian(2.0), 0.5, 3, n_centers=300, n_samples=300) == 0
    assert coordinate_error(X, Gaussian(2.0), 0.0, 3, **options) == 0

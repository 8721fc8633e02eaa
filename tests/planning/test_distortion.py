"""The expected error is the error itself where the sample is all of the data."""

import numpy as np
import pytest

from rskpca import Gaussian, Laplacian, ShadowDensity
from rskpca.planning.distortion import distortion
from tests import datasets, dense


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(2.0)], ids=["Gaussian", "Laplacian"])
@pytest.mark.parametrize("ell", [2.0, 4.0])
def test_on_all_of_the_data_it_is_the_hilbert_schmidt_distance(kernel, ell):
    X = datasets.blobs(300, 2)
    density = ShadowDensity(kernel, ell).fit(X)
    Q = density.reduced_set_.centers[density.labels_]

    def squared_kernel(A, B):
        return np.exp(2 * dense.log_kernel(kernel, A, B)).mean()

    squared = squared_kernel(X, X) + squared_kernel(Q, Q) - 2 * squared_kernel(X, Q)
    moved = distortion(X, kernel, kernel.scale / ell)
    kept = density.reduced_set_.n_centers / 300
    assert moved.operator_error(kept, 300) == pytest.approx(np.sqrt(squared), rel=1e-6)
    values = np.exp(np.diagonal(dense.log_kernel(kernel, X, Q)))
    expected = np.mean(np.sqrt(2 - 2 * values))
    assert moved.mean_displacement(kept) == pytest.approx(expected, rel=1e-9)


def test_rows_that_never_meet_have_no_error():
    moved = distortion(np.arange(100.0)[:, None], Gaussian(1.0), 0.25)
    assert moved.operator_error(1.0, 2000) == moved.mean_displacement(1.0) == 0


def test_a_sample_tells_the_displacement_of_all_rows():
    X = datasets.load("pendigits")
    kernel = Gaussian().resolve(X)
    density = ShadowDensity(kernel, 4.0).fit(X)
    squared = np.sum((X - density.reduced_set_.centers[density.labels_]) ** 2, axis=1)
    seen = np.mean(np.sqrt(2 - 2 * np.exp(-squared / kernel.scale**2)))
    sample = X[np.random.default_rng(0).permutation(len(X))[:549]]
    kept = density.reduced_set_.n_centers / len(X)
    moved = distortion(sample, kernel, kernel.scale / 4).mean_displacement(kept)
    assert moved == pytest.approx(seen, rel=0.1)

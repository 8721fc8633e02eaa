"""Test the errata on remarks and tables of the paper numerically."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial.distance import cdist

from experiments.table02 import count_stored
from rskpca import Gaussian, NystromKernelPCA, RadialKernel, ReducedSet, ReducedSetKernelPCA
from rskpca.certificate import hilbert_schmidt, mmd
from tests import datasets

COSINE = RadialKernel(np.cos, power=1, bandwidth=1.0)  # positive definite on the line


def measured_mmd(X, Y, kernel):
    K = [kernel(cdist(A, B)).mean() for A, B in ((X, X), (X, Y), (Y, Y))]
    return np.sqrt(max(K[0] - 2 * K[1] + K[2], 0.0))


def printed_bound(ell):
    """Return the bound of Theorem 5.1 for the cosine."""
    return np.sqrt(max(2 * (1 - np.cos(1 / ell)), 0.0))


def test_theorem_5_1_fails_for_a_profile_that_increases():
    ell = 1 / (2 * np.pi)
    row, center = np.array([[np.pi]]), np.array([[0.0]])
    assert np.abs(row - center).item() < 1 / ell
    assert printed_bound(ell) < 1e-7
    assert measured_mmd(row, center, np.cos) == pytest.approx(2.0)
    assert mmd.bound(COSINE, ell) is None  # the library does not use the bound


def test_theorem_5_3_fails_for_a_profile_that_increases():
    """The squared error is the squared MMD under k^2."""
    ell = 1 / (2 * np.pi)
    rows, centers = np.array([[0.0], [np.pi / 2]]), np.array([[0.0], [0.0]])
    error = measured_mmd(rows, centers, lambda r: np.cos(r) ** 2)
    assert error > 0.5
    assert 2 * printed_bound(ell) < 1e-7
    assert hilbert_schmidt.bound(COSINE, ell) is None


def test_axes_have_unit_norm_if_eigenvectors_are_divided_by_the_roots_of_the_eigenvalues():
    X = datasets.blobs(60, 3)
    K = np.exp(-cdist(X, X, "sqeuclidean") / 4.0)
    values, vectors = np.linalg.eigh(K)
    values, vectors = values[:-4:-1], vectors[:, :-4:-1]
    for power, norms in ((0.5, np.ones(3)), (1.0, 1 / values)):
        a = vectors / values**power
        np.testing.assert_allclose(np.sum(a * (K @ a), axis=0), norms, rtol=1e-10)
    model = ReducedSetKernelPCA(3, bandwidth=2.0, ell=np.inf, center=False).fit(X)
    np.testing.assert_allclose(
        np.abs(model.transform(X)), np.abs(vectors) * np.sqrt(values), atol=1e-9
    )


def test_the_mmd_is_the_distance_between_density_estimates_with_a_narrower_kernel():
    rng, sigma = np.random.default_rng(0), 1.7
    X, Y = rng.normal(size=(7, 1)), rng.normal(1.0, 2.0, size=(7, 1))

    def squared_difference(x, bandwidth):
        p, q = (np.exp(-(((x - Z) / bandwidth) ** 2)).mean() for Z in (X, Y))
        return (p - q) ** 2

    def distance(bandwidth):
        squared = quad(squared_difference, -30, 30, args=(bandwidth,), limit=200)[0]
        return np.sqrt(squared)

    factor = np.sqrt(2 / (sigma * np.sqrt(np.pi)))
    found = measured_mmd(X, Y, lambda r: np.exp(-((r / sigma) ** 2)))
    assert found == pytest.approx(factor * distance(sigma / np.sqrt(2)), rel=1e-8)
    assert found == pytest.approx(mmd.measure(Gaussian(sigma), X, ReducedSet(Y, np.ones(7))))
    # With the squared distance, or with the kernel k itself, other data give another ratio.
    other = 2 * Y
    ratios = [
        [d(sigma / np.sqrt(2)) / m, d(sigma / np.sqrt(2)) ** 2 / m, d(sigma) / m]
        for d, m in ((distance, found), _moved(X, other, sigma))
    ]
    agrees = np.isclose(*ratios, rtol=1e-6)
    np.testing.assert_array_equal(agrees, [True, False, False])


def _moved(X, Y, sigma):
    def distance(bandwidth):
        def difference(x):
            p, q = (np.exp(-(((x - Z) / bandwidth) ** 2)).mean() for Z in (X, Y))
            return (p - q) ** 2

        return np.sqrt(quad(difference, -60, 60, limit=400)[0])

    return distance, measured_mmd(X, Y, lambda r: np.exp(-((r / sigma) ** 2)))


def test_models_store_points_as_well_as_coefficients():
    X, r = datasets.blobs(200, 12), 3
    reduced = ReducedSetKernelPCA(r, bandwidth=4.0).fit(X)
    assert count_stored(reduced) == reduced.n_centers_ * (r + 12)
    nystrom = NystromKernelPCA(r, bandwidth=4.0, landmarks=20, extension="data").fit(X)
    assert count_stored(nystrom) == 200 * (r + 12)

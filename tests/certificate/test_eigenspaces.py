"""Test the bounds on angles between eigenspaces (Theorem 5.4)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rskpca import Gaussian
from rskpca.certificate import eigenspaces, eigenvalues, hilbert_schmidt
from tests import datasets
from tests.certificate import cases
from tests.certificate.cases import IDS, KERNELS, centering, matrix


def projection_distance(kernel, X, Q, D, center):
    """Return ||P - P-bar||_HS in an orthonormal basis of the span of all points."""
    n = len(X)
    values, vectors = np.linalg.eigh(matrix(kernel, np.concatenate([X, Q]), np.concatenate([X, Q])))
    coordinates = vectors * np.sqrt(np.maximum(values, 0))
    H = centering(n) if center else np.eye(n)
    projections = []
    for part in (coordinates[:n], coordinates[n:]):
        axes = np.linalg.eigh(part.T @ H @ part)[1][:, -D:]
        projections.append(axes @ axes.T)
    return np.linalg.norm(projections[0] - projections[1])


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
@pytest.mark.parametrize("center", [False, True])
def test_measured_distances_match_the_definition(kernel, center):
    X = datasets.blobs(60, 2)
    s, labels = cases.shadow(kernel, X, 1.2)
    expected = projection_distance(kernel, X, s.centers[labels], 2, center)
    found = eigenspaces.measure(kernel, X, s, 2, center=center)
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("theorem", [eigenspaces, eigenvalues])
def test_operators_are_compared_without_centering_by_default(theorem):
    X, kernel = datasets.blobs(60, 2), Gaussian(1.0)
    s, _ = cases.shadow(kernel, X, 1.2)
    plain, centered = (theorem.measure(kernel, X, s, 2, center=c) for c in (False, True))
    np.testing.assert_array_equal(theorem.measure(kernel, X, s, 2), plain)
    assert np.all(plain != centered)


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 1.0), st.integers(1, 4))
@settings(max_examples=200, deadline=None)
def test_angles_between_eigenspaces_never_exceed_the_bounds(seed, size, D):
    rng = np.random.default_rng(seed)
    A = np.diag(np.sort(rng.random(6) ** 2)[::-1])
    gap = A[D - 1, D - 1] - A[D, D]
    B = rng.normal(size=(6, 6))
    B = (B + B.T) / np.linalg.norm(B + B.T) * size * gap
    P, Q = (axes[:, -D:] @ axes[:, -D:].T for axes in (np.linalg.eigh(M)[1] for M in (A, A + B)))
    sines = np.linalg.norm(P - Q) / np.sqrt(2)
    error = np.linalg.norm(B)
    sine, distance = eigenspaces.davis_kahan(error, gap), eigenspaces.zwald_blanchard(error, gap)
    assert (sine is None) == (error >= gap / 2)
    assert (distance is None) == (error >= gap / 4)
    if sine is not None:
        assert sines <= sine + 1e-9
    if distance is not None:
        assert np.sqrt(2) * sines <= distance + 1e-9
        assert np.sqrt(2) * sine <= distance  # the Davis-Kahan bound is never worse


def test_the_worst_case_gives_no_bound_for_any_ell_in_the_paper():
    """No gap exceeds kappa = 1, and the error bound must be below a quarter of the gap."""
    kernel = Gaussian(1.0)
    for ell in (3.0, 4.0, 5.0):
        assert eigenspaces.bound(kernel, 1.0, ell) is None
    error = hilbert_schmidt.bound(kernel, 20.0)
    assert eigenspaces.bound(kernel, 1.0, 20.0) == pytest.approx(2 * error)

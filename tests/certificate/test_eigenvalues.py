"""Test the bounds on eigenvalues (Theorem 5.2)."""

import numpy as np
import pytest
from hypothesis import given, settings

from rskpca import Gaussian, Laplacian, RadialKernel, ReducedSet
from rskpca.certificate import eigenvalues
from tests import datasets
from tests.certificate import cases
from tests.certificate.cases import CAUCHY, IDS, KERNELS, centering, matrix


def differences(kernel, X, Q, center=False):
    n = len(X)
    H = centering(n) if center else np.eye(n)
    both = [np.linalg.eigvalsh(H @ matrix(kernel, Y, Y) @ H / n) for Y in (X, Q)]
    return (both[0] - both[1])[::-1]


def outward(kernel, steepest, epsilon=1e-3):
    """Return two tight groups at the steepest distance, displaced outward from their centers."""
    centers = steepest * np.array([[-0.5], [0.5]])
    labels = np.repeat([0, 1], 10)
    moved = epsilon * np.sign(centers)[labels]
    return cases.reduced_set(centers, labels, moved, epsilon)


@pytest.mark.parametrize(
    ("kernel", "steepest", "ratio"),
    [(Gaussian(1.0), np.sqrt(0.5), np.sqrt(4 / np.e)), (Laplacian(1.0), 1e-2, 0.99)],
    ids=["Gaussian", "Laplacian"],
)
def test_the_printed_constant_is_violated_or_nearly_attained(kernel, steepest, ratio):
    """The printed bound is violated for the Gaussian and almost attained for the Laplacian."""
    X, s = outward(kernel, steepest)
    error = np.sqrt(np.sum(differences(kernel, X, np.repeat(s.centers, 10, axis=0)) ** 2))
    printed = eigenvalues.bound(kernel, radius=1e-3, printed=True)
    assert error / printed == pytest.approx(ratio, rel=5e-3)
    assert error <= eigenvalues.bound(kernel, radius=1e-3)
    assert error >= 0.98 * eigenvalues.bound(kernel, radius=1e-3)  # the bound is sharp


@pytest.mark.parametrize(("kernel", "a"), [(Gaussian(1.0), np.sqrt(0.5)), (Laplacian(1.0), 0.0)])
def test_the_printed_constant_violates_the_inequality_it_is_derived_from(kernel, a):
    step = 1e-3
    X = np.array([[0.0], [-step], [a + step], [a + 2 * step]])
    k = matrix(kernel, X, X)
    change = (k[0, 2] - k[1, 3]) ** 2
    moved = 2 * step**2
    assert change > 1.4 * eigenvalues.printed_constant(kernel) * moved
    assert change <= eigenvalues.constant(kernel) * moved


def test_constants_have_the_documented_values():
    assert eigenvalues.constant(Gaussian(2.0)) == pytest.approx(4 / (np.e * 4))
    assert eigenvalues.constant(Laplacian(2.0)) == pytest.approx(2 / 4)
    assert eigenvalues.printed_constant(Gaussian(2.0)) == pytest.approx(1 / 8)
    assert eigenvalues.printed_constant(Laplacian(2.0)) == pytest.approx(1 / 4)
    with pytest.raises(ValueError, match="gives no constant"):
        eigenvalues.bound(CAUCHY, 4.0, printed=True)


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_measured_errors_match_the_definition(kernel):
    X = datasets.blobs(60, 3)
    s, labels = cases.shadow(kernel, X, 0.8)
    Q = s.centers[labels]
    gram = np.linalg.norm(matrix(kernel, X, X) - matrix(kernel, Q, Q)) / 60
    assert eigenvalues.measure_gram(kernel, X, s.centers, labels) == pytest.approx(gram)
    for center in (False, True):
        found = eigenvalues.measure(kernel, X, s, 5, center=center)
        expected = np.abs(differences(kernel, X, Q, center)[:5])
        np.testing.assert_allclose(found, expected, atol=1e-12)


@given(case=cases.quantized(), kernel=cases.kernels)
@settings(max_examples=150, deadline=None)
def test_measured_errors_never_exceed_the_bounds(case, kernel):
    X, s = cases.reduced_set(*case)
    from_sums = eigenvalues.from_sums(kernel, s)
    assert from_sums <= eigenvalues.bound(kernel, radius=s.radius) * (1 + 1e-8)
    for center in (False, True):
        error = np.linalg.norm(differences(kernel, X, s.centers[case[1]], center))
        assert error <= from_sums + 1e-12


def test_missing_information_leads_to_a_weaker_bound_or_none():
    bare = RadialKernel(lambda s: 1 / (1 + s), 2, 1.0)
    s = ReducedSet(np.zeros((1, 1)), np.ones(1), 0.5)
    assert eigenvalues.bound(bare, 4.0) is None
    assert eigenvalues.constant(bare) is None
    assert eigenvalues.from_sums(bare, s) is None
    assert eigenvalues.from_sums(Gaussian(1.0), s) == eigenvalues.bound(Gaussian(1.0), radius=0.5)
    assert eigenvalues.from_sums(Gaussian(1.0), ReducedSet(np.zeros((1, 1)), np.ones(1))) is None

"""Test the Hilbert-Schmidt bounds for plain and centered operators (Theorem 5.3)."""

import numpy as np
import pytest
from hypothesis import given, settings

from rskpca import Gaussian, Laplacian, ReducedSet
from rskpca.certificate import hilbert_schmidt
from tests import datasets
from tests.certificate import cases
from tests.certificate.cases import IDS, KERNELS, QUARTER, ROUNDING, STEEP


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
@pytest.mark.parametrize("center", [False, True])
def test_measured_errors_match_the_definition(kernel, center):
    X = datasets.blobs(50, 3)
    s, labels = cases.shadow(kernel, X, 0.8)
    expected = cases.operator_error(kernel, X, s.centers[labels], center)
    found = hilbert_schmidt.measure(kernel, X, s, center=center)
    assert found == pytest.approx(expected, rel=1e-8)


def test_the_printed_factor_is_too_small_if_kappa_is_below_one():
    """A single point displaced by the radius violates the printed bound."""
    s = ReducedSet(np.zeros((1, 1)), np.ones(1), 0.5)
    measured = hilbert_schmidt.measure(QUARTER, np.array([[0.5]]), s)
    assert measured > 1.3 * hilbert_schmidt.bound(QUARTER, radius=0.5, printed=True)
    assert measured <= hilbert_schmidt.bound(QUARTER, radius=0.5)
    assert measured == pytest.approx(hilbert_schmidt.sharp_bound(QUARTER, radius=0.5))


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(2.0)], ids=["Gaussian", "Laplacian"])
def test_the_bounds_equal_the_formulas(kernel):
    k = np.exp(-((1 / 4.0) ** kernel.power))
    assert hilbert_schmidt.bound(kernel, 4.0) == pytest.approx(2 * np.sqrt(2 * (1 - k)))
    assert hilbert_schmidt.bound(kernel, 4.0, printed=True) == hilbert_schmidt.bound(kernel, 4.0)
    sharp = np.sqrt(2 * (1 - k**2))
    assert hilbert_schmidt.sharp_bound(kernel, 4.0) == pytest.approx(sharp)
    assert hilbert_schmidt.sharp_bound(kernel, radius=0.5) == pytest.approx(sharp)


@pytest.mark.parametrize("bound", [hilbert_schmidt.bound, hilbert_schmidt.sharp_bound])
def test_the_bounds_require_either_a_valid_ell_or_a_radius(bound):
    with pytest.raises(ValueError, match="Pass either ell or radius, but not both"):
        bound(Gaussian(2.0), 4.0, radius=1.0)
    for ell in (0.0, -1.0):
        with pytest.raises(ValueError, match=f"ell must be .*got {ell}"):
            bound(Gaussian(2.0), ell)


@given(case=cases.quantized(), kernel=cases.kernels)
@settings(max_examples=150, deadline=None)
def test_measured_errors_never_exceed_the_bounds(case, kernel):
    X, s = cases.reduced_set(*case)
    rounding = ROUNDING * kernel.kappa
    measured = hilbert_schmidt.measure(kernel, X, s)
    from_sums = hilbert_schmidt.from_sums(kernel, s)
    sharp = hilbert_schmidt.sharp_bound(kernel, radius=s.radius)
    assert measured <= from_sums + rounding
    assert from_sums <= sharp * (1 + 1e-8)
    assert sharp <= hilbert_schmidt.bound(kernel, radius=s.radius) * (1 + 1e-12)


@given(case=cases.quantized(), kernel=cases.kernels)
@settings(max_examples=100, deadline=None)
def test_measured_errors_of_centered_operators_never_exceed_the_bounds(case, kernel):
    X, s = cases.reduced_set(*case)
    rounding = ROUNDING * kernel.kappa
    measured = hilbert_schmidt.measure(kernel, X, s, center=True)
    from_sums = hilbert_schmidt.centered_from_sums(kernel, s)
    prior = hilbert_schmidt.centered_bound(kernel, radius=s.radius)
    assert measured <= from_sums + rounding
    assert from_sums <= prior * (1 + 1e-8)
    assert prior <= hilbert_schmidt.bound(kernel, radius=s.radius) * (1 + 1e-12)
    assert hilbert_schmidt.sharp_bound(kernel, radius=s.radius) <= prior * (1 + 1e-3)


@given(case=cases.quantized())
@settings(max_examples=50, deadline=None)
def test_no_eigenvalue_of_a_centered_operator_exceeds_half_of_kappa(case):
    """This is true for all non-negative kernels."""
    X, _ = cases.reduced_set(*case)
    H = cases.centering(len(X))
    largest = np.linalg.eigvalsh(H @ cases.matrix(STEEP, X, X) @ H / len(X))[-1]
    assert largest <= STEEP.kappa / 2 * (1 + 1e-9)


def test_half_of_kappa_is_attained():
    far = np.array([[0.0], [50.0]])
    H = cases.centering(2)
    largest = np.linalg.eigvalsh(H @ cases.matrix(STEEP, far, far) @ H / 2)[-1]
    assert largest == pytest.approx(STEEP.kappa / 2)


def test_no_bound_is_available_without_sums_and_radius():
    s = ReducedSet(np.zeros((1, 1)), np.ones(1))
    assert hilbert_schmidt.from_sums(Gaussian(1.0), s) is None
    assert hilbert_schmidt.centered_from_sums(Gaussian(1.0), s) is None

"""Theorem 5.3, plain and about the mean."""

import numpy as np
import pytest
from hypothesis import given, settings

from rskpca import Gaussian, Laplacian, ReducedSet
from rskpca.bounds import hilbert_schmidt
from rskpca.spectral import Centered, solve
from tests import datasets
from tests.bounds import cases
from tests.bounds.cases import IDS, KERNELS, QUARTER, ROUNDING


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
@pytest.mark.parametrize("center", [False, True])
def test_measured_is_the_definition(kernel, center):
    X = datasets.blobs(50, 3)
    s, labels = cases.shadow(kernel, X, 0.8)
    expected = cases.operator_error(kernel, X, s.centers[labels], center)
    found = hilbert_schmidt.measured(kernel, X, s, center=center)
    assert found == pytest.approx(expected, rel=1e-8)


def test_the_printed_factor_is_too_small_where_kappa_is_below_one():
    """One point, moved by the radius."""
    s = ReducedSet(np.zeros((1, 1)), np.ones(1), 0.5)
    measured = hilbert_schmidt.measured(QUARTER, np.array([[0.5]]), s)
    assert measured > 1.3 * hilbert_schmidt.bound(QUARTER, radius=0.5, printed=True)
    assert measured <= hilbert_schmidt.bound(QUARTER, radius=0.5)
    assert measured == pytest.approx(hilbert_schmidt.sharp_bound(QUARTER, radius=0.5))


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(2.0)], ids=["Gaussian", "Laplacian"])
def test_the_formulas(kernel):
    k = np.exp(-((1 / 4.0) ** kernel.power))
    assert hilbert_schmidt.bound(kernel, 4.0) == pytest.approx(2 * np.sqrt(2 * (1 - k)))
    assert hilbert_schmidt.bound(kernel, 4.0, printed=True) == hilbert_schmidt.bound(kernel, 4.0)
    sharp = np.sqrt(2 * (1 - k**2))
    assert hilbert_schmidt.sharp_bound(kernel, 4.0) == pytest.approx(sharp)
    assert hilbert_schmidt.sharp_bound(kernel, radius=0.5) == pytest.approx(sharp)


@given(case=cases.quantized(), kernel=cases.kernels)
@settings(max_examples=150, deadline=None)
def test_never_below_what_is_measured(case, kernel):
    X, s = cases.reduced_set(*case)
    rounding = ROUNDING * kernel.kappa
    measured = hilbert_schmidt.measured(kernel, X, s)
    by_sums = hilbert_schmidt.from_sums(kernel, s)
    sharp = hilbert_schmidt.sharp_bound(kernel, radius=s.radius)
    assert measured <= by_sums + rounding
    assert by_sums <= sharp * (1 + 1e-8)
    assert sharp <= hilbert_schmidt.bound(kernel, radius=s.radius) * (1 + 1e-12)


@given(case=cases.quantized(), kernel=cases.kernels)
@settings(max_examples=100, deadline=None)
def test_never_below_what_is_measured_about_the_mean(case, kernel):
    X, s = cases.reduced_set(*case)
    variance = _variance(kernel, s)
    rounding = ROUNDING * kernel.kappa
    measured = hilbert_schmidt.measured(kernel, X, s, center=True)
    assert measured <= hilbert_schmidt.centered_from_sums(kernel, s, variance) + rounding
    loose = hilbert_schmidt.centered_from_sums(kernel, s)
    assert measured <= loose + rounding
    assert loose <= hilbert_schmidt.bound(kernel, radius=s.radius) * (1 + 1e-8)


def _variance(kernel, s):
    if s.n_centers == 1:
        return 0.0
    return solve(Centered(), kernel, s, 1).trace / s.n_samples


def test_nothing_known_of_the_points():
    s = ReducedSet(np.zeros((1, 1)), np.ones(1))
    assert hilbert_schmidt.from_sums(Gaussian(1.0), s) is None
    assert hilbert_schmidt.centered_from_sums(Gaussian(1.0), s) is None

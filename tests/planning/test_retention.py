"""Test how the number of centers is predicted and how it depends on ell."""

import numpy as np
import pytest

from rskpca import Gaussian, ShadowDensity, plan
from rskpca._core import reference
from rskpca.density.forecast import count_centers, extrapolate, forecast
from rskpca.planning.retention import _nondecreasing, retention
from tests import datasets

# ------------------------------------------------------------------- one value of ell


def test_the_counts_equal_those_of_algorithm_2():
    X = datasets.blobs(300, 2)
    opened = reference.cover(X, 0.7)[0]
    expected = np.cumsum(np.isin(np.arange(300), opened))
    np.testing.assert_array_equal(count_centers(X, 0.7), expected)


@pytest.mark.parametrize("slope", [0.01, 0.3, 0.9])
@pytest.mark.parametrize("decay", [1e-6, 0.1, 0.5, 1.0])
def test_extrapolation_recovers_the_growth_law(slope, decay):
    def m(t):
        return 500 * np.exp(slope * (1 - (t / 1000) ** -decay) / decay)

    t = np.unique(np.geomspace(10, 1000, 40).astype(int))
    assert extrapolate(t, m(t), 20_000) == pytest.approx(m(20_000), rel=1e-3)


def test_extrapolation_does_not_depend_on_the_units():
    t = np.geomspace(1e4, 1e6, 40)
    m = 5000 * (1 + t / 2e4) ** 0.3
    assert extrapolate(t, m, 1e7) == pytest.approx(2 * extrapolate(t / 10, m / 2, 1e6))


def test_extrapolation_ignores_the_first_rows():
    t = np.geomspace(1, 1000, 60)
    m = 3 * t**0.5
    early = t < 1000 / 16
    assert extrapolate(t, np.where(early, 1.0, m), 1e5) == pytest.approx(extrapolate(t, m, 1e5))


def test_a_saturated_curve_remains_constant():
    rng = np.random.default_rng(0)
    X = 100.0 * rng.integers(5, size=(1000, 2)) + 0.01 * rng.normal(size=(1000, 2))
    found = forecast(X, 10.0, 10**7, np.random.RandomState(0))
    assert found.value == pytest.approx(25, rel=0.05)
    assert found.low <= 25 <= found.high


def test_isolated_rows_all_become_centers():
    X = np.arange(1000.0)[:, None]
    for radius in (0.5, 0.0):
        found = forecast(X, radius, 20_000, np.random.RandomState(0))
        assert found.value == pytest.approx(20_000, rel=0.01)
        assert found.high <= 20_000


def test_centers_are_counted_if_the_sample_contains_all_rows():
    X = datasets.blobs(500, 2)
    found = forecast(X, 0.5, 500, np.random.RandomState(0))
    assert found.low == found.value == found.high == len(reference.cover(X, 0.5)[0])


@pytest.mark.parametrize("n_rows", [2, 3, 20])
def test_tiny_samples_give_a_valid_interval(n_rows):
    found = forecast(datasets.blobs(n_rows, 2), 0.5, 1000, np.random.RandomState(0))
    assert 1 <= found.low <= found.value <= found.high <= 1000


@pytest.mark.parametrize("name", ["pendigits", "skin", "magic"])
def test_the_number_of_centers_for_real_data_is_predicted_from_5_percent_of_the_rows(name):
    X = datasets.load(name)
    for seed in range(2):
        rng = np.random.RandomState(seed)
        sample = X[rng.choice(len(X), len(X) // 20, replace=False)]
        kernel = Gaussian().resolve(X)
        for ell in (3, 5):
            seen = count_centers(X, kernel.scale / ell)[-1]
            found = forecast(sample, kernel.scale / ell, len(X), rng)
            assert abs(found.value / seen - 1) < 0.3
            assert found.low <= seen <= found.high


# --------------------------------------------------------------- several values of ell


def test_decreasing_values_are_averaged():
    columns = np.array([[1.0], [4.0], [2.0], [5.0]])
    np.testing.assert_array_equal(_nondecreasing(columns).T, [[1, 3, 3, 5]])


def test_the_curve_for_all_rows_equals_the_counted_centers():
    X = datasets.blobs(400, 3)
    kernel = Gaussian(4.0)
    curve = retention(X, kernel, len(X), (2.0, 4.0, 8.0))
    exact = [ShadowDensity(kernel, ell).fit(X).reduced_set_.n_centers for ell in curve.ells]
    np.testing.assert_array_equal(curve.n_centers, exact)
    np.testing.assert_array_equal(curve.low, curve.high)


@pytest.mark.parametrize("known", [1, 77, 20_000])
def test_a_known_number_of_centers_is_not_predicted(known):
    X = datasets.blobs(20_000, 2)
    curve = retention(X[:1000], Gaussian(4.0), len(X), (2.0, 8.0), ell=4.0, n_centers=known)
    assert curve.ells == (2.0, 4.0, 8.0)
    assert curve.chosen == curve.low[1] == curve.high[1] == known
    assert (np.diff([curve.low, curve.n_centers, curve.high]) >= 0).all()
    if known == 77:
        assert curve.low[2] < curve.high[2]


def test_the_curve_is_interpolated_on_a_logarithmic_scale():
    curve = retention(datasets.blobs(400, 2), Gaussian(4.0), 400, (2.0, 8.0))
    assert curve.at(2.0) == pytest.approx(curve.n_centers[0])
    assert curve.at(4.0) == pytest.approx(np.sqrt(curve.n_centers.prod()))


def test_the_curve_of_a_plan_matches_its_table():
    planned = plan(datasets.blobs(4000, 2), ell=3.5)
    curve = planned.retention
    assert curve.chosen == planned.asked.n_centers
    assert list(curve.high) == [fit.high for fit in planned.fits]

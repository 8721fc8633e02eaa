"""How many centers n rows will have: the law is recovered, and real data are foretold."""

import numpy as np
import pytest

from rskpca import Gaussian
from rskpca._core import reference
from rskpca.planning import discovery
from tests import datasets


def test_the_curve_counts_the_centers_of_algorithm_2():
    X = datasets.blobs(300, 2)
    opened = reference.cover(X, 0.7)[0]
    expected = np.cumsum(np.isin(np.arange(300), opened))
    np.testing.assert_array_equal(discovery.discovered(X, 0.7), expected)


@pytest.mark.parametrize("s", [-1.5, -0.3, 1e-3, 0.4, 0.8, 0.99])
@pytest.mark.parametrize("tau", [3.0, 100.0])
@pytest.mark.parametrize("first_opens", [False, True])
def test_a_curve_of_the_law_is_continued(s, tau, first_opens):
    t = np.unique(np.geomspace(10, 1000, 40).astype(int))
    scale = tau if first_opens else 7.0

    def m(t):
        return scale * ((1 + t / tau) ** s - 1) / s

    guess = discovery._engen(t, m(t), 20_000, first_opens=first_opens)
    assert guess == pytest.approx(m(20_000), rel=0.02)


def test_a_parabola_is_continued_to_its_top():
    t = np.unique(np.geomspace(60, 1000, 40).astype(int))
    m = np.exp(5 + 0.5 * np.log(t / 1000) - 0.05 * np.log(t / 1000) ** 2)
    ahead = np.log(20)
    expected = np.exp(5 + 0.5 * ahead - 0.05 * ahead**2)
    assert discovery._parabola(t, m, 20_000) == pytest.approx(expected, rel=1e-6)
    top = np.exp(5 + 0.5**2 / (4 * 0.05))
    assert discovery._parabola(t, m, 10**9) == pytest.approx(top, rel=1e-6)


def test_a_curve_that_has_ended_stays():
    rng = np.random.default_rng(0)
    X = 100.0 * rng.integers(5, size=(1000, 2)) + 0.01 * rng.normal(size=(1000, 2))
    found = discovery.forecast(X, 10.0, 10**7, np.random.RandomState(0))
    assert found.value == pytest.approx(25, rel=0.05)
    assert found.low <= 25 <= found.high


def test_rows_that_never_meet_are_all_centers():
    X = np.arange(1000.0)[:, None]
    found = discovery.forecast(X, 0.5, 20_000, np.random.RandomState(0))
    assert found.value == pytest.approx(20_000, rel=0.01)
    assert found.high <= 20_000


def test_nothing_is_guessed_where_all_rows_are_seen():
    X = datasets.blobs(500, 2)
    found = discovery.forecast(X, 0.5, 500, np.random.RandomState(0))
    assert found.low == found.value == found.high
    assert found.value == pytest.approx(len(reference.cover(X, 0.5)[0]), rel=0.1)


@pytest.mark.parametrize("name", ["pendigits", "skin", "magic"])
def test_real_data_are_foretold_from_a_twentieth(name):
    X = datasets.load(name)
    for seed in range(2):
        rng = np.random.RandomState(seed)
        sample = X[rng.choice(len(X), len(X) // 20, replace=False)]
        kernel = Gaussian().resolve(X)
        for ell in (3, 5):
            seen = discovery.discovered(X, kernel.scale / ell)[-1]
            found = discovery.forecast(sample, kernel.scale / ell, len(X), rng)
            assert abs(found.value / seen - 1) < 0.3
            assert found.low <= seen <= found.high


@pytest.mark.parametrize("share", [0.3, -0.5])
def test_both_fits_of_the_law_find_what_comes_later(share):
    t = np.geomspace(1e4, 1e6, 40)
    m, later = (5000 * ((1 + n / 2e4) ** share - 1) / share for n in (t, 1e7))
    guesses = discovery.continued(t, m, 10_000_000)
    np.testing.assert_allclose(guesses[:2], later, rtol=0.02)

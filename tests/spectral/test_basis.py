"""Bases of a reduced set: what their nested problems promise, measured."""

import numpy as np
import pytest

from rskpca import Gaussian, ReducedSet
from rskpca.spectral import Centered, Moments, Plain, ritz, solve
from rskpca.spectral.basis import spanning, sufficient
from tests import datasets


def weighted_set(m=200, seed=0):
    weights = np.random.default_rng(seed).integers(1, 9, m).astype(float)
    return ReducedSet(datasets.blobs(m, 3, seed), weights)


def weighted_coordinates(system, s):
    Z = system.extend(s.centers) * np.sqrt(system.eigenvalues)
    return np.sqrt(s.weights)[:, None] * Z


def error_of(rows, s, kernel, r, center):
    """Relative error of the coordinates of the centers, by least squares on all of them."""
    exact = weighted_coordinates(solve(Centered() if center else Plain(), kernel, s, r), s)
    moments = Moments.of(kernel, s.centers[rows]).add(s.centers, s.weights)
    found = weighted_coordinates(ritz(moments, r, center=center), s)
    aligned = found @ np.linalg.lstsq(found, exact, rcond=None)[0]
    return np.linalg.norm(exact - aligned) / np.linalg.norm(exact)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("tolerance", [0.1, 0.01, 1e-3])
def test_the_tolerance_is_kept_and_fewer_would_not(center, tolerance):
    s, kernel = weighted_set(), Gaussian(4.0)
    rows = sufficient(kernel, s, 4, tolerance, center=center)
    assert len(rows) < s.n_centers / 2
    assert error_of(rows, s, kernel, 4, center) < 1.1 * tolerance
    assert error_of(rows[: len(rows) * 3 // 4], s, kernel, 4, center) > tolerance


def test_a_tolerance_out_of_reach_takes_all_centers():
    s = weighted_set(40)
    assert sorted(sufficient(Gaussian(0.3), s, 3, 0.0, center=True)) == list(range(40))


def test_centers_that_the_others_span_are_left_out():
    s = ReducedSet(np.repeat(datasets.blobs(20, 2), 5, axis=0), np.ones(100))
    assert len(spanning(Gaussian(0.5), s, 100)) <= 20


def test_weights_decide_what_is_spanned_first():
    centers = np.array([[0.0], [0.2], [10.0], [20.0]])
    s = ReducedSet(centers, np.array([1.0, 1.0, 5.0, 100.0]))
    np.testing.assert_array_equal(spanning(Gaussian(1.0), s, 3), [3, 2, 0])

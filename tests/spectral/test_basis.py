"""Test that an automatically selected basis meets its tolerance."""

import numpy as np
import pytest

from rskpca import Gaussian, ReducedSet
from rskpca.spectral import Centered, Diffusion, Moments, Plain, ritz, solve
from rskpca.spectral.basis import projected, spanning, sufficient, sufficient_for_walk
from tests import datasets


def weighted_set(m=200, seed=0):
    weights = np.random.default_rng(seed).integers(1, 9, m).astype(float)
    return ReducedSet(datasets.blobs(m, 3, seed), weights)


def weighted_coordinates(system, s):
    Z = system.extend(s.centers) * np.sqrt(system.eigenvalues)
    return np.sqrt(s.weights)[:, None] * Z


def error_of(rows, s, kernel, r, center):
    """Return the relative error of the center coordinates after a least-squares fit."""
    exact = weighted_coordinates(solve(Centered() if center else Plain(), kernel, s, r), s)
    moments = Moments.of(kernel, s.centers[rows]).add(s.centers, s.weights)
    found = weighted_coordinates(ritz(moments, r, center=center), s)
    aligned = found @ np.linalg.lstsq(found, exact, rcond=None)[0]
    return np.linalg.norm(exact - aligned) / np.linalg.norm(exact)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("tolerance", [0.1, 0.01, 1e-3])
def test_the_basis_is_the_smallest_that_meets_the_tolerance(center, tolerance):
    s, kernel = weighted_set(), Gaussian(4.0)
    rows = sufficient(kernel, s, 4, tolerance, center=center)
    assert len(rows) < s.n_centers / 2
    assert error_of(rows, s, kernel, 4, center) < 1.1 * tolerance
    assert error_of(rows[: len(rows) * 3 // 4], s, kernel, 4, center) > tolerance


def line_and_far_points(line_weights, far_weights):
    """Return a cluster on a line and isolated points, which are selected first if heavier."""
    line, far = np.linspace(0, 1, len(line_weights)), 100 + 50.0 * np.arange(len(far_weights))
    return ReducedSet(np.append(line, far)[:, None], np.append(line_weights, far_weights))


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize(
    "s",
    [
        line_and_far_points(np.ones(100), np.linspace(20, 5, 40)),  # the cluster is found late
        line_and_far_points(np.append(200, np.ones(99)), np.linspace(150, 100, 40)),  # or in part
        line_and_far_points(np.full(100, 0.15), np.append([30, 25], np.linspace(10, 5, 38))),
    ],
    ids=["found late", "found in part", "third component"],
)
def test_the_search_continues_after_pivots_without_progress(s, center):
    kernel = Gaussian(3.0)
    rows = sufficient(kernel, s, 3, 0.002, center=center)
    assert error_of(rows, s, kernel, 3, center) < 0.002


@pytest.mark.parametrize("m", [1, 2, 5, 16])
def test_all_centers_are_selected_if_there_are_few(m):
    s = ReducedSet(datasets.blobs(m, 3), np.ones(m))
    for center in (False, True):
        np.testing.assert_array_equal(sufficient(Gaussian(4.0), s, 3, 0.5, center=center), range(m))


def test_centers_that_the_kernel_cannot_distinguish_are_accepted():
    s = ReducedSet(np.zeros((30, 2)), np.ones(30))
    np.testing.assert_array_equal(sufficient(Gaussian(1.0), s, 2, 0.1, center=True), [0])


def test_an_unreachable_tolerance_selects_all_centers():
    s = weighted_set(40)
    assert sorted(sufficient(Gaussian(0.3), s, 3, 0.0, center=True)) == list(range(40))


def test_centers_in_the_span_of_others_are_omitted():
    s = ReducedSet(np.repeat(datasets.blobs(20, 2), 5, axis=0), np.ones(100))
    assert len(spanning(Gaussian(0.5), s, 100)) <= 20


def test_heavier_centers_are_selected_first():
    centers = np.array([[0.0], [0.2], [10.0], [20.0]])
    s = ReducedSet(centers, np.array([1.0, 1.0, 5.0, 100.0]))
    np.testing.assert_array_equal(spanning(Gaussian(1.0), s, 3), [3, 2, 0])


def test_a_basis_of_many_centers_is_searched_only_while_that_saves_time():
    s = ReducedSet(datasets.blobs(1100, 3), np.ones(1100))
    smooth, narrow = Gaussian(10.0), Gaussian(0.1)
    rows = sufficient(smooth, s, 3, 1e-3, center=True)
    assert 16 < len(rows) < 47
    assert error_of(rows, s, smooth, 3, True) < 1.1e-3
    np.testing.assert_array_equal(sufficient(narrow, s, 3, 1e-3, center=True), range(1100))


def test_the_basis_of_a_walk_grows_until_it_meets_the_tolerance():
    s, r, tolerance = weighted_set(), 3, 1e-3
    system = solve(Diffusion(), Gaussian(2.0), s, r)
    rows = sufficient_for_walk(system, s, tolerance)

    def error(rows):
        off = projected(system, s.centers[rows]).extend(s.centers) - system.functions
        return np.sqrt(s.weights @ off**2 @ np.ones(r) / (s.weights @ system.functions**2).sum())

    assert 4 * r + 16 < len(rows) < s.n_centers
    assert error(rows) <= tolerance < error(rows[:-1])


def test_a_basis_of_a_walk_on_many_centers_is_searched_only_while_that_saves_time():
    s = ReducedSet(datasets.blobs(1100, 3), np.ones(1100))
    smooth, narrow = (solve(Diffusion(), Gaussian(width), s, 3) for width in (20.0, 0.5))
    assert len(sufficient_for_walk(smooth, s, 1e-2)) < 100
    np.testing.assert_array_equal(sufficient_for_walk(narrow, s, 1e-3), range(1100))

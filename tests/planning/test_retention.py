"""Centers over ell."""

import numpy as np
import pytest

from rskpca import Gaussian, ShadowDensity, plan
from rskpca.planning.retention import _rising, _rising_through, retention
from tests import datasets


def test_columns_that_fall_are_levelled():
    np.testing.assert_array_equal(_rising(np.array([[1.0], [4.0], [2.0], [5.0]])).T, [[1, 3, 3, 5]])


def test_a_known_line_stays_and_the_others_give_way():
    columns = np.array([[3.0], [7.0], [6.0], [5.0], [9.0]])
    np.testing.assert_array_equal(_rising_through(columns, 2).T, [[3, 6, 6, 6, 9]])


def test_of_all_rows_it_is_the_cover_itself():
    X = datasets.blobs(400, 3)
    kernel = Gaussian(4.0)
    curve = retention(X, kernel, len(X), (2.0, 4.0, 8.0))
    exact = [ShadowDensity(kernel, ell).fit(X).reduced_set_.n_centers for ell in curve.ells]
    # the first of the orders that the rows are covered in is not theirs
    np.testing.assert_allclose(curve.n_centers, exact, rtol=0.15)
    np.testing.assert_array_equal(curve.low, curve.high)


def test_what_is_known_is_not_forecast():
    X = datasets.blobs(20_000, 2)
    curve = retention(X[:1000], Gaussian(4.0), len(X), (2.0, 8.0), ell=4.0, n_centers=77)
    assert curve.ells == (2.0, 4.0, 8.0)
    assert curve.chosen == 77
    assert curve.low[1] == curve.high[1] == 77
    assert curve.low[2] < curve.high[2]
    assert (np.diff(curve.n_centers) >= 0).all()


def test_between_its_points_the_logs_are_on_a_line():
    curve = retention(datasets.blobs(400, 2), Gaussian(4.0), 400, (2.0, 8.0))
    assert curve.at(2.0) == pytest.approx(curve.n_centers[0])
    assert curve.at(4.0) == pytest.approx(np.sqrt(curve.n_centers.prod()))


def test_a_plan_has_the_curve_of_its_table():
    planned = plan(datasets.blobs(4000, 2), ell=3.5)
    curve = planned.retention
    assert curve.chosen == planned.asked.n_centers
    assert list(curve.high) == [fit.high for fit in planned.fits]

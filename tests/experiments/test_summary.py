"""From rows to lines."""

import numpy as np
import pytest

from experiments import summary

ROWS = [
    {"method": "kpca", "ell": None, "run": 0, "fit": 4.0, "transform": 1.0},
    {"method": "kpca", "ell": None, "run": 1, "fit": 6.0, "transform": 1.0},
    {"method": "shadow", "ell": 4.0, "run": 1, "fit": 3.0, "transform": 0.5},
    {"method": "shadow", "ell": 4.0, "run": 0, "fit": 1.0, "transform": 0.5},
    {"method": "shadow", "ell": 3.0, "run": 0, "fit": 0.5, "transform": 0.5},
    {"method": "kpca-dense", "ell": None, "run": 0, "fit": 40.0, "transform": 1.0},
]
TABLE = summary.columns(ROWS)


def test_values_by_ell_are_in_the_order_of_runs():
    assert summary.by_ell(TABLE, "shadow", "fit") == {3.0: [0.5], 4.0: [1.0, 3.0]}
    assert summary.by_ell(TABLE, "shadow", "fit", "transform") == {3.0: [1.0], 4.0: [1.5, 3.5]}


def test_speedups_are_taken_run_by_run():
    assert summary.speedups(TABLE, "shadow", ("fit",)) == {3.0: [8.0], 4.0: [4.0, 2.0]}


def test_a_baseline_of_fewer_runs_gives_its_median():
    found = summary.speedups(TABLE, "shadow", ("fit",), baseline="kpca-dense")
    assert found[4.0] == [40.0, 40.0 / 3.0]


def test_mean_of_what_does_not_depend_on_ell():
    assert summary.overall(TABLE, "kpca", "fit") == 5.0


def test_standard_error():
    assert summary.standard_error([1.0, 3.0]) == pytest.approx(1 / np.sqrt(2))

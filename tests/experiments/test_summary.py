"""Test how result rows are aggregated over runs."""

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
TABLE = summary.to_columns(ROWS)


def test_values_by_ell_are_sorted_by_run():
    assert summary.by_ell(TABLE, "shadow", "fit") == {3.0: [0.5], 4.0: [1.0, 3.0]}
    assert summary.by_ell(TABLE, "shadow", "fit", "transform") == {3.0: [1.0], 4.0: [1.5, 3.5]}


def test_speedups_are_computed_for_each_run():
    assert summary.speedups(TABLE, "shadow", ("fit",)) == {3.0: [8.0], 4.0: [4.0, 2.0]}


def test_the_median_of_a_baseline_replaces_its_missing_runs():
    found = summary.speedups(TABLE, "shadow", ("fit",), baseline="kpca-dense")
    assert found[4.0] == [40.0, 40.0 / 3.0]


def test_the_overall_mean_is_available_for_a_method_without_ell():
    assert summary.overall_mean(TABLE, "kpca", "fit") == 5.0


def test_the_standard_error_of_the_mean_equals_the_formula():
    assert summary.standard_error([1.0, 3.0]) == pytest.approx(1 / np.sqrt(2))

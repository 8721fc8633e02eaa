"""Test how the predicted time scales and how accurate the predicted memory is."""

import tracemalloc

import numpy as np
import pytest

from rskpca import Gaussian, ReducedSetKernelPCA
from rskpca.planning import cost
from rskpca.spectral.eigensystem import STORED_CENTERS
from tests import datasets


def test_the_pass_time_is_linear_in_rows_and_quadratic_in_centers():
    timed = cost.PassTime(overhead=1.0, per_row=0.01, opening=2.0, n_centers=10)
    assert timed.seconds(1000, 10) == pytest.approx(1 + 10 + 2)
    assert timed.seconds(2000, 30) == pytest.approx(1 + 20 + 18)


def test_the_pass_is_timed_on_the_sample():
    X = datasets.blobs(600, 3)
    timed = cost.time_pass(X, Gaussian(2.0), 4.0, 5000)
    model = ReducedSetKernelPCA(2, kernel=Gaussian(2.0), ell=4.0).fit(X)
    assert timed.n_centers == model.n_centers_
    assert timed.overhead > 0
    assert min(timed.per_row, timed.opening) >= 0


@pytest.mark.parametrize(
    ("n_centers", "n_components", "power"),
    [(100, 5, 3), (1000, 80, 3), (1000, 5, 2), (9e4, 5, 2)],
    ids=["small", "many components", "Lanczos", "Lanczos without a matrix"],
)
def test_the_solve_time_scales_like_the_cost_of_the_solver(
    n_centers, n_components, power, monkeypatch
):
    monkeypatch.setattr(cost, "PROBE_CENTERS", 400)
    monkeypatch.setattr(cost, "PROBE_DENSE", 100)
    timer = cost.SolveTime(datasets.blobs(200, 2), Gaussian(1.0), n_components)
    seconds = timer.seconds(n_centers)
    assert 0 < seconds < 1e-3 * n_centers**power
    assert timer.seconds(1.1 * n_centers) == pytest.approx(1.1**power * seconds)


@pytest.mark.parametrize(("n_samples", "ell"), [(200_000, 2.0), (5000, 20.0)])
def test_predicted_memory_is_correct_within_a_factor_of_two(n_samples, ell):
    X = datasets.blobs(n_samples, 3)
    model = ReducedSetKernelPCA(2, ell=ell).fit(X)
    tracemalloc.start()
    try:
        model.fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.5 < cost.bytes_needed(n_samples, 3, model.n_centers_) / peak < 2


def test_predicted_memory_excludes_a_matrix_that_is_not_stored():
    stored, not_stored = (
        cost.bytes_needed(10**5, 10, m) for m in (STORED_CENTERS, STORED_CENTERS + 1)
    )
    assert stored - not_stored > 1e9
    assert np.isfinite(not_stored)


def test_functions_are_compiled_before_they_are_timed(monkeypatch):
    sizes, before = [], []
    partial_fit, solve, fastest = ReducedSetKernelPCA.partial_fit, cost.solve, cost._fastest

    def count_fit(model, X):
        sizes.append(len(X))
        return partial_fit(model, X)

    def count_solve(weighting, kernel, points, n_components):
        sizes.append(len(points.centers))
        return solve(weighting, kernel, points, n_components)

    def time_calls(*args):
        before.append([*sizes])
        return fastest(*args)

    monkeypatch.setattr(ReducedSetKernelPCA, "partial_fit", count_fit)
    monkeypatch.setattr(cost, "solve", count_solve)
    monkeypatch.setattr(cost, "_fastest", time_calls)
    X = datasets.blobs(100, 3)
    cost.time_pass(X, Gaussian(2.0), 4.0, 100)
    assert before[0] == [100]
    sizes.clear()
    before.clear()
    cost.SolveTime(X, Gaussian(2.0), 2).seconds(cost.PROBE_DENSE)
    assert before == [[cost._WARM_UP]]

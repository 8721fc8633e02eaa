"""Seconds scale as they should, and bytes are those that are taken."""

import tracemalloc

import numpy as np
import pytest

from rskpca import Gaussian, ReducedSetKernelPCA
from rskpca.planning import cost
from rskpca.spectral.eigensystem import STORED_CENTERS
from tests import datasets


def test_the_pass_is_linear_in_rows_and_quadratic_in_centers():
    timed = cost.Pass(once=1.0, a_row=0.01, opening=2.0, n_centers=10)
    assert timed.seconds(1000, 10) == pytest.approx(1 + 10 + 2)
    assert timed.seconds(2000, 30) == pytest.approx(1 + 20 + 18)


def test_the_pass_is_timed_on_the_sample():
    X = datasets.blobs(600, 3)
    timed = cost.time_pass(X, Gaussian(2.0), 4.0, 5000)
    assert (
        timed.n_centers == ReducedSetKernelPCA(2, kernel=Gaussian(2.0), ell=4.0).fit(X).n_centers_
    )
    assert timed.once > 0
    assert min(timed.a_row, timed.opening) >= 0


@pytest.mark.parametrize(
    ("n_centers", "n_components", "kind", "power"),
    [(100, 5, "dense", 3), (1000, 80, "dense", 3), (1000, 5, "stored", 2), (9e4, 5, "products", 2)],
)
def test_the_eigenproblem_is_of_the_kind_that_solve_takes(n_centers, n_components, kind, power):
    timer = cost.SolveTimer(datasets.blobs(200, 2), Gaussian(1.0), n_components)
    timer._timed = {kind: 1e-9}
    assert timer.seconds(n_centers) == pytest.approx(1e-9 * n_centers**power)


@pytest.mark.parametrize("kind", ["dense", "stored", "products"])
def test_each_kind_can_be_timed(kind, monkeypatch):
    monkeypatch.setattr(cost, "PROBE_CENTERS", 400)
    monkeypatch.setattr(cost, "_PROBE_DENSE", 100)
    timer = cost.SolveTimer(datasets.blobs(200, 2), Gaussian(1.0), 5)
    assert 0 < getattr(timer, f"_time_{kind}")() < 1e-3


@pytest.mark.parametrize(("n_samples", "ell"), [(200_000, 2.0), (5000, 20.0)])
def test_memory_is_that_of_a_fit(n_samples, ell):
    X = datasets.blobs(n_samples, 3)
    model = ReducedSetKernelPCA(2, ell=ell).fit(X)
    tracemalloc.start()
    try:
        model.fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.5 < cost.bytes_needed(n_samples, 3, model.n_centers_) / peak < 2


def test_a_matrix_that_is_not_stored_is_not_counted():
    stored, not_stored = (
        cost.bytes_needed(10**5, 10, m) for m in (STORED_CENTERS, STORED_CENTERS + 1)
    )
    assert stored - not_stored > 1e9
    assert np.isfinite(not_stored)

"""Test the numbers in Figure 1."""

import numpy as np

from experiments import fig01
from rskpca.certificate import mmd
from tests import dense
from tests.experiments.quick import quick_settings, run_experiment


def test_points_lie_within_the_radius_of_their_centers(tmp_path):
    numbers, path = run_experiment("fig01", quick_settings(tmp_path))
    X, C, labels = (np.array(numbers[name]) for name in ("points", "centers", "labels"))
    assert len(X) == fig01.N_QUICK
    assert np.bincount(labels).tolist() == numbers["weights"]
    radius = fig01.BANDWIDTH / fig01.ELL
    assert (np.linalg.norm(X - C[labels], axis=1) < radius + 1e-3).all()  # rounded values
    assert 0 < numbers["mmd"] < mmd.bound(fig01.Gaussian(fig01.BANDWIDTH), fig01.ELL)
    assert path.stat().st_size > 10_000


def test_the_density_estimates_equal_their_formulas(tmp_path):
    numbers, _ = run_experiment("fig01", quick_settings(tmp_path))
    kernel = fig01.Gaussian(fig01.BANDWIDTH)
    grid = np.array([[numbers["x"][7], numbers["y"][30]], [numbers["x"][50], numbers["y"][40]]])
    for name, points, weights in (
        ("kde", numbers["points"], np.ones(fig01.N_QUICK)),
        ("shde", numbers["centers"], np.array(numbers["weights"])),
    ):
        expected = np.exp(dense.log_density(kernel, np.array(points), weights, grid)) / np.pi
        actual = [numbers[name][30][7], numbers[name][40][50]]
        np.testing.assert_allclose(actual, expected, atol=2e-4)

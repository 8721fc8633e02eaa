"""Test UniformDensity, which keeps m rows of the data with weight n / m each."""

import numpy as np
import pytest

from rskpca import Gaussian
from rskpca.baselines import UniformDensity
from tests import datasets, dense
from tests.density.invariants import DensityInvariants


class TestInvariants(DensityInvariants):
    def make(self, kernel=None):
        return UniformDensity(40, kernel=kernel)


@pytest.mark.parametrize("name", ["german", "digits"])
def test_centers_are_distinct_rows_with_weight_n_over_m_each(name):
    X = np.unique(datasets.load(name), axis=0)
    s = UniformDensity(70).fit(X).reduced_set_
    places = [int(np.flatnonzero((c == X).all(axis=1))[0]) for c in s.centers]
    assert len(set(places)) == 70
    assert places == sorted(places)
    np.testing.assert_allclose(s.weights, len(X) / 70, rtol=1e-14)


def test_the_seed_determines_which_rows_are_kept():
    X = datasets.blobs(100, 2)
    centers = [UniformDensity(10, random_state=seed).fit(X).reduced_set_.centers for seed in (0, 1)]
    assert not np.array_equal(*centers)


def test_the_expected_weights_equal_the_sample_weights():
    """This is tested with fractional weights, by averaging over many samples."""
    X, weights = np.arange(12.0)[:, None], 3 * np.random.default_rng(0).random(12)
    found = np.zeros(12)
    for seed in range(500):
        density = UniformDensity(5, kernel=Gaussian(1.0), random_state=seed)
        s = density.fit(X, sample_weight=weights).reduced_set_
        found[s.centers[:, 0].astype(int)] += s.weights / 500
    np.testing.assert_allclose(found, weights, rtol=0, atol=0.3)


def test_the_mmd_decreases_as_the_inverse_square_root_of_m():
    X, kernel = datasets.blobs(1000, 2), Gaussian(2.0)
    sizes = np.array([2, 4, 8, 16, 32, 64])
    squared = np.zeros(len(sizes))
    for seed in range(10):
        for i, m in enumerate(sizes):
            s = UniformDensity(int(m), kernel=kernel, random_state=seed).fit(X).reduced_set_
            squared[i] += dense.mmd_to_data(kernel, X, s) ** 2 / 10
    slope = np.polyfit(np.log(sizes), 0.5 * np.log(squared), 1)[0]
    assert -0.65 < slope < -0.35

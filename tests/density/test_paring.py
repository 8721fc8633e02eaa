"""Test ParingDensity, a random subset weighted equally or by counts of nearest rows."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from rskpca import ParingDensity
from rskpca.baselines import UniformDensity
from tests import datasets
from tests.density.invariants import DensityInvariants


class TestInvariants(DensityInvariants):
    def make(self, kernel=None):
        return ParingDensity(40, kernel=kernel)


class TestCoveringInvariants(DensityInvariants):
    def make(self, kernel=None):
        return ParingDensity(40, covering=True, kernel=kernel)


def test_the_result_equals_the_uniform_density_without_covering():
    X = datasets.blobs(200, 3)
    for seed in range(3):
        pared, uniform = (D(30, random_state=seed).fit(X) for D in (ParingDensity, UniformDensity))
        assert pared.reduced_set_ == uniform.reduced_set_


@pytest.mark.parametrize("name", ["german", "digits"])
@pytest.mark.parametrize("weighted", [False, True])
def test_covering_assigns_each_row_to_the_nearest_kept_row(name, weighted):
    X = np.unique(datasets.load(name), axis=0)
    X = X + 1e-6 * np.random.default_rng(0).normal(size=X.shape)  # no exact ties
    weights = np.random.default_rng(1).random(len(X)) if weighted else np.ones(len(X))
    s = ParingDensity(70, covering=True).fit(X, sample_weight=weights).reduced_set_
    distances = cdist(X, s.centers)
    labels, nearest = distances.argmin(axis=1), distances.min(axis=1)
    np.testing.assert_allclose(s.weights, np.bincount(labels, weights), rtol=1e-12)
    np.testing.assert_allclose(s.scatter, np.bincount(labels, weights * nearest**2), rtol=1e-9)
    assert s.radius == pytest.approx(nearest.max(), rel=1e-12)


@pytest.mark.parametrize("covering", ["yes", 1, None])
def test_covering_must_be_true_or_false(covering):
    with pytest.raises(ValueError, match="covering must be True or False"):
        ParingDensity(3, covering=covering).fit(datasets.blobs(20, 2))

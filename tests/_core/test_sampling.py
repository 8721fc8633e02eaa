"""Test that random rows and median distances treat weights as repetition counts."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from rskpca._core.sampling import MEDIAN_SAMPLE, median_distance, sample_rows
from tests import datasets


def rows(weights, size, seed=0):
    return sample_rows(len(weights), np.asarray(weights), size, np.random.RandomState(seed))


@pytest.mark.parametrize("weights", [None, np.ones(50), np.full(50, 0.3)])
def test_rows_with_equal_weights_are_drawn_without_replacement_and_in_order(weights):
    for seed in range(20):
        found = sample_rows(50, weights, 30, np.random.RandomState(seed))
        assert np.all(np.diff(found) > 0)
    assert len(sample_rows(50, weights, 50, np.random.RandomState(0))) == 50


def test_integer_weights_are_equivalent_to_repeated_rows():
    weights = np.random.default_rng(0).integers(1, 5, size=40).astype(float)
    repeated = np.repeat(np.arange(40), weights.astype(int))
    plain = sample_rows(len(repeated), None, 25, np.random.RandomState(3))
    np.testing.assert_array_equal(rows(weights, 25, 3), repeated[plain])


@pytest.mark.parametrize("whole", [True, False])
def test_rows_are_drawn_in_proportion_to_their_weights(whole):
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 6, size=12).astype(float) if whole else 3 * rng.random(12)
    counts = sum(np.bincount(rows(weights, 6, seed), minlength=12) for seed in range(3000))
    expected = 3000 * 6 * weights / weights.sum()
    assert np.all(np.abs(counts - expected) < 5 * np.sqrt(expected))


def test_expected_counts_are_rounded_up_or_down():
    weights = 2 * np.random.default_rng(0).random(30)
    wanted = 20 * weights / weights.sum()
    for seed in range(50):
        counts = np.bincount(rows(weights, 20, seed), minlength=30)
        assert np.all((counts >= np.floor(wanted)) & (counts <= np.ceil(wanted)))


# ------------------------------------------------------------------------ median distance


@pytest.mark.parametrize("n", [2, 3, 10, 101, 500])
def test_the_median_is_taken_over_all_pairs(n):
    X = datasets.blobs(n, 3)
    assert median_distance(X) == pytest.approx(np.median(pdist(X)), rel=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_integer_weights_are_equivalent_to_repeated_rows_in_the_median(seed):
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(30, 2)), rng.integers(0, 4, size=30)
    repeated = np.repeat(X, weights, axis=0)
    assert median_distance(X, weights) == pytest.approx(np.median(pdist(repeated)), rel=1e-14)


def test_the_median_of_many_rows_uses_a_seeded_sample():
    X = datasets.blobs(5 * MEDIAN_SAMPLE, 3)
    assert median_distance(X, random_state=3) == median_distance(X, random_state=3)
    assert median_distance(X, random_state=3) != median_distance(X, random_state=4)
    assert median_distance(X) == pytest.approx(np.median(pdist(X[::2])), rel=0.1)


def test_the_median_of_many_rows_accounts_for_the_weights():
    X = np.concatenate([datasets.blobs(2000, 2), 100 * datasets.blobs(2000, 2)])
    light = np.repeat([1.0, 1e-9], 2000)
    assert median_distance(X, light) == pytest.approx(np.median(pdist(X[:2000])), rel=0.1)


@pytest.mark.parametrize("weights", [None, np.ones(10)])
def test_identical_rows_have_no_median_bandwidth(weights):
    with pytest.raises(ValueError, match=r'"median" rule.*equal.*Set bandwidth'):
        median_distance(np.full((10, 3), 7.0), weights)


@pytest.mark.parametrize("weights", [None, np.ones(40), np.full(40, 0.5)])
def test_the_median_of_one_hot_data_is_that_of_the_positive_distances(weights):
    X = np.zeros((40, 3))
    X[:5, 0] = 1.0
    X[5, 1] = 3.0
    distances = pdist(X)
    assert np.median(distances) == 0
    assert median_distance(X, weights) == np.median(distances[distances > 0])


def test_the_median_requires_two_rows_with_positive_weight():
    X = datasets.blobs(5, 2)
    with pytest.raises(ValueError, match="two rows with positive weight, got 1"):
        median_distance(X, np.array([0.0, 3.0, 0.0, 0.0, 0.0]))


@pytest.mark.parametrize("n", [30, 700])
def test_integer_weights_are_equivalent_to_repeated_rows_in_a_sample(n):
    X = datasets.blobs(n, 3)
    weights = np.random.default_rng(0).integers(0, 5, n)
    repeated = median_distance(np.repeat(X, weights, axis=0))
    assert median_distance(X, weights.astype(float)) == repeated

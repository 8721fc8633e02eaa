"""Weighted random rows are drawn like repeated rows."""

import numpy as np
import pytest

from rskpca._core.sampling import sampled_rows


def rows(weights, size, seed=0):
    return sampled_rows(len(weights), np.asarray(weights), size, np.random.RandomState(seed))


@pytest.mark.parametrize("weights", [None, np.ones(50), np.full(50, 0.3)])
def test_equal_weights_draw_without_replacement_in_order(weights):
    for seed in range(20):
        found = sampled_rows(50, weights, 30, np.random.RandomState(seed))
        assert np.all(np.diff(found) > 0)
    assert len(sampled_rows(50, weights, 50, np.random.RandomState(0))) == 50


def test_integer_weights_equal_repeated_rows():
    weights = np.random.default_rng(0).integers(1, 5, size=40).astype(float)
    repeated = np.repeat(np.arange(40), weights.astype(int))
    plain = sampled_rows(len(repeated), None, 25, np.random.RandomState(3))
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

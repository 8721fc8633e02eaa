"""Test that Fourier sums are correct and bitwise equal for any chunking."""

import numpy as np
import pytest
from rskpca._core.fourier import add_fourier_sums, round_up_pairs

from rskpca._core import reference
from tests import datasets

N_PAIRS = 80


def draw_frequencies(d, scale=0.2, seed=0):
    return np.random.default_rng(seed).normal(scale=scale, size=(2, N_PAIRS, d))


def fourier_sums(X, weights, origin=None, frequencies=None, start=None, **options):
    origin = X[0].astype(np.float64) if origin is None else origin
    frequencies = draw_frequencies(X.shape[1]) if frequencies is None else frequencies
    start = np.zeros((4, N_PAIRS), dtype=complex) if start is None else start
    return add_fourier_sums(X, weights, origin, frequencies, start, **options)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 2), (8, 3), (9, 4), (1000, 5), (300, 33)])
def test_sums_equal_the_formula(n, d, dtype):
    X = datasets.blobs(n, d, dtype=dtype)
    origin = X[0].astype(np.float64)
    for weights in (np.ones(n), np.random.default_rng(0).random(n), np.arange(n) % 4 - 1.0):
        expected = reference.fourier_sums(X, weights, origin, draw_frequencies(d))
        error = np.abs(fourier_sums(X, weights) - expected)
        assert error.max() < 1e-6 * np.abs(weights).sum()


def test_accuracy_is_kept_for_data_far_from_zero_and_far_apart():
    X = np.concatenate([datasets.blobs(50, 3) + shift for shift in (0.0, 1e6, 1e8)])
    weights = np.ones(len(X))
    expected = reference.fourier_sums(X, weights, X[0], draw_frequencies(3))
    np.testing.assert_allclose(fourier_sums(X, weights), expected, atol=1e-6 * len(X))
    shifted = X[:50] + 1e8
    np.testing.assert_allclose(
        fourier_sums(shifted, weights[:50]), fourier_sums(X[:50], weights[:50]), atol=1e-5 * 50
    )


@pytest.mark.parametrize("kind", ["ones", "whole", "fractions", "mixed", "huge"])
def test_sums_are_bitwise_equal_for_any_chunks_and_threads(kind):
    n = 20_011
    X = datasets.blobs(n, 3)
    rng = np.random.default_rng(1)
    weights = {
        "ones": np.ones(n),
        "whole": rng.integers(0, 5, n).astype(float),
        "fractions": rng.random(n),
        "mixed": np.r_[rng.random(500), np.ones(n - 500)],
        "huge": rng.integers(2**30, 2**50, n).astype(float),
    }[kind]
    whole = fourier_sums(X, weights, n_threads=1)
    np.testing.assert_array_equal(fourier_sums(X, weights, n_threads=3), whole)
    parts = np.zeros_like(whole)
    for rows in np.split(np.arange(n), [1, 5, 777, 9000, 16_384]):
        parts = fourier_sums(X[rows], weights[rows], X[0], start=parts)
    np.testing.assert_array_equal(parts, whole)


def test_rows_with_integer_weights_can_be_added_in_any_order_and_removed_exactly():
    X = datasets.blobs(1001, 4)
    weights = np.random.default_rng(2).integers(1, 9, 1001).astype(float)
    whole = fourier_sums(X, weights)
    order = np.random.default_rng(3).permutation(1001)
    np.testing.assert_array_equal(fourier_sums(X[order], weights[order], X[0]), whole)
    np.testing.assert_array_equal(fourier_sums(X, -weights, start=whole), np.zeros_like(whole))
    repeated = np.repeat(X, weights.astype(int), axis=0)
    np.testing.assert_array_equal(fourier_sums(repeated, np.ones(len(repeated))), whole)


def test_read_only_input_is_accepted_and_not_modified():
    X, weights = datasets.blobs(100, 3), np.ones(100)
    before, start = X.copy(), np.zeros((4, N_PAIRS), dtype=complex)
    for array in (X, weights, start):
        array.flags.writeable = False
    result = fourier_sums(X, weights, start=start)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(fourier_sums(np.asfortranarray(X), weights), result)
    assert not start.any()


def test_the_number_of_pairs_is_rounded_up_to_whole_tiles():
    assert [round_up_pairs(n) for n in (1, 80, 81, 160)] == [80, 80, 160, 160]

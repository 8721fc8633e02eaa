"""Test that the compiled exponential function agrees with ``np.exp``."""

import numpy as np
import pytest

from rskpca._core.gram import exp_in_place

LOWEST = {np.float64: -708.0, np.float32: -87.0}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_results_agree_with_numpy_within_two_rounding_errors(dtype):
    x = np.concatenate([np.linspace(LOWEST[dtype], 1.0, 100_003), -np.logspace(-30, 1, 1001)])
    expected = np.exp(x.astype(dtype).astype(np.float64))
    found = exp_in_place(x.astype(dtype))
    assert found.dtype == dtype
    relative = np.abs(found - expected) / expected
    assert relative.max() <= 2 * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_result_does_not_depend_on_its_position(dtype):
    x = np.random.default_rng(0).uniform(-30, 0, size=1000).astype(dtype)
    whole = exp_in_place(x.copy())
    for start, stop in ((0, 1), (3, 258), (255, 700), (999, 1000)):
        np.testing.assert_array_equal(exp_in_place(x[start:stop].copy()), whole[start:stop])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_results_for_extreme_arguments_are_exact(dtype):
    x = np.array([0.0, -0.0, -np.inf, -1e30, LOWEST[dtype] - 1, np.nan], dtype=dtype)
    np.testing.assert_array_equal(exp_in_place(x), [1, 1, 0, 0, 0, np.nan])


def test_arrays_of_any_shape_and_order_are_modified_in_place():
    x = -np.arange(12.0).reshape(3, 4)
    for values in (x.copy(), x.copy(order="F"), np.repeat(x, 2, axis=1)[:, ::2], x[:0].copy()):
        assert exp_in_place(values) is values
    np.testing.assert_allclose(exp_in_place(x.copy(order="F")), np.exp(x), rtol=1e-15)

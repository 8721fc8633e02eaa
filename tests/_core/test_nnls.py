"""Test non-negative least squares against SciPy and against the optimality conditions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from rskpca import Gaussian
from rskpca._core import nnls as nnls_module
from rskpca._core.nnls import nonnegative_least_squares
from tests import datasets


def problem(rows, columns, seed):
    rng = np.random.default_rng(seed)
    A, y = rng.normal(size=(rows, columns)), rng.normal(size=rows)
    return A, y, A.T @ A, A.T @ y


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 25), st.integers(0, 2**16))
def test_the_solution_equals_that_from_scipy(columns, seed):
    A, y, matrix, target = problem(columns + 10, columns, seed)
    np.testing.assert_allclose(nonnegative_least_squares(matrix, target), nnls(A, y)[0], atol=1e-9)


def test_the_fallback_solution_equals_that_from_scipy(monkeypatch):
    monkeypatch.setattr(nnls_module, "PATIENCE", -1)
    for seed in range(20):
        A, y, matrix, target = problem(60, 40, seed)
        np.testing.assert_allclose(
            nonnegative_least_squares(matrix, target), nnls(A, y)[0], atol=1e-9
        )


def test_the_solution_is_zero_if_every_gradient_is_positive():
    np.testing.assert_array_equal(
        nonnegative_least_squares(np.eye(3), np.array([-1.0, -2.0, -3.0])), 0
    )


def test_the_arguments_are_not_modified():
    *_, matrix, target = problem(30, 20, 0)
    before = matrix.copy(), target.copy()
    nonnegative_least_squares(matrix, target)
    np.testing.assert_array_equal(matrix, before[0])
    np.testing.assert_array_equal(target, before[1])


def assert_optimal(matrix, target, values):
    gradient = matrix @ values - target
    assert np.all(values >= 0)
    assert np.abs(gradient[values > 0]).max() < 1e-9
    assert gradient.min() > -1e-9


@pytest.mark.parametrize("ridge", [1e-6, 1e-8])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_optimality_conditions_are_met_for_an_almost_singular_matrix(ridge, shift):
    X = np.random.default_rng(0).random((300, 2))
    matrix = Gaussian(0.5)(X) + ridge * np.eye(300)
    target = Gaussian(0.5)(X, X[:50] + shift).mean(axis=1)
    assert_optimal(matrix, target, nonnegative_least_squares(matrix, target))


def test_a_distant_target_triggers_the_fallback(monkeypatch):
    called = []
    fallback = nnls_module._active_set
    monkeypatch.setattr(
        nnls_module, "_active_set", lambda *args: (called.append(1), fallback(*args))[1]
    )
    X = np.random.default_rng(0).random((300, 2))
    matrix = Gaussian(0.5)(X) + 1e-8 * np.eye(300)
    target = Gaussian(0.5)(X, datasets.blobs(50, 2)).mean(axis=1)
    assert_optimal(matrix, target, nonnegative_least_squares(matrix, target))
    assert called

"""Nearest centers equal the reference bit for bit."""

import numpy as np
import pytest

from rskpca._core import nearest as nearest_module
from rskpca._core import reference
from rskpca._core.nearest import nearest, squared_distances_to
from tests import datasets


def assert_equals_reference(X, C, **options):
    labels, squared = nearest(X, C, **options)
    expected_labels, expected_squared = reference.nearest(X, C)
    np.testing.assert_array_equal(labels, expected_labels)
    np.testing.assert_array_equal(squared, expected_squared)
    np.testing.assert_array_equal(squared_distances_to(X, C, labels), squared)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shift", [0.0, 1e3, 1e8])
@pytest.mark.parametrize("d", [1, 3, 40])
def test_nearest_centers_equal_reference(dtype, shift, d):
    X = (datasets.blobs(500, d) + shift).astype(dtype)
    assert_equals_reference(X, X[::7])


def test_the_first_of_exact_ties_wins():
    X = np.random.default_rng(0).integers(0, 3, size=(600, 4)).astype(float)
    assert_equals_reference(X, X[:90])
    assert_equals_reference(X / 3, X[:90] / 3)


def test_near_ties_are_decided_by_differences():
    """The distances to the two centers differ by less than the rounding error of the products."""
    C = np.array([[0.0, 1e4], [0.0, -1e4]])
    X = np.array([[1e4, y] for y in np.linspace(-3e-9, 3e-9, 41)])
    assert_equals_reference(X, C)


@pytest.mark.parametrize("options", [{"scale": 1e-3}, {"scale": 1e4}, {"n_threads": 3}])
def test_scale_and_threads_do_not_matter(options):
    X = datasets.blobs(3000, 5)
    assert_equals_reference(X, X[:50], **options)


def test_the_batch_size_does_not_matter(monkeypatch):
    X = datasets.blobs(300, 5)
    monkeypatch.setattr(nearest_module, "_BATCH_ELEMENTS", 1)
    assert_equals_reference(X, X[:50])


def test_rows_with_overflowing_squares_are_compared_by_differences():
    X = np.array([[1e200, 0.0], [1.0, 0.0]])
    assert_equals_reference(X, np.array([[0.0, 0.0], [2.0, 0.5]]))

"""Test that nearest centers and minimum spanning trees equal the reference."""

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from rskpca._core import distances, reference
from rskpca._core.distances import nearest_centers, spanning_tree_lengths, squared_distances_to
from tests import datasets


def assert_equals_reference(X, C, **options):
    labels, squared = nearest_centers(X, C, **options)
    expected_labels, expected_squared = reference.nearest_centers(X, C)
    np.testing.assert_array_equal(labels, expected_labels)
    np.testing.assert_array_equal(squared, expected_squared)
    np.testing.assert_array_equal(squared_distances_to(X, C, labels), squared)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shift", [0.0, 1e3, 1e8])
@pytest.mark.parametrize("d", [1, 3, 40])
def test_nearest_centers_equal_the_reference(dtype, shift, d):
    X = (datasets.blobs(500, d) + shift).astype(dtype)
    assert_equals_reference(X, X[::7])


def test_exact_ties_go_to_the_first_center():
    X = np.random.default_rng(0).integers(0, 3, size=(600, 4)).astype(float)
    assert_equals_reference(X, X[:90])
    assert_equals_reference(X / 3, X[:90] / 3)


def test_near_ties_are_resolved_by_computing_differences():
    """The distances to the two centers differ by less than the rounding error of the products."""
    C = np.array([[0.0, 1e4], [0.0, -1e4]])
    X = np.array([[1e4, y] for y in np.linspace(-3e-9, 3e-9, 41)])
    assert_equals_reference(X, C)


@pytest.mark.parametrize("options", [{"scale": 1e-3}, {"scale": 1e4}, {"n_threads": 3}])
def test_results_do_not_depend_on_scale_or_threads(options):
    X = datasets.blobs(3000, 5)
    assert_equals_reference(X, X[:50], **options)


def test_results_do_not_depend_on_the_batch_size(monkeypatch):
    X = datasets.blobs(300, 5)
    monkeypatch.setattr(distances, "_BATCH_ELEMENTS", 1)
    assert_equals_reference(X, X[:50])


def test_rows_with_overflowing_squares_are_compared_by_differences():
    X = np.array([[1e200, 0.0], [1.0, 0.0]])
    assert_equals_reference(X, np.array([[0.0, 0.0], [2.0, 0.5]]))


# ------------------------------------------------------------------ minimum spanning trees


@pytest.mark.parametrize("n", [2, 3, 200])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_edge_lengths_match_the_minimum_spanning_tree(n, dtype):
    C = datasets.blobs(n, 3, dtype=dtype)
    tree = minimum_spanning_tree(cdist(C, C)).data
    np.testing.assert_allclose(spanning_tree_lengths(C), np.sort(tree)[::-1], rtol=1e-12)
    np.testing.assert_array_equal(spanning_tree_lengths(C), reference.spanning_tree_lengths(C))


def test_coincident_points_have_edges_of_length_zero():
    np.testing.assert_array_equal(spanning_tree_lengths(np.zeros((4, 2))), np.zeros(3))


def test_a_single_point_has_no_edges():
    assert spanning_tree_lengths(np.zeros((1, 2))).shape == (0,)

"""Minimum spanning trees equal the reference and SciPy."""

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from rskpca._core import reference
from rskpca._core.links import longest_links
from tests import datasets


@pytest.mark.parametrize("n", [2, 3, 200])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_lengths_match_the_minimum_spanning_tree(n, dtype):
    C = datasets.blobs(n, 3, dtype=dtype)
    tree = minimum_spanning_tree(cdist(C, C)).data
    np.testing.assert_allclose(longest_links(C), np.sort(tree)[::-1], rtol=1e-12)
    np.testing.assert_array_equal(longest_links(C), reference.longest_links(C))


def test_coincident_points_have_edges_of_length_zero():
    np.testing.assert_array_equal(longest_links(np.zeros((4, 2))), np.zeros(3))


def test_one_point_has_no_edges():
    assert longest_links(np.zeros((1, 2))).shape == (0,)

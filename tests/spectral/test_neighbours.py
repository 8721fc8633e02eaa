"""Test the neighbor graph against all pairwise distances."""

import pickle

import numpy as np
import pytest

from rskpca import Gaussian, LaplacianEigenmaps
from rskpca.spectral import neighbours
from rskpca.spectral.neighbours import NeighbourGraph
from tests import datasets

C = datasets.blobs(80, 2)


def lattice():
    """Return points with many equal distances."""
    return np.stack(np.meshgrid(np.arange(7.0), np.arange(6.0)), axis=-1).reshape(-1, 2)


def expected(X, centers, graph):
    """Return k(x, c) where ||x - c|| is at most the reach of x or of c, and 0 elsewhere."""

    def reach(points):
        distances = np.linalg.norm(points[:, None] - centers, axis=2)
        kth = np.sort(distances, axis=1)[:, min(int(graph), len(centers)) - 1]
        return np.full(len(points), graph) if isinstance(graph, float) else kth

    distances = np.linalg.norm(X[:, None] - centers, axis=2)
    near = distances <= np.maximum.outer(reach(X), reach(centers)) * (1 + 1e-12)
    return np.exp(-((distances / 2.0) ** 2)) * near


@pytest.mark.parametrize("graph", [2, 7, 500, 0.5, 3.0])
@pytest.mark.parametrize("centers", [C, lattice(), np.repeat(C[:10], 4, axis=0)])
def test_rows_contain_the_kernel_values_of_neighbors(graph, centers):
    g = NeighbourGraph.of(Gaussian(2.0), centers, graph)
    for X in (centers, datasets.blobs(30, 2, seed=1)):
        np.testing.assert_allclose(g.rows(X).toarray(), expected(X, centers, graph), atol=1e-14)
    assert abs(g.rows(centers) - g.rows(centers).T).max() == 0


@pytest.mark.parametrize("graph", [5, 2.0])
def test_products_are_computed_in_chunks(graph, monkeypatch):
    monkeypatch.setattr(neighbours, "_ROWS", 7)
    g = NeighbourGraph.of(Gaussian(2.0), C[:5], graph)
    X = datasets.blobs(50, 2, seed=1)
    parts = []

    def dense(rows, where):
        parts.append(where)
        return rows.toarray()

    np.testing.assert_array_equal(g.product(X, dense, 5, np.float64), g.rows(X).toarray())
    assert len(parts) == 8


def test_a_graph_can_be_pickled():
    g = NeighbourGraph.of(Gaussian(2.0), C, 5)
    again = pickle.loads(pickle.dumps(g))
    np.testing.assert_array_equal(again.rows(C).toarray(), g.rows(C).toarray())


@pytest.mark.parametrize("graph", [50, 100.0])
def test_too_many_pairs_are_rejected(graph, monkeypatch):
    monkeypatch.setattr(neighbours, "_MOST_PAIRS", 3000)
    with pytest.raises(ValueError, match="pairs of neighbors, more than the limit"):
        NeighbourGraph.of(Gaussian(2.0), C, graph)


@pytest.mark.parametrize("graph", [20, 30.0])
def test_values_whose_squares_overflow_are_rejected(graph):
    far = C.copy()
    far[3] = 1e200
    with pytest.raises(ValueError, match=r"at most 1e\+150.*got 1e\+200\. Drop such rows"):
        LaplacianEigenmaps(2, bandwidth=1.0, graph=graph).fit(far)
    model = LaplacianEigenmaps(2, bandwidth=8.0, graph=graph).fit(C)
    with pytest.raises(ValueError, match="A graph requires values of at most"):
        model.transform(far)


def test_a_graph_has_at_most_67_million_pairs():
    NeighbourGraph.refuse_many(2**26, 8192)
    with pytest.raises(ValueError, match="67,108,865 pairs of neighbors, more than the limit"):
        NeighbourGraph.refuse_many(2**26 + 1, 8193)

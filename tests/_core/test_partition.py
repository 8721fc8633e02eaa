"""Clusters of weighted points: whole weights equal repeated rows, and scikit-learn agrees."""

import numpy as np
import pytest
from sklearn.cluster._spectral import cluster_qr, discretize
from sklearn.metrics import adjusted_rand_score

from rskpca._core.partition import WAYS
from tests import datasets

K = 4


def points(noise, n=120):
    """Rows near a turned frame, as eigenfunctions of a graph with K clusters are."""
    rng = np.random.default_rng(0)
    frame = np.linalg.qr(rng.normal(size=(K, K)))[0]
    truth = rng.integers(K, size=n)
    return frame[truth] * rng.uniform(0.5, 2, (n, 1)) + noise * rng.normal(size=(n, K)), truth


def made(way, functions, weights, seed=0):
    return WAYS[way](functions, weights, K, np.random.RandomState(seed))


@pytest.mark.parametrize("way", ["discretize", "cluster_qr"])
def test_clusters_along_a_frame_are_found(way):
    functions, truth = points(noise=0.05)
    labels = made(way, functions, np.ones(120)).labels(functions)
    assert adjusted_rand_score(labels, truth) == 1.0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("noise", [0.05, 0.4])
def test_whole_weights_equal_repeated_rows(way, noise):
    functions, _ = points(noise)
    weights = np.random.default_rng(1).integers(1, 5, size=120)
    repeated = np.repeat(functions, weights, axis=0)
    one = made(way, functions, weights.astype(float)).labels(functions)
    other = made(way, repeated, np.ones(len(repeated))).labels(functions)
    assert adjusted_rand_score(one, other) > (0.95 if way == "kmeans" else 0.999)


@pytest.mark.parametrize("noise", [0.05, 0.4])
def test_scikit_learn_agrees(noise):
    functions, _ = points(noise)
    qr = made("cluster_qr", functions, np.ones(120)).labels(functions)
    np.testing.assert_array_equal(qr, cluster_qr(functions))
    theirs = discretize(functions, random_state=0)
    rotated = made("discretize", functions, np.ones(120)).labels(functions)
    assert adjusted_rand_score(rotated, theirs) > 0.95


@pytest.mark.parametrize("way", WAYS)
def test_the_same_labels_twice_and_a_row_of_zeros_is_no_error(way):
    functions = datasets.blobs(60, K)
    functions[7] = 0
    one, two = (made(way, functions, np.ones(60)).labels(functions) for _ in range(2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("way", WAYS)
def test_numbers_follow_the_points_not_their_order_nor_the_seed(way):
    functions, truth = points(noise=0.05)
    if way == "kmeans":
        functions /= np.linalg.norm(functions, axis=1)[:, None]
    places = np.column_stack([(truth + 1) % K, np.arange(120.0)])
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(120)
        found = made(way, functions[order], np.ones(120), seed)
        found = found.ordered_by(functions[order], np.ones(120), places[order])
        np.testing.assert_array_equal(found.labels(functions), (truth + 1) % K)

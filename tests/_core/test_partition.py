"""Test that clusterings of weighted points agree with repeated rows and with scikit-learn."""

import numpy as np
import pytest
from sklearn.cluster._spectral import cluster_qr, discretize
from sklearn.metrics import adjusted_rand_score

from rskpca._core.partition import PARTITIONERS, gap_candidates
from tests import datasets

K = 4


def points(noise, n=120):
    """Return rows near a rotated frame, like the eigenfunctions of a graph with K clusters."""
    rng = np.random.default_rng(0)
    frame = np.linalg.qr(rng.normal(size=(K, K)))[0]
    truth = rng.integers(K, size=n)
    return frame[truth] * rng.uniform(0.5, 2, (n, 1)) + noise * rng.normal(size=(n, K)), truth


def partition(method, functions, weights, seed=0):
    return PARTITIONERS[method](functions, weights, K, np.random.RandomState(seed))


@pytest.mark.parametrize("method", ["discretize", "cluster_qr"])
def test_clusters_along_the_axes_of_a_frame_are_found(method):
    functions, truth = points(noise=0.05)
    labels = partition(method, functions, np.ones(120)).labels(functions)
    assert adjusted_rand_score(labels, truth) == 1.0


@pytest.mark.parametrize("method", PARTITIONERS)
@pytest.mark.parametrize("noise", [0.05, 0.4])
def test_integer_weights_are_equivalent_to_repeated_rows(method, noise):
    functions, _ = points(noise)
    weights = np.random.default_rng(1).integers(1, 5, size=120)
    repeated = np.repeat(functions, weights, axis=0)
    one = partition(method, functions, weights.astype(float)).labels(functions)
    other = partition(method, repeated, np.ones(len(repeated))).labels(functions)
    assert adjusted_rand_score(one, other) > (0.95 if method == "kmeans" else 0.999)


@pytest.mark.parametrize("noise", [0.05, 0.4])
def test_labels_agree_with_scikit_learn(noise):
    functions, _ = points(noise)
    qr = partition("cluster_qr", functions, np.ones(120)).labels(functions)
    np.testing.assert_array_equal(qr, cluster_qr(functions))
    theirs = discretize(functions, random_state=0)
    rotated = partition("discretize", functions, np.ones(120)).labels(functions)
    assert adjusted_rand_score(rotated, theirs) > 0.95


@pytest.mark.parametrize("method", PARTITIONERS)
def test_labels_are_reproducible_and_rows_of_zeros_are_allowed(method):
    functions = datasets.blobs(60, K)
    functions[7] = 0
    one, two = (partition(method, functions, np.ones(60)).labels(functions) for _ in range(2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("method", PARTITIONERS)
def test_cluster_numbers_depend_only_on_the_points(method):
    functions, truth = points(noise=0.05)
    if method == "kmeans":
        functions /= np.linalg.norm(functions, axis=1)[:, None]
    positions = np.column_stack([(truth + 1) % K, np.arange(120.0)])
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(120)
        found = partition(method, functions[order], np.ones(120), seed)
        found = found.renumber(functions[order], np.ones(120), positions[order])
        np.testing.assert_array_equal(found.labels(functions), (truth + 1) % K)


def test_gaps_are_ordered_by_the_ratio_of_the_rates():
    rates = np.array([0.0, 1e-4, 2e-4, 1e-2, 1.1e-2, 0.3, 0.31])
    assert gap_candidates(1 - rates) == [3, 5]


def test_the_last_of_several_clear_gaps_comes_first():
    rates = np.array([0.0, 1e-9, 2e-5, 2e-5, 0.1, 0.2])
    assert gap_candidates(1 - rates) == [4, 2]


def test_a_line_has_no_gap_and_disconnected_clusters_have_one():
    modes = 0.01 * np.arange(8) ** 2
    assert gap_candidates(1 - modes * (1 - 1e-9)) == []
    assert gap_candidates(1 - np.sort(np.r_[modes, modes + 1e-15])) == [2]


def test_fewer_than_three_eigenvalues_have_no_gap():
    assert gap_candidates(np.array([1.0, 0.5])) == []

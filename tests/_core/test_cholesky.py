"""Test that partial Cholesky factorizations agree with a dense one at every step."""

import numpy as np
import pytest

from rskpca import Gaussian, Laplacian
from rskpca._core import cholesky, reference
from tests import datasets, dense


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(2.0)])
@pytest.mark.parametrize("weighted", [False, True])
def test_greedy_pivots_match_the_dense_matrix(kernel, weighted):
    X = datasets.blobs(150, 3)
    w = np.random.default_rng(0).integers(1, 5, 150).astype(float) if weighted else None
    rows = cholesky.greedy_cholesky(kernel, X, w, 25).pivots
    np.testing.assert_array_equal(rows, reference.greedy_pivots(kernel, X, w, 25))


@pytest.mark.parametrize("batch", [1, 7, 64])
def test_the_residual_diagonal_matches_the_dense_residual(batch):
    X, kernel = datasets.blobs(120, 3), Gaussian(1.0)
    partial = cholesky.PartialCholesky(kernel, X, 30)
    rng = np.random.default_rng(0)
    while not partial.full:
        diagonal = partial.residual_diagonal
        proposed = rng.choice(120, batch, p=diagonal / diagonal.sum())
        partial.add_accepted(proposed, rng.random(batch))
    S = partial.pivots
    K = np.exp(dense.log_kernel(kernel, X, X))
    approximation = K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S])
    assert len(S) == len(set(S)) == 30
    np.testing.assert_allclose(partial.residual_diagonal, np.diag(K - approximation), atol=1e-9)


@pytest.mark.parametrize("batch", [1, 5, 64])
def test_random_pivots_are_distributed_like_sequential_draws(batch, monkeypatch):
    monkeypatch.setattr(cholesky, "_BATCH", batch)
    # Three points: the first pivot is uniform, the second proportional to the residual.
    X, kernel = np.array([[0.0], [0.1], [3.0]]), Gaussian(1.0)
    rng = np.random.RandomState(0)
    pairs = [
        frozenset(cholesky.random_cholesky(kernel, X, None, 2, rng).pivots) for _ in range(2000)
    ]
    K = np.exp(dense.log_kernel(kernel, X, X))
    residual = 1 - K**2  # residual of row j after pivot i
    probability = residual / residual.sum(axis=1, keepdims=True) / 3
    for i, j in ((0, 1), (0, 2), (1, 2)):
        p = probability[i, j] + probability[j, i]
        share = pairs.count(frozenset((i, j))) / len(pairs)
        assert abs(share - p) < 4 * np.sqrt(p * (1 - p) / len(pairs)) + 1e-3


def test_integer_weights_draw_the_same_points_as_repeated_rows():
    X = datasets.blobs(60, 2)
    w = np.random.default_rng(1).integers(1, 4, 60)
    seeds = (np.random.RandomState(3) for _ in range(2))
    drawn = X[cholesky.random_cholesky(Gaussian(2.0), X, w.astype(float), 12, next(seeds)).pivots]
    rows = np.repeat(X, w, axis=0)
    again = rows[cholesky.random_cholesky(Gaussian(2.0), rows, None, 12, next(seeds)).pivots]
    np.testing.assert_array_equal(drawn, again)


@pytest.mark.parametrize("select", [cholesky.greedy_cholesky, cholesky.random_cholesky])
def test_fewer_pivots_are_returned_if_they_already_span_all_rows(select):
    X = np.repeat(np.array([[0.0], [1.0], [5.0]]), 10, axis=0)
    rng = (np.random.RandomState(0),) if select is cholesky.random_cholesky else ()
    rows = select(Gaussian(1.0), X, None, 20, *rng).pivots
    assert sorted(X[rows, 0]) == [0.0, 1.0, 5.0]


def test_pivots_added_in_steps_match_a_single_run():
    X, w = datasets.blobs(150, 3), np.random.default_rng(0).integers(1, 5, 150).astype(float)
    whole = cholesky.greedy_cholesky(Gaussian(2.0), X, w, 25)
    partial = cholesky.PartialCholesky(Gaussian(2.0), X, 0)
    for size in (4, 5, 25):
        partial.grow(size)
        cholesky.fill_greedily(partial, w)
    np.testing.assert_array_equal(partial.pivots, whole.pivots)
    np.testing.assert_array_equal(partial.factors, whole.factors)


@pytest.mark.parametrize("least", [1e-20, 1e-14, 0.0])
@pytest.mark.parametrize("select", [cholesky.greedy_cholesky, cholesky.random_cholesky])
def test_selection_terminates_with_highly_uneven_weights(select, least):
    X = np.vstack([np.repeat(datasets.blobs(5, 2), 40, axis=0), [[50.0, 50.0]]])
    w = np.append(np.ones(200), least)
    rng = (np.random.RandomState(0),) if select is cholesky.random_cholesky else ()
    rows = select(Gaussian(1.0), X, w, 20, *rng).pivots
    assert len(np.unique(X[rows], axis=0)) == len(rows) == (6 if least else 5)

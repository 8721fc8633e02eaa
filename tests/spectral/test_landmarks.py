"""Test the rules that select landmarks."""

import numpy as np
import pytest

from rskpca import Gaussian
from rskpca.spectral import Moments, landmarks, ritz
from tests import datasets


@pytest.mark.parametrize("rule", landmarks.RULES)
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_distinct_and_determined_by_the_seed(rule, weighted):
    X = datasets.blobs(500, 3)
    w = np.random.default_rng(0).random(500) + 0.5 if weighted else None
    choose = landmarks.RULES[rule]
    rows = [choose(Gaussian(2.0), X, w, 40, np.random.RandomState(s)) for s in (0, 0, 1)]
    assert len(rows[0]) == 40
    assert rows[0].min() >= 0
    assert rows[0].max() < 500
    np.testing.assert_array_equal(rows[0], rows[1])
    if rule != "cholesky":
        assert set(rows[0]) != set(rows[2])
    if rule in ("cholesky", "rpcholesky", "leverage"):
        assert len(set(rows[0])) == 40


@pytest.mark.parametrize("rule", landmarks.RULES)
def test_all_rows_can_be_selected(rule):
    X = datasets.blobs(50, 2)
    rows = landmarks.RULES[rule](Gaussian(0.2), X, None, 50, np.random.RandomState(0))
    assert sorted(rows) == list(range(50))


def test_rows_with_negligible_weight_are_not_drawn():
    X = datasets.blobs(300, 2)
    w = np.where(np.arange(300) < 150, 1.0, 1e-12)
    for rule in ("uniform", "rpcholesky", "leverage"):
        rows = landmarks.RULES[rule](Gaussian(0.5), X, w, 20, np.random.RandomState(0))
        assert rows.max() < 150


def exact_scores(K, size):
    values = np.linalg.eigvalsh(K)[::-1]
    ridge = 2 * values[size // 2 :].sum() / size
    return np.diag(K @ np.linalg.inv(K + ridge * np.eye(len(K))))


def test_rows_are_drawn_in_proportion_to_their_leverage_scores():
    X = np.random.default_rng(0).standard_t(3, size=(2000, 4))
    kernel, size, n_draws = Gaussian(3.0), 100, 40
    counts = np.zeros(len(X))
    for seed in range(n_draws):
        counts[landmarks.leverage(kernel, X, None, size, np.random.RandomState(seed))] += 1
    scores = exact_scores(kernel(X), size)
    for group in np.array_split(np.argsort(scores), 5):  # observed: 0.95 to 1.13 of expected
        expected = n_draws * size * scores[group].sum() / scores.sum()
        assert counts[group].sum() == pytest.approx(expected, rel=0.2)


@pytest.mark.parametrize("rule", ["cholesky", "rpcholesky", "leverage"])
def test_each_rule_has_a_smaller_residual_than_uniform_rows_on_heavy_tailed_data(rule):
    X = np.random.default_rng(0).standard_t(5, size=(3000, 3))
    kernel = Gaussian(6.0)

    def mean_residual(name):
        residuals = []
        for seed in range(3):
            rows = landmarks.RULES[name](kernel, X, None, 80, np.random.RandomState(seed))
            moments = Moments.of(kernel, X[rows]).add(X)
            residuals.append(ritz(moments, 3, center=False).residual)
        return np.mean(residuals)

    assert mean_residual(rule) < 0.7 * mean_residual("uniform")

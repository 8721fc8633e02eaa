"""Rules that choose Nystrom landmarks: rows that span the leading eigenfunctions well.

Each takes a kernel, rows X with weights or None, the number of landmarks and a RandomState, and
returns row indices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from .._core import cholesky, gram
from .._core.sampling import sample_rows
from ..kernels import RadialKernel

Array = NDArray[np.floating]
Rows = NDArray[np.intp]


def uniform(kernel: RadialKernel, X: Array, weights: Array | None, size: int, rng: Any) -> Rows:
    """Draw rows without replacement, in proportion to their weights."""
    return sample_rows(len(X), weights, size, rng)


def pivoted_cholesky(
    kernel: RadialKernel, X: Array, weights: Array | None, size: int, rng: Any
) -> Rows:
    """Choose, one by one, the row that the previous ones represent worst."""
    # Weights do not change which row is represented worst, just as repeating rows does not.
    return cholesky.greedy_cholesky(kernel, X, None, size).pivots


def random_cholesky(
    kernel: RadialKernel, X: Array, weights: Array | None, size: int, rng: Any
) -> Rows:
    """Choose rows by randomly pivoted Cholesky (Chen, Epperly, Tropp & Webber)."""
    return cholesky.random_cholesky(kernel, X, weights, size, rng).pivots


def leverage(kernel: RadialKernel, X: Array, weights: Array | None, size: int, rng: Any) -> Rows:
    """Draw rows by recursive ridge leverage scores (Musco & Musco 2017)."""
    # Scores of a random half of the rows come from landmarks of that half, and so on down to a
    # few rows; the landmarks are drawn in proportion to the scores, without replacement.
    order = rng.permutation(len(X))
    known = min(2 * size, len(X))
    chosen, chances = order[:known], np.ones(known)
    while True:
        among = order[:known]
        scores = _scores(kernel, X[among], X[chosen], chances, size)
        if weights is not None:
            scores = scores * weights[among]
        if known == len(X):
            return np.sort(among[_without_replacement(scores, size, rng)])
        places = _without_replacement(scores, 2 * size, rng)
        chosen, chances = among[places], np.minimum(2 * size * scores[places] / scores.sum(), 1)
        known = min(2 * known, len(X))


def _scores(kernel: RadialKernel, X: Array, Z: Array, chances: Array, size: int) -> Array:
    """Return ridge leverage scores of X, up to a factor, from landmarks Z.

    l(x) = k(x, x) - k(x, Z) (K_ZZ + ridge diag(chances))^{-1} k(Z, x), with a ridge at the
    size of the eigenvalues that half as many functions as landmarks cannot hold.
    """
    matrix = gram.gram(kernel, Z, Z)
    eigenvalues = np.linalg.eigvalsh(matrix / np.sqrt(np.outer(chances, chances))).clip(0)
    tail = eigenvalues[: max(len(Z) - size // 2, 1)].sum()
    ridge = max(2 * tail / size, cholesky.EXHAUSTED * eigenvalues[-1])
    try:
        factor = np.linalg.cholesky(matrix + ridge * np.diag(chances))
    except np.linalg.LinAlgError as error:
        raise ValueError(
            'landmarks="leverage" needs a positive definite kernel, and this one is not.'
        ) from error
    columns = solve_triangular(factor, np.eye(len(Z)), lower=True).T

    def held(block: Array) -> Array:
        return np.square(block @ columns).sum(axis=1, keepdims=True)

    left = kernel.kappa - gram.product(kernel, X, Z, held, 1)[:, 0]
    return np.maximum(left, cholesky.EXHAUSTED * kernel.kappa)


def _without_replacement(scores: Array, size: int, rng: Any) -> Rows:
    """Draw ``size`` indices in proportion to the scores (Efraimidis & Spirakis)."""
    with np.errstate(divide="ignore"):
        keys = np.log(rng.random_sample(len(scores))) / scores
    return np.argpartition(-keys, size - 1)[:size]


RULES: dict[str, Callable[..., Rows]] = {
    "uniform": uniform,
    "cholesky": pivoted_cholesky,
    "rpcholesky": random_cholesky,
    "leverage": leverage,
}

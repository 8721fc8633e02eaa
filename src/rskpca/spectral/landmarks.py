"""Rules for choosing Nystrom landmarks, rows that span the leading eigenfunctions well.

The arguments of a rule are a kernel, the rows X, their weights or None, the number of landmarks
and a RandomState. A rule returns row indices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from .._core import cholesky, gram
from .._core.sampling import sample_rows
from ..kernels import AnyKernel

Array = NDArray[np.floating]
Rows = NDArray[np.intp]


def uniform(kernel: AnyKernel, X: Any, weights: Array | None, size: int, rng: Any) -> Rows:
    """Draw rows without replacement, with probabilities proportional to their weights."""
    return sample_rows(X.shape[0], weights, size, rng)


def pivoted_cholesky(kernel: AnyKernel, X: Any, weights: Array | None, size: int, rng: Any) -> Rows:
    """Choose rows one by one; each is the row that the previous ones approximate worst."""
    # Weights have no effect: repeating a row does not change which row is approximated worst.
    return cholesky.greedy_cholesky(kernel, X, None, size).pivots


def random_cholesky(kernel: AnyKernel, X: Any, weights: Array | None, size: int, rng: Any) -> Rows:
    """Choose rows by randomly pivoted Cholesky (Chen, Epperly, Tropp & Webber)."""
    return cholesky.random_cholesky(kernel, X, weights, size, rng).pivots


def leverage(kernel: AnyKernel, X: Any, weights: Array | None, size: int, rng: Any) -> Rows:
    """Draw rows by recursive ridge leverage scores (Musco & Musco 2017)."""
    # The scores of all rows are computed from landmarks in a random half of them, whose scores are
    # computed from landmarks in a quarter, and so on down to a few rows. Landmarks are drawn
    # without replacement, with probabilities proportional to the scores.
    order = rng.permutation(X.shape[0])
    known = min(2 * size, X.shape[0])
    chosen, chances = order[:known], np.ones(known)
    while True:
        among = order[:known]
        scores = _scores(kernel, X[among], X[chosen], chances, size)
        if weights is not None:
            scores = scores * weights[among]
        if known == X.shape[0]:
            return np.sort(among[_without_replacement(scores, size, rng)])
        places = _without_replacement(scores, 2 * size, rng)
        chosen, chances = among[places], np.minimum(2 * size * scores[places] / scores.sum(), 1)
        known = min(2 * known, X.shape[0])


def _scores(kernel: AnyKernel, X: Any, Z: Any, chances: Array, size: int) -> Array:
    """Return ridge leverage scores of X, up to a factor, computed from landmarks Z.

    The scores are l(x) = k(x, x) - k(x, Z) (K_ZZ + ridge diag(chances))^{-1} k(Z, x). The ridge
    is comparable to the eigenvalues beyond the first size / 2.
    """
    matrix = gram.gram(kernel, Z, Z)
    eigenvalues = np.linalg.eigvalsh(matrix / np.sqrt(np.outer(chances, chances))).clip(0)
    tail = eigenvalues[: max(Z.shape[0] - size // 2, 1)].sum()
    ridge = max(2 * tail / size, cholesky.EXHAUSTED * eigenvalues[-1])
    try:
        factor = np.linalg.cholesky(matrix + ridge * np.diag(chances))
    except np.linalg.LinAlgError as error:
        raise ValueError(
            'landmarks="leverage" requires a positive definite kernel, but '
            f"{kernel!r} is not positive definite."
        ) from error
    columns = solve_triangular(factor, np.eye(Z.shape[0]), lower=True).T

    def held(block: Array) -> Array:
        return np.square(block @ columns).sum(axis=1, keepdims=True)

    own = kernel.diagonal(X)
    left = own - gram.product(kernel, X, Z, held, 1)[:, 0]
    return np.maximum(left, cholesky.EXHAUSTED * own.max())


def _without_replacement(scores: Array, size: int, rng: Any) -> Rows:
    """Draw ``size`` indices with probabilities proportional to scores (Efraimidis & Spirakis)."""
    with np.errstate(divide="ignore"):
        keys = np.log(rng.random_sample(len(scores))) / scores
    return np.argpartition(-keys, size - 1)[:size]


RULES: dict[str, Callable[..., Rows]] = {
    "uniform": uniform,
    "cholesky": pivoted_cholesky,
    "rpcholesky": random_cholesky,
    "leverage": leverage,
}

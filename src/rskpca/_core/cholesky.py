"""Pivoted partial Cholesky factorization of a kernel matrix, K ~ F F'.

Memory use is O(n m) for n rows and m pivots. The residual diagonal d = diag(K - F F') is large for
rows that the pivots approximate poorly. The next pivot maximizes it (greedy) or is drawn with
probability proportional to it (random).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from .gram import KernelRows
from .parallel import single_threaded_blas, slices

Array = NDArray[np.floating]
Rows = NDArray[np.intp]

EXHAUSTED = 1e-10  # residuals below this fraction of the largest diagonal entry are rounding errors
_BATCH = 64


class PartialCholesky:
    """Growing partial Cholesky factor F, with K ~ F F', and its residual diagonal.

    Each column of F is stored as a contiguous row of ``_factors``.
    """

    def __init__(self, kernel: Any, X: Any, n_pivots: int) -> None:
        self._values = KernelRows(kernel, X, X, np.float64)
        self.residual_diagonal = kernel.diagonal(X)
        self._full = float(self.residual_diagonal.max())
        self._factors = np.empty((n_pivots, X.shape[0]))
        self._pivots: list[int] = []

    @property
    def pivots(self) -> Rows:
        """Indices of the pivots, in the order of selection."""
        return np.array(self._pivots, dtype=np.intp)

    @property
    def factors(self) -> Array:
        """F', one row per pivot."""
        return self._factors[: len(self._pivots)]

    @property
    def size(self) -> int:
        """Number of elements in F when it is full."""
        return self._factors.size

    @property
    def full(self) -> bool:
        """True if there is no room for more pivots."""
        return len(self._pivots) == len(self._factors)

    def scores(self, weights: Array | None) -> Array:
        """Return the weighted residual diagonal, with rounding errors set to 0."""
        left = np.where(self._above_rounding(self.residual_diagonal), self.residual_diagonal, 0.0)
        return left if weights is None else weights * left

    def _above_rounding(self, left: Array) -> NDArray[np.bool_]:
        return left > EXHAUSTED * self._full

    def grow(self, n_pivots: int) -> None:
        """Make room for a total of ``n_pivots`` pivots."""
        factors = np.empty((n_pivots, len(self.residual_diagonal)))
        factors[: len(self._pivots)] = self.factors
        self._factors = factors

    def residual(self, rows: Rows) -> Array:
        """Return the given rows of K - F F'."""
        done = self.factors
        rest = np.empty((len(rows), len(self.residual_diagonal)))
        with single_threaded_blas():
            for part in slices(0, len(rows), self._values.n_rows):
                rest[part] = self._values[rows[part]]
        rest -= done[:, rows].T @ done
        return rest

    def add(self, row: int) -> None:
        """Add one pivot."""
        self._append([row], self.residual(np.array([row])) / np.sqrt(self.residual_diagonal[row]))

    def add_accepted(self, proposed: Rows, uniform: Array) -> None:
        """Accept or reject the proposed pivots one by one, and add the accepted ones.

        The proposals were drawn in proportion to the residual diagonal at the start of the batch.
        Each is accepted with probability (current residual) / (residual at the start), so accepted
        pivots are distributed in proportion to the current residual.
        """
        rest = self.residual(proposed)
        then, now = self.residual_diagonal[proposed], rest[:, proposed].copy()
        room = len(self._factors) - len(self._pivots)
        accepted: list[int] = []
        for i, u in enumerate(uniform):
            if (
                len(accepted) == room
                or not self._above_rounding(now[i, i])
                or u * then[i] >= now[i, i]
            ):
                continue
            accepted.append(i)
            column = now[:, i] / np.sqrt(now[i, i])
            now -= np.outer(column, column)
        kept = np.array(accepted, dtype=np.intp)
        factor = cholesky(rest[kept][:, proposed[kept]], lower=True)
        self._append(list(proposed[kept]), solve_triangular(factor, rest[kept], lower=True))

    def _append(self, rows: list[int], columns: Array) -> None:
        done = len(self._pivots)
        self._factors[done : done + len(rows)] = columns
        self._pivots += [int(row) for row in rows]
        self.residual_diagonal -= np.einsum("ij,ij->j", columns, columns)
        np.maximum(self.residual_diagonal, 0, out=self.residual_diagonal)
        self.residual_diagonal[self._pivots] = 0


def greedy_cholesky(kernel: Any, X: Any, weights: Array | None, n_pivots: int) -> PartialCholesky:
    """Choose pivots greedily; each is the first row that maximizes w d, with weights w.

    Fewer pivots are chosen if they already span all rows.
    """
    partial = PartialCholesky(kernel, X, n_pivots)
    fill_greedily(partial, weights)
    return partial


def fill_greedily(partial: PartialCholesky, weights: Array | None, trace: float = 0.0) -> None:
    """Add greedy pivots while there is room and the weighted residual trace exceeds ``trace``."""
    with single_threaded_blas(partial.size):
        while not partial.full and (left := partial.scores(weights)).sum() > trace:
            partial.add(int(np.argmax(left)))


def random_cholesky(
    kernel: Any,
    X: Any,
    weights: Array | None,
    n_pivots: int,
    rng: np.random.RandomState,
) -> PartialCholesky:
    """Draw each pivot with probability proportional to w d (Chen, Epperly, Tropp & Webber).

    Pivots are proposed in batches and filtered by rejection sampling. This does not change their
    distribution (Epperly, Tropp & Webber), and most of the work is done by matrix products.
    """
    partial = PartialCholesky(kernel, X, n_pivots)
    with single_threaded_blas(partial.size):
        while not partial.full and (left := partial.scores(weights)).any():
            below = np.cumsum(left)
            drawn = below[-1] * rng.random_sample(min(_BATCH, 2 * n_pivots))
            proposed = np.minimum(np.searchsorted(below, drawn, side="right"), X.shape[0] - 1)
            partial.add_accepted(proposed, rng.random_sample(len(proposed)))
    return partial

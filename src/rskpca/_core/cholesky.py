"""Partial Cholesky factors of a kernel matrix: pivots that hold most of what is left.

Memory is O(n m). The diagonal of what is left, d = diag(K - F F'), says where the pivots so
far do not reach; the next pivot is where it is largest (greedy), or is drawn in proportion to
it (random).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from .gram import Blocks, Radial
from .parallel import slices, undivided

Array = NDArray[np.floating]
Rows = NDArray[np.intp]

EXHAUSTED = 1e-10  # of the diagonal: the pivots span the rest as far as rounding can tell
_BATCH = 64


class PartialCholesky:
    """F with K ~ F F', a few columns at a time, and the diagonal of what is left.

    Each column of F is kept as a contiguous row of ``_factors``.
    """

    def __init__(self, kernel: Radial, X: Array, n_pivots: int) -> None:
        self._values = Blocks(kernel, X, X, np.float64)
        self._full = float(self._values[slice(0, 1)][0, 0])
        self.left = np.full(len(X), self._full)
        self._factors = np.empty((n_pivots, len(X)))
        self._pivots: list[int] = []

    @property
    def pivots(self) -> Rows:
        """The rows chosen so far, in order."""
        return np.array(self._pivots, dtype=np.intp)

    @property
    def factors(self) -> Array:
        """F', a row a pivot."""
        return self._factors[: len(self._pivots)]

    @property
    def size(self) -> int:
        """Elements of F when it is full."""
        return self._factors.size

    @property
    def full(self) -> bool:
        """Whether there are as many pivots as asked for."""
        return len(self._pivots) == len(self._factors)

    def chances(self, weights: Array | None) -> Array:
        """w times what is left, or 0 where that is rounding."""
        left = np.where(self._worth(self.left), self.left, 0.0)
        return left if weights is None else weights * left

    def _worth(self, left: Array) -> NDArray[np.bool_]:
        return left > EXHAUSTED * self._full

    def grow(self, n_pivots: int) -> None:
        """Make room for ``n_pivots`` pivots in all."""
        factors = np.empty((n_pivots, len(self.left)))
        factors[: len(self._pivots)] = self.factors
        self._factors = factors

    def residual(self, rows: Rows) -> Array:
        """Rows of K - F F' of the given pivots-to-be."""
        done = self.factors
        rest = np.empty((len(rows), len(self.left)))
        with undivided():
            for part in slices(0, len(rows), self._values.n_rows):
                rest[part] = self._values[rows[part]]
        rest -= done[:, rows].T @ done
        return rest

    def add(self, row: int) -> None:
        """One more pivot."""
        self._append([row], self.residual(np.array([row])) / np.sqrt(self.left[row]))

    def add_accepted(self, proposed: Rows, uniform: Array) -> None:
        """Those of the proposed pivots that rejection keeps, one after the other.

        They were drawn in proportion to what was left; with probability left now / left then
        each is as if drawn in proportion to what is left now.
        """
        rest = self.residual(proposed)
        then, now = self.left[proposed], rest[:, proposed].copy()
        room = len(self._factors) - len(self._pivots)
        accepted: list[int] = []
        for i, u in enumerate(uniform):
            if len(accepted) == room or not self._worth(now[i, i]) or u * then[i] >= now[i, i]:
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
        self.left -= np.einsum("ij,ij->j", columns, columns)
        np.maximum(self.left, 0, out=self.left)
        self.left[self._pivots] = 0


def greedy(kernel: Radial, X: Array, weights: Array | None, n_pivots: int) -> PartialCholesky:
    """Pivoted Cholesky: each pivot where w d is largest, the first of them.

    There are fewer pivots where they span all rows.
    """
    partial = PartialCholesky(kernel, X, n_pivots)
    fill_greedily(partial, weights)
    return partial


def fill_greedily(partial: PartialCholesky, weights: Array | None) -> None:
    """Add pivots where w d is largest until there is no room, or nothing left."""
    with undivided(partial.size):
        while not partial.full and (left := partial.chances(weights)).any():
            partial.add(int(np.argmax(left)))


def random(
    kernel: Radial,
    X: Array,
    weights: Array | None,
    n_pivots: int,
    rng: np.random.RandomState,
) -> PartialCholesky:
    """Randomly pivoted Cholesky (Chen, Epperly, Tropp & Webber): drawn in proportion to w d.

    Pivots are proposed in batches and thinned by rejection, which leaves their law as it is
    (Epperly, Tropp & Webber) and does the work in products of matrices.
    """
    partial = PartialCholesky(kernel, X, n_pivots)
    with undivided(partial.size):
        while not partial.full and (left := partial.chances(weights)).any():
            below = np.cumsum(left)
            drawn = below[-1] * rng.random_sample(min(_BATCH, 2 * n_pivots))
            proposed = np.minimum(np.searchsorted(below, drawn, side="right"), len(X) - 1)
            partial.add_accepted(proposed, rng.random_sample(len(proposed)))
    return partial

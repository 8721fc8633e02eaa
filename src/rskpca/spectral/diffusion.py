"""Random walks on the data: the diffusion operator and the normalized Laplacian.

Both divide the kernel by sums of itself, so that a row of it is a probability. With the
pull u and the reach s = K u of each center, the walk goes from x to c_j with probability
k(x, c_j) u_j / s(x). That is the paper's eq. (generic_eigen) with g(x, y) = 1 / (s(x) s(y)),
which is symmetric, and with the measure u s in place of w.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._core.gram import multiplier
from .operators import Extension, FittedOperator

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Diffusion:
    """The diffusion operator with alpha-normalisation (Coifman and Lafon, 2006).

    q = K w, k_alpha(x, y) = k(x, y) / (q(x) q(y))^alpha, d = k_alpha w, and the walk
    k_alpha(x, c_j) w_j / d(x), in which q(x)^alpha cancels: u_j = w_j / q_j^alpha.

    Attributes
    ----------
    alpha : float, default=1.0
        How much of the sampling density is divided out, from 0 (none: the normalized Laplacian)
        to 1 (all of it: the geometry alone).
    """

    alpha: float = 1.0

    def fit(self, gram: Any, weights: Array) -> FittedMarkov:
        """Learn q and d at the centers.

        Parameters
        ----------
        gram : matrix of shape (n_centers, n_centers)
            K^C, or anything that multiplies vectors as it does.
        weights : ndarray of shape (n_centers,)
            w.

        Returns
        -------
        FittedMarkov
            With the pull and the reach of each center.
        """
        pull = weights / (gram @ weights) ** self.alpha if self.alpha else weights
        return FittedMarkov(pull, gram @ pull)


@dataclass(frozen=True)
class NormalizedLaplacian:
    """The random walk of the normalized Laplacian, D^{-1} A, whose eigenvalues are 1 - its own.

    Attributes
    ----------
    self_affinity : bool, default=False
        False is scikit-learn's: k(x, x) is left out of A and D. Of w_i equal points each has
        w_i - 1 others where it lies, so that the diagonal of K^C becomes kappa (1 - 1 / w_i).
        Where weights are below 1, the smallest takes the place of 1.
    """

    self_affinity: bool = False

    def fit(self, gram: Any, weights: Array) -> FittedMarkov:
        """Learn the degrees of the centers.

        Parameters
        ----------
        gram : CenterMatrix of shape (n_centers, n_centers)
            K^C, whose diagonal is changed where self-affinities are left out.
        weights : ndarray of shape (n_centers,)
            w.

        Returns
        -------
        FittedMarkov
            With the degrees; a center that nothing is near has degree 1 and a row of zeros.
        """
        loop = 0.0 if self.self_affinity else min(1.0, float(weights.min()))
        if loop:
            gram.set_diagonal(gram.kappa * (1 - loop / weights))
        degrees = gram @ weights
        alone = degrees <= 0
        return FittedMarkov(weights, np.where(alone, 1.0, degrees), loop, int(alone.sum()))


@dataclass(frozen=True, eq=False)
class FittedMarkov(FittedOperator):
    """A random walk that knows its centers.

    Attributes
    ----------
    pull : ndarray of shape (n_centers,)
        u: the walk goes to c_j in proportion to k(x, c_j) u_j.
    reach : ndarray of shape (n_centers,)
        s = K u at the centers.
    loop : float
        The weight that a point itself has, where its own affinity is left out; else 0.
    n_isolated : int
        Centers that nothing is near.
    """

    pull: Array
    reach: Array
    loop: float = 0.0
    n_isolated: int = 0

    def measure(self, weights: Array) -> Array:
        """u s: what the walk leaves as it is, the stationary distribution up to its sum."""
        return self.pull * self.reach

    def apply(self, block: Any, X: Array, C: Array) -> Any:
        """k(x, c_j) / (s(x) s_j)."""
        rows = block @ self.pull
        rows[rows == 0] = 1.0
        if sparse.issparse(block):
            return sparse.diags_array(1 / rows) @ block @ sparse.diags_array(1 / self.reach)
        block /= self.reach
        block /= rows[:, None]
        return block

    def projected(
        self, coefficients: Array, project: Callable[[Array], Array]
    ) -> tuple[FittedMarkov, Array]:
        """The walk and the coefficients of its functions in the span of fewer points.

        The sums over centers of which :meth:`extension` makes the functions, K u and K (A / s),
        are functions in H; ``project`` gives the coefficients of their projections.
        """
        pull = project(self.pull[:, None])[:, 0]
        walk = FittedMarkov(pull, np.ones(len(pull)), self.loop, self.n_isolated)
        return walk, project(coefficients / self.reach[:, None])

    def extension(self, coefficients: Array, eigenvalues: Array, dtype: Any) -> Extension:
        """Eigenfunctions at X: means over where the walk goes, over the eigenvalue."""
        # Where its own affinity is left out a center c has, with kappa = k(c, c),
        #   (sum_j u_j k(c, c_j) f_j - loop kappa f(c)) / (s(c) - loop kappa) = lambda f(c).
        # A new point is taken to be as much the center nearest to it as the kernel says, so that
        # kappa becomes k(x) = max_j k(x, c_j), and
        #   f(x) = sum_j u_j k(x, c_j) f_j / (lambda (s(x) - loop k(x)) + loop k(x)):
        # centers have their own values, and far points about those of the nearest. A row that is
        # zero in floating point, a point that no center reaches, gives zero.
        columns = np.column_stack([coefficients / self.reach[:, None], self.pull]).astype(dtype)
        rest = np.maximum(self.loop * (1 / eigenvalues - 1), 0.0).astype(dtype)
        multiply = multiplier(columns)

        def extend(block: Any, X: Array, C: Array) -> Array:
            product = block @ columns if sparse.issparse(block) else multiply(block)
            sums = np.repeat(product[:, -1:], len(rest), axis=1)
            if self.loop:
                sums += np.outer(_largest(block), rest)
            return np.divide(product[:, :-1], sums, out=np.zeros_like(sums), where=sums > 0)

        return extend


def _largest(block: Any) -> Array:
    """The largest of each row."""
    return block.max(axis=1).toarray() if sparse.issparse(block) else block.max(axis=1)

"""Random walks on the data: the diffusion operator and the normalized Laplacian.

Both normalize the kernel so that each row becomes a probability distribution. With the pull u and
the reach s = K u of each center, the walk moves from x to c_j with probability
k(x, c_j) u_j / s(x). This is the paper's eq. (generic_eigen) with the symmetric function
g(x, y) = 1 / (s(x) s(y)) and with the measure u s instead of w.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import _validation as check
from .._core.gram import multiplier
from .operators import Extension, FittedOperator

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Diffusion:
    """Diffusion operator with alpha-normalization (Coifman and Lafon, 2006).

    With q = K w, k_alpha(x, y) = k(x, y) / (q(x) q(y))^alpha and d = k_alpha w, the transition
    probabilities are k_alpha(x, c_j) w_j / d(x). The factor q(x)^alpha cancels, so that
    u_j = w_j / q_j^alpha.

    Attributes
    ----------
    alpha : float, default=1.0
        Exponent with which the sampling density is divided out. 0 yields the normalized
        Laplacian; with 1, the operator depends only on the geometry of the data.
    """

    alpha: float = 1.0

    def fit(self, gram: Any, weights: Array) -> FittedMarkov:
        """Compute q and d at the centers.

        Parameters
        ----------
        gram : matrix of shape (n_centers, n_centers)
            K^C, or an object that supports ``gram @ v``.
        weights : ndarray of shape (n_centers,)
            The weights w of the centers.

        Returns
        -------
        FittedMarkov
            The random walk with the pull and the reach of each center.
        """
        pull = weights / (gram @ weights) ** self.alpha if self.alpha else weights
        return FittedMarkov(pull, gram @ pull, alpha=float(self.alpha))


@dataclass(frozen=True)
class NormalizedLaplacian:
    """Random walk D^{-1} A of the normalized Laplacian L = 1 - D^{-1} A.

    Attributes
    ----------
    self_affinity : bool, default=False
        Whether A and D include k(x, x). If False, as in scikit-learn, each of w_i equal points
        has an affinity with only the w_i - 1 others, so that the diagonal of K^C becomes
        kappa (1 - 1 / w_i), or 0 for a weight below 1. The matrix then also has negative
        eigenvalues, whose eigenfunctions change sign between neighboring points.
    """

    self_affinity: bool = False

    def fit(self, gram: Any, weights: Array) -> FittedMarkov:
        """Compute the degrees of the centers.

        Parameters
        ----------
        gram : CenterMatrix of shape (n_centers, n_centers)
            K^C, whose diagonal is modified if self-affinities are excluded.
        weights : ndarray of shape (n_centers,)
            The weights w of the centers.

        Returns
        -------
        FittedMarkov
            The random walk. An isolated center has degree 1 and a row of zeros.
        """
        loop = 0.0 if self.self_affinity else np.minimum(1.0, weights)
        if not self.self_affinity:
            gram.set_diagonal(gram.own * (1 - loop / weights))
        degrees = gram @ weights
        alone = degrees <= 0
        reach = np.where(alone, 1.0, degrees)
        return FittedMarkov(weights, reach, loop, int(alone.sum()), alpha=0.0)


@dataclass(frozen=True, eq=False)
class FittedMarkov(FittedOperator):
    """Random walk fitted to its centers.

    Attributes
    ----------
    pull : ndarray of shape (n_centers,)
        The factors u. The walk moves from x to c_j with probability proportional to
        k(x, c_j) u_j.
    reach : ndarray of shape (n_centers,)
        The sums s = K u at the centers.
    loop : ndarray of shape (n_centers,), or 0
        The weight of a point's own affinity if self-affinities are excluded, else 0.
    n_isolated : int
        Number of isolated centers.
    alpha : float or None
        The exponent in u = w / q^alpha; None if it is not known.
    """

    pull: Array
    reach: Array
    loop: Array | float = 0.0
    n_isolated: int = 0
    alpha: float | None = None

    def __post_init__(self) -> None:
        check.shapes(self, pull="m", reach="m", **({"loop": "m"} if np.any(self.loop) else {}))
        if not (self.reach > 0).all():
            raise ValueError(f"reach must be positive, got a minimum of {self.reach.min():g}.")

    @property
    def indefinite(self) -> bool:
        """True if self-affinities are excluded: the smaller diagonal makes K~ indefinite."""
        return bool(np.any(self.loop))

    def measure(self, weights: Array) -> Array:
        """Return u s, the unnormalized stationary distribution."""
        return self.pull * self.reach

    def apply(self, block: Any, X: Array, C: Array) -> Any:
        """Return k(x, c_j) / (s(x) s_j)."""
        rows = block @ self.pull
        rows[rows == 0] = 1.0
        if sparse.issparse(block):
            return sparse.diags_array(1 / rows) @ block @ sparse.diags_array(1 / self.reach)
        block /= self.reach
        block /= rows[:, None]
        return block

    def projected(
        self,
        coefficients: Array,
        project: Callable[[Array], Array],
        nearest: Callable[[], NDArray[np.intp]],
    ) -> tuple[FittedMarkov, Array]:
        """Return the walk in the span of fewer points, and the coefficients of its functions."""
        # ``extension`` computes the functions from the sums K u and K (A / s), which are elements
        # of H; ``project`` returns the coefficients of their projections. Each point has the
        # self-affinity of its ``nearest`` center.
        pull = project(self.pull[:, None])[:, 0]
        loop = np.asarray(self.loop)
        if loop.ndim:
            loop = np.full(len(pull), loop[0]) if _even(loop) else loop[nearest()]
        walk = FittedMarkov(pull, np.ones(len(pull)), loop, self.n_isolated, self.alpha)
        return walk, project(coefficients / self.reach[:, None])

    def extension(self, coefficients: Array, eigenvalues: Array, dtype: Any) -> Extension:
        """Return a function that averages f over the next step and divides by the eigenvalue."""
        # Without self-affinities, a center c satisfies, with kappa = k(c, c),
        #   (sum_j u_j k(c, c_j) f_j - loop kappa f(c)) / (s(c) - loop kappa) = lambda f(c).
        # For a new point x, kappa is replaced by k(x) = max_j k(x, c_j), which measures how close
        # x is to its nearest center, and loop is taken from that center:
        #   f(x) = sum_j u_j k(x, c_j) f_j / (lambda (s(x) - loop k(x)) + loop k(x)).
        # Centers keep their own values, and distant points get about the value of the nearest
        # center. If a row is zero in floating point (no center reaches the point), f(x) is zero.
        # For a negative lambda, the denominator has zeros between the centers, so the formula does
        # not apply; the column only indicates whether any center is reached.
        negative = eigenvalues < 0
        columns = np.column_stack([coefficients / self.reach[:, None], self.pull]).astype(dtype)
        rest = np.maximum(1 / eigenvalues - 1, 0.0).astype(dtype)
        multiply = multiplier(columns)

        def extend(block: Any, X: Array, C: Array) -> Array:
            product = block @ columns if sparse.issparse(block) else multiply(block)
            sums = np.repeat(product[:, -1:], len(rest), axis=1)
            if self.indefinite:
                sums += np.outer(_own(block, np.asarray(self.loop, dtype=dtype)), rest)
            out = np.divide(product[:, :-1], sums, out=np.zeros_like(sums), where=sums > 0)
            out[:, negative] = product[:, -1:] > 0
            return out

        return extend


def _own(block: Any, loop: Array) -> Array:
    """Return the self-affinity of x, loop_j k(x, c_j) for the nearest center c_j."""
    largest = block.max(axis=1)
    largest = largest.toarray() if sparse.issparse(block) else largest
    return (loop[0] if _even(loop) else loop[block.argmax(axis=1)]) * largest


def _even(loop: Array) -> bool:
    return bool(np.all(loop == loop[0]))

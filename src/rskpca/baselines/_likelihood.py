"""Tipping's covariance model in feature space, fitted one weight at a time.

The model is C = s I + sum_i u_i psi(c_i) psi(c_i)' with noise s and weights u_i. The points c_n
have shares w_n that sum to 1. Up to a constant, the log-likelihood per point is
-(1/2) [log|C / s| + sum_n w_n psi(c_n)' C^{-1} psi(c_n)].
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky

from .. import _validation as check
from .._core import gram
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet

Array = NDArray[np.floating]

_STEPS = 20_000
_REFRESH = 20  # steps after which S and Q are recomputed, because rank-one updates lose precision
_BISECTIONS = 16


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Kernel sums over the weighted points, with columns computed on first use.

    ``squares`` contains sum_n w_n k(c_i, c_n)^2. Only the columns K_ij = k(c_i, c_j) and
    G_ij = sum_n w_n k(c_i, c_n) k(c_n, c_j) of points j that have been used are stored, so no n x n
    matrix is needed.
    """

    kernel: RadialKernel
    centers: Array
    shares: Array
    squares: Array
    _columns: dict[int, tuple[Array, Array]] = field(default_factory=dict)

    @classmethod
    def of(cls, kernel: RadialKernel, reduced_set: ReducedSet) -> Likelihood:
        """Create the likelihood for the points of a reduced set."""
        centers = reduced_set.centers.astype(np.float64)
        shares = reduced_set.weights / reduced_set.n_samples
        squares = gram.product(
            kernel, centers, centers, lambda block: (block**2 @ shares)[:, None], 1
        )
        return cls(kernel, centers, shares, squares[:, 0])

    @property
    def largest_noise(self) -> float:
        """The smallest noise at which all weights are zero."""
        return float(self.squares.max() / self.kernel.kappa)

    @property
    def least_noise(self) -> float:
        """The smallest noise at which rounding errors do not dominate Q."""
        return 1e-5 * self.kernel.kappa

    def columns(self, points: NDArray[np.intp]) -> tuple[Array, Array]:
        """Return the columns of K and G for the given points."""
        for point in points:
            if int(point) not in self._columns:
                self._columns[int(point)] = self._column(int(point))
        pairs = [self._columns[int(point)] for point in points]
        empty = np.empty((len(self.centers), 0))
        return (
            np.column_stack([empty, *(k for k, _ in pairs)]),
            np.column_stack([empty, *(g for _, g in pairs)]),
        )

    def _column(self, point: int) -> tuple[Array, Array]:
        k = gram.gram(self.kernel, self.centers, self.centers[point : point + 1])
        weighted = self.shares[:, None] * k
        g = gram.product(self.kernel, self.centers, self.centers, lambda block: block @ weighted, 1)
        return k[:, 0], g[:, 0]


class Covariance:
    """Covariance C for weights u, with the sums S and Q that determine the likelihood.

    S_i = psi_i' C^{-1} psi_i and Q_i = sum_n w_n (psi_i' C^{-1} psi_n)^2. Let A be the points with
    positive weight and B = (s U_A^{-1} + K_AA)^{-1}. Then
    s psi_i' C^{-1} psi_n = k(c_i, c_n) - K_iA B K_An.
    """

    def __init__(self, likelihood: Likelihood, noise: float, u: Array) -> None:
        self.likelihood, self.noise, self.u = likelihood, noise, u
        self._activate()
        self._factor()
        self.refresh()

    def _activate(self) -> None:
        """Set A, K_A and G_A."""
        self.active = np.flatnonzero(self.u)
        self.K, self.G = self.likelihood.columns(self.active)

    def _factor(self) -> None:
        """Compute the Cholesky factor of B^{-1}."""
        A = self.active
        self.root = cholesky(self.K[A] + np.diag(self.noise / self.u[A]), lower=True)

    def _solve(self, right: Array) -> Array:
        """Return B times the right-hand side."""
        return cho_solve((self.root, True), right)

    def refresh(self) -> None:
        """Recompute S and Q from the weights."""
        K, G, s = self.K, self.G, self.noise
        V = self._solve(K.T).T  # K_iA B
        self.S = (self.likelihood.kernel.kappa - np.sum(V * K, axis=1)) / s
        products = (V @ G[self.active]) * V  # G_AA = sum_n w_n K_An K_nA
        squares = self.likelihood.squares - np.sum(2 * V * G - products, axis=1)
        self.Q = squares / s**2

    def best(self) -> tuple[int, float, float]:
        """Return the index, weight and gain of the single change that raises the likelihood most.

        With S and Q computed for C without the point, the log-likelihood as a function of the
        point's weight u is -(1/2) [log(1 + u S) - u Q / (1 + u S)]. Its maximum is at
        1 + u S = Q / S, or at zero.
        """
        S, Q = self._without_itself()
        u = np.maximum(Q / S - 1, 0) / S
        gains = _own_part(u, S, Q) - _own_part(self.u, S, Q)
        i = int(np.argmax(gains))
        return i, float(u[i]), float(gains[i])

    def _without_itself(self) -> tuple[Array, Array]:
        """Return S and Q of each point, computed for C without that point.

        These are S / (1 - u S) and Q / (1 - u S)^2. For points in A, cancellation is avoided by
        using 1 - u_i S_i = s B_ii / u_i and Q_i = (B G_AA B)_ii / u_i^2.
        """
        A, S, Q = self.active, self.S.copy(), self.Q.copy()
        B = self._solve(np.eye(len(A)))
        own = self.noise * np.diag(B)
        S[A] *= self.u[A] / own
        Q[A] = np.sum((B @ self.G[A]) * B, axis=1) / own**2
        return S, Q

    def set(self, i: int, value: float) -> None:
        """Change one weight, and update S and Q for the rank-one change of C^{-1}."""
        change = value - self.u[i]
        k, g = (columns[:, 0] for columns in self.likelihood.columns(np.array([i])))
        b = self._solve(self.K[i])
        k, g = k - self.K @ b, g - self.G @ b
        g -= self.K @ self._solve(g[self.active])
        # m_j = psi_j' C^{-1} psi_i and h_j = sum_n w_n m_n psi_j' C^{-1} psi_n
        m, h = k / self.noise, g / self.noise**2
        c = change / (1 + change * self.S[i])
        self.Q = self.Q - 2 * c * m * h + c**2 * m**2 * self.Q[i]
        self.S = self.S - c * m**2
        entered_or_left = (self.u[i] > 0) != (value > 0)
        self.u[i] = value
        if entered_or_left:
            self._activate()
        self._factor()

    def log_likelihood(self) -> float:
        """Return the log-likelihood per point, up to a constant.

        The constant depends only on the noise and on the dimension of the feature space.
        """
        s, kappa = self.noise, self.likelihood.kernel.kappa
        volume = 2 * np.log(np.diag(self.root)).sum() + np.log(self.u[self.active] / s).sum()
        explained = np.trace(self._solve(self.G[self.active]))
        return float(-0.5 * (volume + (kappa - explained) / s))


def _own_part(u: Array, S: Array, Q: Array) -> Array:
    part: Array = -0.5 * (np.log1p(u * S) - u * Q / (1 + u * S))
    return part


def maximize(
    likelihood: Likelihood, noise: float, give_up_above: float = np.inf, least_gain: float = 1e-5
) -> Array:
    """Maximize the likelihood by changing one weight at a time, and return the weights.

    Starting from zero, each step changes the weight that raises the likelihood most and sets it to
    its optimal value, until the gain per point is at most ``least_gain``. The search stops early
    when more than ``give_up_above`` weights are nonzero.
    """
    covariance = Covariance(likelihood, noise, np.zeros(len(likelihood.centers)))
    for step in range(1, _STEPS + 1):
        if step % _REFRESH == 0:
            covariance.refresh()
        i, u, gain = covariance.best()
        if len(covariance.active) and gain <= least_gain:
            return covariance.u
        covariance.set(i, u)
        if len(covariance.active) > give_up_above:
            return covariance.u
    check.warn(
        f"The weights did not converge after {_STEPS} steps with noise={noise:g}. Use a larger "
        "noise, which makes more weights zero."
    )
    return covariance.u


def sparsest(likelihood: Likelihood, n_centers: int) -> tuple[float, Array]:
    """Return the noise and the weights for which nearly ``n_centers`` weights are positive.

    The noise is found by bisection. The number of positive weights is at most ``n_centers``.
    """
    high, low = likelihood.largest_noise * (1 - 1e-9), 0.0
    best = high, maximize(likelihood, high)  # a single weight
    for _ in range(_BISECTIONS):
        noise = float(np.sqrt(high * low)) if low else high / 4
        if noise < likelihood.least_noise:
            break
        weights = maximize(likelihood, noise, 2 * n_centers)
        count = np.count_nonzero(weights)
        if count > n_centers:
            low = noise
            continue
        high = noise
        if count > np.count_nonzero(best[1]):
            best = noise, weights
        if count == n_centers:
            break
    return best

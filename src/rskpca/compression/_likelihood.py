"""Tipping's covariance model in feature space, and its likelihood, a weight at a time.

C = s I + sum_i u_i psi(c_i) psi(c_i)', with s the noise, and points c_n that count w_n times,
w_1 + w_2 + ... = N. Up to a constant the log likelihood is
-(1/2) [N log|C / s| + sum_n w_n psi(c_n)' C^{-1} psi(c_n)].
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from .._core import gram
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet

Array = NDArray[np.floating]

_GAINS = 1e-6  # no step raises the log likelihood by more than this a point: converged
_STEPS = 20_000
_REFRESH = 50  # steps until S and Q are computed anew, against rounding that adds up


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Kernel sums of the weighted points, each column made when its point is first used.

    ``squares`` are sum_n w_n k(c_i, c_n)^2. Of a column j, K_ij = k(c_i, c_j) and
    G_ij = sum_n w_n k(c_i, c_n) k(c_n, c_j) are kept. Nothing is n x n.
    """

    kernel: RadialKernel
    centers: Array
    weights: Array
    squares: Array
    _columns: dict[int, tuple[Array, Array]] = field(default_factory=dict)

    @classmethod
    def of(cls, kernel: RadialKernel, reduced_set: ReducedSet) -> Likelihood:
        """Of the points that a reduced set holds."""
        centers, weights = reduced_set.centers.astype(np.float64), reduced_set.weights
        squares = gram.product(
            kernel, centers, centers, lambda block: (block**2 @ weights)[:, None], 1
        )
        return cls(kernel, centers, weights, squares[:, 0])

    @property
    def total(self) -> float:
        return float(self.weights.sum())

    @property
    def largest_noise(self) -> float:
        """From this noise on no point has a weight."""
        return float(self.squares.max() / (self.total * self.kernel.kappa))

    def columns(self, points: NDArray[np.intp]) -> tuple[Array, Array]:
        """K and G of these points."""
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
        weighted = self.weights[:, None] * k
        g = gram.product(self.kernel, self.centers, self.centers, lambda block: block @ weighted, 1)
        return k[:, 0], g[:, 0]


@dataclass(eq=False)
class Covariance:
    """C for weights u, with S_i = psi_i' C^{-1} psi_i and Q_i = sum_n w_n (psi_i' C^{-1} psi_n)^2.

    With A the points that have a weight and B = (s U_A^{-1} + K_AA)^{-1},
    s psi_i' C^{-1} psi_n = k(c_i, c_n) - K_iA B K_An.
    """

    likelihood: Likelihood
    noise: float
    u: Array

    def __post_init__(self) -> None:
        self.refresh()

    def refresh(self) -> None:
        """S and Q from the weights."""
        K, G, factor, active = self._factored()
        V = cho_solve(factor, K.T).T if len(active) else K  # K_iA B
        H = G[active]  # sum_n w_n K_nA' K_nA
        s, kappa = self.noise, self.likelihood.kernel.kappa
        self.S = (kappa - np.sum(V * K, axis=1)) / s
        squares = self.likelihood.squares
        self.Q = (squares - 2 * np.sum(V * G, axis=1) + np.sum((V @ H) * V, axis=1)) / s**2

    def _factored(self) -> tuple[Array, Array, tuple[Array, bool], NDArray[np.intp]]:
        active = np.flatnonzero(self.u)
        K, G = self.likelihood.columns(active)
        matrix = K[active] + np.diag(self.noise / self.u[active])
        return K, G, cho_factor(matrix) if len(active) else (matrix, False), active

    def best(self) -> tuple[int, float, float]:
        """The point whose own best weight raises the log likelihood most, that weight, and by how
        much.

        With C without point i, S = S_i / (1 - u_i S_i) and Q = Q_i / (1 - u_i S_i)^2, and the log
        likelihood is -(1/2) [N log(1 + u S) - u Q / (1 + u S)] in u = u_i: largest where
        1 + u S = Q / (N S), or at zero.
        """
        N, rest = self.likelihood.total, 1 - self.u * self.S
        S, Q = self.S / rest, self.Q / rest**2
        u = np.maximum(Q / (N * S) - 1, 0) / S
        gains = _own_part(u, S, Q, N) - _own_part(self.u, S, Q, N)
        i = int(np.argmax(gains))
        return i, float(u[i]), float(gains[i])

    def set(self, i: int, value: float) -> None:
        """Change one weight, and S and Q with it: C^{-1} changes by a matrix of rank one."""
        change = value - self.u[i]
        K, G, factor, active = self._factored()
        k, g = (columns[:, 0] for columns in self.likelihood.columns(np.array([i])))
        if len(active):
            b = cho_solve(factor, K[i])
            weighted = (g[active] - G[active] @ b)  # sum_n w_n K_nA s m_n
            k, g = k - K @ b, g - G @ b - K @ cho_solve(factor, weighted)
        m, h = k / self.noise, g / self.noise**2  # psi' C^{-1} psi_i, and its product with m
        c = change / (1 + change * self.S[i])
        self.Q = self.Q - 2 * c * m * h + c**2 * m**2 * self.Q[i]
        self.S = self.S - c * m**2
        self.u[i] = value

    def log_likelihood(self) -> float:
        """Of the data, up to a constant that depends on the noise and the dimension of H alone."""
        _, G, factor, active = self._factored()
        K, _ = self.likelihood.columns(active)
        N, s, u = self.likelihood.total, self.noise, self.u[active]
        explained, volume = 0.0, 0.0
        if len(active):
            explained = float(np.trace(cho_solve(factor, G[active])))
            volume = 2 * float(np.log(np.diag(factor[0])).sum()) + float(np.log(u / s).sum())
        return -0.5 * (N * volume + (N * self.likelihood.kernel.kappa - explained) / s)


def _own_part(u: Array, S: Array, Q: Array, N: float) -> Array:
    part: Array = -0.5 * (N * np.log1p(u * S) - u * Q / (1 + u * S))
    return part


def maximise(likelihood: Likelihood, noise: float, at_most: int | None = None) -> Array | None:
    """Weights that no change of one alone makes better; None where more than ``at_most`` are there.

    From no weights, each step sets the weight that raises the likelihood most to its best value.
    """
    covariance = Covariance(likelihood, noise, np.zeros(len(likelihood.centers)))
    fresh = True
    for step in range(1, _STEPS):
        i, u, gain = covariance.best()
        if gain <= _GAINS * likelihood.total:
            if fresh:
                break
            covariance.refresh()
            fresh = True
            continue
        covariance.set(i, u)
        fresh = step % _REFRESH == 0
        if fresh:
            covariance.refresh()
        if at_most is not None and np.count_nonzero(covariance.u) > at_most:
            return None
    return covariance.u

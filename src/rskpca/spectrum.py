"""What random frequencies see of the data: sums that add, subtract and merge.

By Bochner's theorem k(x, y) = kappa E exp(i <omega, x - y>) over random frequencies omega. So the
squared distance in feature space between two weighted sets of points is the mean over omega of
the squared difference of their characteristic functions. With two independent frequencies a and
b of k, a - b and a + b are frequencies of k^2, whose feature space holds the operators.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from sklearn.utils import check_random_state

from ._core import waves
from .kernels import RadialKernel

Array = NDArray[np.floating]
Complex = NDArray[np.complex128]

# A wave is within 1e-6 of the true one (half of 2^-20 in each part, and its float32). The centered
# error has six of them, the others two.
ROUNDING = 6e-6

# Fewer frequencies than this that feel a displacement are too few to estimate its error from.
_ENOUGH = 4.0

# The part of the risk that the limit uses; the rest is for what Hall's expansion leaves out.
_USED_RISK = 2 / 3


class Estimate(NamedTuple):
    """An error estimated from random frequencies, and what it stays below.

    Attributes
    ----------
    value : float
        The estimate; its square is unbiased.
    limit : float
        The error is at most this, at the confidence asked for.
    """

    value: float
    limit: float


class Errors(NamedTuple):
    """Squared errors of k / kappa as each pair of frequencies sees them; unbiased in the mean.

    Attributes
    ----------
    mmd : ndarray of shape (n_pairs,)
        Squared maximum mean discrepancy.
    operator : ndarray of shape (n_pairs,)
        Squared Hilbert-Schmidt norm of K_n - K-bar_n.
    centered : ndarray of shape (n_pairs,)
        The same of the operators about their means.
    """

    mmd: Array
    operator: Array
    centered: Array


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Weighted sums of exp(2 pi i <f, x - origin>) over the data, for pairs of frequencies.

    Attributes
    ----------
    turns : ndarray of shape (2, n_pairs, n_features)
        Frequencies a and b of the kernel k, divided by 2 pi.
    origin : ndarray of shape (n_features,)
        Where phases are zero: the first row.
    sums : ndarray of shape (4, n_pairs)
        For f = a, b, a - b and a + b.
    kernel : RadialKernel
        Whose frequencies they are.
    """

    turns: Array
    origin: Array
    sums: Complex
    kernel: RadialKernel

    def __post_init__(self) -> None:
        for array in (self.turns, self.origin, self.sums):
            array.flags.writeable = False

    @classmethod
    def of(
        cls, kernel: RadialKernel, origin: Array, n_frequencies: int, random_state: Any
    ) -> Spectrum | None:
        """Sums of no data yet.

        Parameters
        ----------
        kernel : RadialKernel
            With a number for its bandwidth.
        origin : ndarray of shape (n_features,)
            A point near the data, such as the first row.
        n_frequencies : int
            How many frequencies of k, rounded up to a multiple of 160; 0 for none.
        random_state : int, RandomState or None
            Seed. Sums of different frequencies cannot be merged.

        Returns
        -------
        Spectrum or None
            None without frequencies: none are wanted, or the kernel does not know its own.
        """
        if n_frequencies == 0:
            return None
        seed = check_random_state(random_state).randint(2**31 - 1)
        n_pairs = waves.pairs_in_tiles(-(-n_frequencies // 2))
        found = kernel.frequencies((2, n_pairs), len(origin), np.random.default_rng(seed))
        if found is None:
            return None
        origin = np.array(origin, dtype=np.float64)
        sums = np.zeros((4, n_pairs), dtype=np.complex128)
        return cls(found / (2 * np.pi), origin, sums, kernel)

    def add(self, X: Array, weights: Array) -> Spectrum:
        """The sums with these rows more; negative weights take rows away.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Rows.
        weights : ndarray of shape (n_samples,)
            Their weights.

        Returns
        -------
        Spectrum
            With the same bits for any chunks of the rows, and for any order where all weights
            are whole and sum to at most 2^33.
        """
        sums = waves.add_waves(X, weights, self.origin, self.turns, self.sums)
        return replace(self, sums=sums)

    def merge(self, other: Spectrum | None) -> Spectrum | None:
        """The sums of the data of both; None where the frequencies differ.

        Parameters
        ----------
        other : Spectrum or None
            Phases are turned where its origin is another.

        Returns
        -------
        Spectrum or None
            About the origin of ``self``.
        """
        if other is None or not np.array_equal(self.turns, other.turns):
            return None
        sums = other.sums
        if not np.array_equal(self.origin, other.origin):
            a, b = self.turns @ (other.origin - self.origin)
            sums = sums * np.exp(2j * np.pi * np.stack([a, b, a - b, a + b]))
        return replace(self, sums=self.sums + sums)

    def serves(self, kernel: RadialKernel) -> bool:
        """Whether the frequencies are those of this kernel."""
        return kernel.same_as(self.kernel)

    def sees(self, length: float) -> bool:
        """Whether there are enough frequencies for points that moved by this length.

        A wave feels a displacement d as v = 1 - cos <omega, d>. Frequencies count by their
        share in v, (E v)^2 / E v^2, as with E cos <omega, d> = k(d) / kappa the kernel says.
        That is a third of them for the Gaussian and short lengths, but length / sigma for
        the Laplacian: its error lies at rare, high frequencies.

        Parameters
        ----------
        length : float
            As a rule the sum of ||x - c||^2 over that of ||x - c||.

        Returns
        -------
        bool
            False: the limit of the error cannot be trusted.
        """
        return self.n_pairs * 2 * self._felt(length) >= _ENOUGH

    def _felt(self, length: float) -> float:
        length = max(length, 1e-6 * self.kernel.scale)  # below, nothing is left of the difference
        once, twice = (self.kernel.drop(times * length) / self.kernel.kappa for times in (1, 2))
        return float(once**2 / (2 * once - twice / 2))

    @property
    def n_pairs(self) -> int:
        """How many pairs of frequencies."""
        return int(self.turns.shape[1])

    def errors(self, centers: Array, weights: Array) -> Errors:
        """How the data differ from weighted centers.

        Parameters
        ----------
        centers : ndarray of shape (n_centers, n_features)
            C.
        weights : ndarray of shape (n_centers,)
            w, which sum to as much as those of the data.

        Returns
        -------
        Errors
            One of each kind for every pair.
        """
        total = weights.sum()
        nothing = replace(self, sums=np.zeros_like(self.sums))
        data, reduced = self.sums / total, nothing.add(centers, weights).sums / total
        a, b, minus, plus = data - reduced
        products = [_pairs(*means[:2]) for means in (data, reduced)]
        centered = np.stack([minus, plus]) - (products[0] - products[1])
        return Errors(
            _mean_square(a, b),
            _mean_square(minus, plus),
            _mean_square(*centered),
        )

    def __eq__(self, other: object) -> bool:
        """Equal to the last bit."""
        if not isinstance(other, Spectrum):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("turns", "origin", "sums")
        )

    __hash__ = None  # type: ignore[assignment]


def _pairs(a: Complex, b: Complex) -> Complex:
    """What a - b and a + b would be if the two waves were independent."""
    return np.stack([a * b.conj(), a * b])


def _mean_square(first: Complex, second: Complex) -> Array:
    return 0.5 * (np.abs(first) ** 2 + np.abs(second) ** 2)


def estimate(squares: Array, confidence: float) -> Estimate:
    """The root of the mean of squared errors, and an upper limit of it.

    The squares are independent, alike and skewed to the right. The limit inverts Hall's
    cubic transformation of the t statistic, which takes the skewness out of it, at two thirds of
    the risk. It assumes that the sample shows the skewness of the distribution: that no
    frequency far out of the sample carries much of the error.

    Parameters
    ----------
    squares : ndarray of shape (n_pairs,)
        Of :class:`Errors`.
    confidence : float
        Between 0 and 1.

    Returns
    -------
    Estimate
        Value and limit; the limit has the rounding of the waves on top.
    """
    n = len(squares)
    mean = float(squares.mean())
    deviations = squares - mean
    spread = math.sqrt(float((deviations**2).mean()))
    if spread == 0:
        return Estimate(math.sqrt(mean), math.sqrt(mean) + ROUNDING)
    skewness = float((deviations**3).mean()) / spread**3 / math.sqrt(n)
    quantile = float(stdtrit(n - 1, 1 - _USED_RISK * (1 - confidence))) * math.sqrt(n / (n - 1))
    limit = mean - _inverse_hall(-quantile, skewness) * spread / math.sqrt(n)
    return Estimate(math.sqrt(mean), math.sqrt(max(limit, mean)) + ROUNDING)


def _inverse_hall(value: float, skewness: float) -> float:
    """The t with t + g t^2 / 3 + g^2 t^3 / 27 + g / 6 = value (Hall 1992), g the skewness."""
    if abs(skewness) < 1e-6:
        return value
    return 3 / skewness * (float(np.cbrt(1 + skewness * (value - skewness / 6))) - 1)

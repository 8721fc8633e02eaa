"""Fourier sums of the data at random frequencies; they can be added, subtracted and merged.

By Bochner's theorem, k(x, y) = kappa E exp(i <omega, x - y>) over random frequencies omega. The
squared distance in feature space between two weighted sets of points is therefore the mean over
omega of the squared difference of their characteristic functions. If a and b are independent
frequencies of k, then a - b and a + b are frequencies of k^2, whose feature space contains the
operators.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from sklearn.utils import check_random_state

from ._core import fourier
from .kernels import RadialKernel

Array = NDArray[np.floating]
Complex = NDArray[np.complex128]

# Each Fourier term has an error below 1e-6 (half of 2^-20 in each part, plus float32 rounding). The
# centered error combines six terms, the others two.
ROUNDING = 6e-6

# Smallest effective number of frequencies from which an error is estimated.
_MIN_FREQUENCIES = 4.0

# Fraction of the risk that the limit uses; the rest covers the terms that Hall's expansion omits.
_USED_RISK = 2 / 3


class Estimate(NamedTuple):
    """An error estimated from random frequencies, with an upper confidence limit.

    Attributes
    ----------
    value : float
        The estimate; its square is unbiased.
    limit : float
        Upper limit of the error at the requested confidence.
    """

    value: float
    limit: float


class Errors(NamedTuple):
    """Squared errors for k / kappa, one estimate per pair of frequencies; their mean is unbiased.

    Attributes
    ----------
    mmd : ndarray of shape (n_pairs,)
        Squared maximum mean discrepancy.
    operator : ndarray of shape (n_pairs,)
        Squared Hilbert-Schmidt norm of K_n - K-bar_n.
    centered : ndarray of shape (n_pairs,)
        The same for the centered operators.
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
        The point with phase zero: the first row.
    sums : ndarray of shape (4, n_pairs)
        Sums for f = a, b, a - b and a + b.
    kernel : RadialKernel
        The kernel k.
    """

    turns: Array
    origin: Array
    sums: Complex
    kernel: RadialKernel

    def __post_init__(self) -> None:
        n_pairs = self.sums.shape[-1]
        if self.sums.shape != (4, n_pairs) or n_pairs != fourier.round_up_pairs(n_pairs):
            raise ValueError(f"sums must have 4 rows of whole tiles, got {self.sums.shape}.")
        if self.turns.shape != (2, n_pairs, len(self.origin)):
            raise ValueError(
                f"turns must have shape {(2, n_pairs, len(self.origin))}, got {self.turns.shape}."
            )
        for array in (self.turns, self.origin, self.sums):
            array.flags.writeable = False

    @classmethod
    def of(
        cls, kernel: RadialKernel, origin: Array, n_frequencies: int, random_state: Any
    ) -> Spectrum | None:
        """Draw frequencies and return empty sums.

        Parameters
        ----------
        kernel : RadialKernel
            Kernel with a numeric bandwidth.
        origin : ndarray of shape (n_features,)
            A point near the data, such as the first row.
        n_frequencies : int
            Number of frequencies of k, rounded up to a multiple of 160; 0 for none.
        random_state : int, RandomState or None
            Seed. Only sums at the same frequencies can be merged.

        Returns
        -------
        Spectrum or None
            None if ``n_frequencies`` is 0 or the frequencies of the kernel are unknown.
        """
        if n_frequencies == 0:
            return None
        seed = check_random_state(random_state).randint(2**31 - 1)
        n_pairs = fourier.round_up_pairs(-(-n_frequencies // 2))
        found = kernel.frequencies((2, n_pairs), len(origin), np.random.default_rng(seed))
        if found is None:
            return None
        origin = np.array(origin, dtype=np.float64)
        sums = np.zeros((4, n_pairs), dtype=np.complex128)
        return cls(found / (2 * np.pi), origin, sums, kernel)

    def add(self, X: Array, weights: Array) -> Spectrum:
        """Return the sums with these rows added; negative weights remove rows.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Rows.
        weights : ndarray of shape (n_samples,)
            Their weights.

        Returns
        -------
        Spectrum
            The new sums. They have the same bits for any chunking of the rows, and for any order
            if all weights are integers that sum to at most 2^33.
        """
        sums = fourier.add_fourier_sums(X, weights, self.origin, self.turns, self.sums)
        return replace(self, sums=sums)

    def merge(self, other: Spectrum | None) -> Spectrum | None:
        """Return the sums over both data sets, or None if the frequencies differ.

        Parameters
        ----------
        other : Spectrum or None
            Sums at the same frequencies; the phases are rotated if the origins differ.

        Returns
        -------
        Spectrum or None
            The merged sums, relative to the origin of ``self``.
        """
        if other is None or not np.array_equal(self.turns, other.turns):
            return None
        sums = other.sums
        if not np.array_equal(self.origin, other.origin):
            a, b = self.turns @ (other.origin - self.origin)
            sums = sums * np.exp(2j * np.pi * np.stack([a, b, a - b, a + b]))
        return replace(self, sums=self.sums + sums)

    def matches_kernel(self, kernel: RadialKernel) -> bool:
        """Return True if the frequencies belong to this kernel."""
        return kernel.same_as(self.kernel)

    def can_resolve(self, length: float) -> bool:
        """Return True if there are enough frequencies to estimate the error of a displacement.

        A displacement d changes the term of omega by v = 1 - cos <omega, d>. The effective share
        of frequencies is (E v)^2 / E v^2, which follows from E cos <omega, d> = k(d) / kappa.
        For short lengths it is a third for the Gaussian, but only length / sigma for the
        Laplacian, whose error lies at rare, high frequencies.

        Parameters
        ----------
        length : float
            Length of the displacement, usually sum ||x - c||^2 / sum ||x - c||.

        Returns
        -------
        bool
            If False, the limit of the error is unreliable.
        """
        return self.n_pairs * 2 * self._effective_share(length) >= _MIN_FREQUENCIES

    def _effective_share(self, length: float) -> float:
        length = max(length, 1e-6 * self.kernel.scale)  # below this the difference cancels
        once, twice = (self.kernel.drop(times * length) / self.kernel.kappa for times in (1, 2))
        return float(once**2 / (2 * once - twice / 2))

    @property
    def n_pairs(self) -> int:
        """Number of pairs of frequencies."""
        return int(self.turns.shape[1])

    def errors(self, centers: Array, weights: Array) -> Errors:
        """Estimate the difference between the data and weighted centers.

        Parameters
        ----------
        centers : ndarray of shape (n_centers, n_features)
            The centers C.
        weights : ndarray of shape (n_centers,)
            Their weights w, with the same sum as the weights of the data.

        Returns
        -------
        Errors
            One squared error of each kind per pair of frequencies.
        """
        total = weights.sum()
        empty = replace(self, sums=np.zeros_like(self.sums))
        data, reduced = self.sums / total, empty.add(centers, weights).sums / total
        a, b, minus, plus = data - reduced
        products = [_pairs(*means[:2]) for means in (data, reduced)]
        centered = np.stack([minus, plus]) - (products[0] - products[1])
        return Errors(
            _mean_square(a, b),
            _mean_square(minus, plus),
            _mean_square(*centered),
        )

    def __eq__(self, other: object) -> bool:
        """Return True if all arrays are equal bit for bit."""
        if not isinstance(other, Spectrum):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("turns", "origin", "sums")
        )

    __hash__ = None  # type: ignore[assignment]


def _pairs(a: Complex, b: Complex) -> Complex:
    """Return the sums for a - b and a + b if the two terms were independent."""
    return np.stack([a * b.conj(), a * b])


def _mean_square(first: Complex, second: Complex) -> Array:
    return 0.5 * (np.abs(first) ** 2 + np.abs(second) ** 2)


def estimate(squares: Array, confidence: float) -> Estimate:
    """Return the root mean squared error and an upper confidence limit for it.

    The squares are independent, identically distributed and skewed to the right. The limit inverts
    Hall's cubic transformation of the t statistic, which corrects for the skewness, at two thirds
    of the risk. It assumes that the sample skewness is representative: that no rare frequency
    missing from the sample carries much of the error.

    Parameters
    ----------
    squares : ndarray of shape (n_pairs,)
        One field of :class:`Errors`.
    confidence : float
        Confidence level between 0 and 1.

    Returns
    -------
    Estimate
        Value and limit; the limit includes the rounding error of the Fourier terms.
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
    """Solve t + g t^2 / 3 + g^2 t^3 / 27 + g / 6 = value for t (Hall 1992); g is the skewness."""
    if abs(skewness) < 1e-6:
        return value
    return 3 / skewness * (float(np.cbrt(1 + skewness * (value - skewness / 6))) - 1)

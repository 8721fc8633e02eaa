"""Errors estimated from pairs of sampled rows.

A model represents the feature vector psi(x) of a row by another vector, psi^(x): the feature vector
of its center, or its projection onto the span of a basis. All errors are functions of the inner
products between these vectors. The squared MMD is the mean over all pairs of rows of
<delta, delta'>, where delta = psi(x) - psi^(x), and the squared Hilbert-Schmidt error of the
operators is the mean of <psi, psi'>^2 - <psi, psi^'>^2 - <psi^, psi'>^2 + <psi^, psi^'>^2. Because
the differences are paired and small, a few rows suffice: the mean over pairs of different rows in a
sample is unbiased.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ._core.gram import gram
from ._core.parallel import single_threaded_blas, slices
from .kernels import AnyKernel
from .row_sample import RowSample

Array = NDArray[np.floating]

FEWEST = 100  # rows required to estimate an error, unless the sample contains all rows

# Share of the risk, 1 - confidence, that a limit uses; the rest covers the terms omitted from
# Hall's expansion.
_USED_RISK = 1 / 2
_BLOCK = 128  # rows of a matrix that are processed at a time, to stay in the cache
_GRAM_BLOCK = 512
_ROUNDINGS = 64  # number of rounding errors in a mean of kernel values


class Estimate(NamedTuple):
    """An estimated error with an upper limit at the certificate's confidence level."""

    estimate: float
    limit: float


class _Errors:
    """Errors computed from means over pairs of rows, which subclasses provide."""

    xx: Array
    shares: Array
    own: Array
    unseen: float

    @property
    def conclusive(self) -> bool:
        """True if there are enough rows for an estimate."""
        return len(self.shares) >= FEWEST or (self.unseen == 0 and len(self.shares) > 0)

    def mmd(self, confidence: float) -> Estimate:
        """Estimate the maximum mean discrepancy."""
        return self._norm(confidence, power=1, center=False)

    def operator(self, confidence: float, *, center: bool) -> Estimate:
        """Estimate the Hilbert-Schmidt norm of the difference between the two operators."""
        return self._norm(confidence, power=2, center=center)

    def _sums(self, power: int, center: bool) -> tuple[Array, Array]:
        """Return two numbers per row, computed from the summands of the mean over all pairs.

        The first is the mean of the summands over all pairs that contain the row, and the second
        is the summand for the row paired with itself.
        """
        raise NotImplementedError  # implemented by subclasses

    def _norm(self, confidence: float, power: int, center: bool) -> Estimate:
        """Estimate the square root of a mean over pairs, with a jackknife limit."""
        a = self.shares
        with_all, diagonal = self._sums(power, center)
        with_others = a * (with_all - a * diagonal)
        different, rest = with_others.sum(), 1 - a @ a
        own = float(self.own.sum())
        kappa = float(np.diag(self.xx).max())
        rounding = math.sqrt(_ROUNDINGS * np.finfo(np.float64).eps * kappa**power)
        if rest <= 0:
            value = _root(float(diagonal[np.argmax(a)]))
            return Estimate(value, value + rounding)
        mean = (1 - own) * different / rest + self.own @ diagonal
        if self.unseen == 0:
            return Estimate(_root(mean), _root(mean) + rounding)
        without = (different - 2 * with_others) / (rest - 2 * a + 2 * a**2)
        limit = jackknife_limit(
            mean, (1 - own) * (without - different / rest), self.unseen, confidence
        )
        return Estimate(_root(mean), _root(limit) + rounding)


@dataclass(frozen=True, eq=False)
class FeaturePairs(_Errors):
    """Inner products between the features of sampled rows and their representations.

    Attributes
    ----------
    xx, xq, qq : ndarray of shape (n_rows, n_rows)
        <psi, psi'>, <psi, psi^'> and <psi^, psi^'>.
    shares : ndarray of shape (n_rows,)
        Weights of the rows in a mean over the data; they sum to one.
    weights : ndarray of shape (n_rows,)
        Weights of the rows divided by n.
    own : ndarray of shape (n_rows,)
        Weight of each row's pair with itself in a mean over all pairs.
    unseen : float
        Share of the sampling variance that is due to rows outside the sample; 0 if the sample
        contains all rows.
    """

    xx: Array
    xq: Array
    qq: Array
    shares: Array
    weights: Array
    own: Array
    unseen: float

    @classmethod
    def of(
        cls,
        kernel: AnyKernel,
        sample: RowSample,
        represent: Callable[[Array], Array] | None,
        points: Any,
        total: float,
        index: NDArray[np.intp] | None = None,
    ) -> FeaturePairs:
        """Evaluate the kernel at a sample of rows, and return the inner products."""
        # The features of ``points[index]`` represent the rows. If features are projected onto a
        # basis, ``represent`` returns their coordinates in an orthonormal basis of its span;
        # otherwise it is None.
        rows = sample.rows.astype(np.float64)
        xx = symmetric_gram(kernel, rows)
        if represent is None:
            xq, qq = gram(kernel, rows, points), gram(kernel, points, points)
        else:
            of_rows, of_points = represent(rows), represent(points)
            with single_threaded_blas():
                xq, qq = of_rows @ of_points.T, of_points @ of_points.T
        if index is not None:
            xq, qq = xq.take(index, axis=1), qq.take(index, axis=0).take(index, axis=1)
        return cls(xx, xq, qq, *sample_shares(sample, total))

    def _sums(self, power: int, center: bool) -> tuple[Array, Array]:
        """Return two numbers per row, computed from the summands of the mean over all pairs.

        The first is the mean of the summands over all pairs that contain the row, and the second
        is the summand for the row paired with itself.
        """
        total, diagonal = np.zeros(len(self.shares)), np.zeros(len(self.shares))
        with single_threaded_blas():
            for matrix, sign in ((self.xx, 1), (self.xq, -1), (self.qq, 1)):
                rows, columns, own = _power_means(matrix, self.shares, power, center)
                total += sign * rows
                diagonal += sign * own
                if matrix is self.xq:  # the matrix of <psi^, psi'> is its transpose
                    total += sign * columns
                    diagonal += sign * own
        return total, diagonal


@dataclass(frozen=True, eq=False)
class ProjectedPairs(_Errors):
    """Inner products for rows that are represented by projections onto a basis.

    Attributes
    ----------
    xx : ndarray of shape (n_rows, n_rows)
        <psi, psi'>.
    projections : ndarray of shape (n_rows, n_basis)
        Coordinates of psi^ in an orthonormal basis; <psi, psi^'> = <psi^, psi^'>.
    shares, weights, own, unseen
        As for :class:`FeaturePairs`.
    """

    xx: Array
    projections: Array
    shares: Array
    weights: Array
    own: Array
    unseen: float

    @classmethod
    def of(
        cls,
        kernel: AnyKernel,
        sample: RowSample,
        represent: Callable[[Array], Array],
        total: float,
        xx: Array | None = None,
    ) -> ProjectedPairs:
        """Evaluate the kernel at a sample of rows, and project them with ``represent``."""
        rows = sample.rows.astype(np.float64)
        xx = symmetric_gram(kernel, rows) if xx is None else xx
        return cls(xx, represent(rows), *sample_shares(sample, total))

    @property
    def residuals(self) -> Array:
        """Squared distances of the sampled rows from the span, in feature space."""
        return np.diag(self.xx) - np.einsum("ij,ij->i", self.projections, self.projections)

    def _sums(self, power: int, center: bool) -> tuple[Array, Array]:
        a, P = self.shares, self.projections
        with single_threaded_blas():
            rows, _, own = _power_means(self.xx, a, power, center)
            if power == 1:
                return rows - P @ (a @ P), own - np.einsum("ij,ij->i", P, P)
            P = P - a @ P if center else P
            means = np.einsum("ij,ij->i", P @ (P.T @ (a[:, None] * P)), P)
        return rows - means, own - np.einsum("ij,ij->i", P, P) ** 2


class PairValues:
    """Kernel values of all pairs of sampled rows, which several models can share.

    Parameters
    ----------
    kernel : RadialKernel or Kernel
        The kernel with its bandwidth resolved.
    sample : RowSample
        The sampled rows.
    known : PairValues, default=None
        The values of the first rows of the sample.
    """

    def __init__(
        self, kernel: AnyKernel, sample: RowSample, known: PairValues | None = None
    ) -> None:
        self.kernel, self.sample = kernel, sample
        self._values: Array = np.empty((0, 0)) if known is None else known._values

    @property
    def n_rows(self) -> int:
        """The number of rows whose kernel values are known."""
        return len(self._values)

    def leading(self, n_rows: int) -> Array:
        """Return the kernel values of the first ``n_rows`` rows, computing only missing values."""
        if n_rows > len(self._values):
            rows = self.sample.rows[:n_rows].astype(np.float64)
            self._values = symmetric_gram(self.kernel, rows, self._values)
        return self._values[:n_rows, :n_rows]


def symmetric_gram(kernel: AnyKernel, rows: Array, known: Array | None = None) -> Array:
    """Return the kernel values of all pairs of rows, reusing the known values of the first rows."""
    n, first = rows.shape[0], 0 if known is None else len(known)
    values = np.empty((n, n))
    values[:first, :first] = known
    for part in slices(first, n, _GRAM_BLOCK):
        values[part, : part.stop] = gram(kernel, rows[part], rows[: part.stop])
        values[: part.start, part] = values[part, : part.start].T
    return values


def _power_means(matrix: Array, a: Array, power: int, center: bool) -> tuple[Array, Array, Array]:
    """Return the means over columns, the means over rows, and the diagonal of a matrix.

    If ``power`` is 2, the entries are squared first, after centering them on their sample means if
    ``center`` is True. If ``power`` is 1, they are never centered, because the means would be zero.
    """
    rows, columns, own = matrix @ a, a @ matrix, np.diag(matrix).copy()
    middle = float(a @ rows)
    if power == 1:
        return rows, columns, own
    left, right = (rows - middle, columns) if center else (0 * rows, 0 * columns)
    over_columns, over_rows = np.empty(len(a)), np.zeros(len(a))
    for part in slices(0, len(a), _BLOCK):
        block = (matrix[part] - left[part, None] - right) ** 2
        over_columns[part] = block @ a
        over_rows += a[part] @ block
    return over_columns, over_rows, (own - left - right) ** 2


def sample_shares(sample: RowSample, total: float) -> tuple[Array, Array, Array, float]:
    """Return the last four fields of :class:`FeaturePairs`."""
    kept, weights = sample.probabilities, sample.weights / total
    shares = weights / kept
    shares = shares / shares.sum()
    own = weights**2 / kept
    if sample.complete:
        return shares, weights, own, 0.0
    # With equal weights, the variance decreases with the share of rows that were sampled. With
    # unequal weights, only heavy rows are certain to be sampled, so nothing is deducted.
    equal = weights.min() == weights.max()
    return shares, weights, own, float(1 - kept[0]) if equal else 1.0


def jackknife_limit(mean: float, changes: Array, unseen: float, confidence: float) -> float:
    """Return an upper limit for a mean, given how it changes when each row is left out."""
    # The limit inverts Hall's cubic transformation of the t statistic of the pseudo-values, which
    # corrects for their skewness, using half of the risk.
    n = len(changes)
    pseudo = -(n - 1) * (changes - changes.mean())
    spread = math.sqrt(float((pseudo**2).mean()))
    if spread == 0 or unseen == 0:
        return float(mean)
    skewness = float((pseudo**3).mean()) / spread**3 / math.sqrt(n)
    quantile = float(stdtrit(n - 1, 1 - _USED_RISK * (1 - confidence))) * math.sqrt(n / (n - 1))
    step = -_inverse_hall(-quantile, skewness) * spread / math.sqrt(n)
    return float(mean + max(step, 0.0) * math.sqrt(unseen))


def _inverse_hall(value: float, skewness: float) -> float:
    """Solve t + g t^2 / 3 + g^2 t^3 / 27 + g / 6 = value for t (Hall 1992); g is the skewness."""
    if abs(skewness) < 1e-6:
        return value
    return 3 / skewness * (float(np.cbrt(1 + skewness * (value - skewness / 6))) - 1)


def _root(value: float) -> float:
    return math.sqrt(max(float(value), 0.0))

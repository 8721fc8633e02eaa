"""Predict from a sample how far quantization moves the rows and their covariance operator.

A row x that is assigned to a center c is displaced by d = psi2(x) - psi2(c), where psi2 is the
feature map of k^2. The squared Hilbert-Schmidt distance between the covariance operators of n rows
and of their reduced set is ||(1/n) sum_i d_i||^2. A fraction q = 1 - m/n of the rows is not a
center, so the expected value is

    q^2 E<d, d'> + (q/n) (E||d||^2 - E<d, d'>),

where d and d' belong to two different rows. Both means are estimated from pairs of sampled rows.
The coordinate error is estimated from such pairs, as in a certificate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import gram
from .._core.cover import Cover
from ..certificate import Analysis
from ..certificate.sampled import FURTHER_AXES, MOST_COMPONENTS
from ..kernels import RadialKernel
from ..pairs import FEWEST, FeaturePairs
from ..reduced_set import ReducedSet
from ..row_sample import RowSample
from ..spectral import Centered, solve

Array = NDArray[np.floating]
Labels = NDArray[np.intp]

_MAX_ROWS = 1000  # limits the size of the matrix of pairs


class Distortion(NamedTuple):
    """Means over the sampled rows that are not centers."""

    displacement: float  # of ||psi(x) - psi(c)||
    cross: float  # of <d, d'> over different rows
    square: float  # of ||d||^2

    def mean_displacement(self, kept: float) -> float:
        """Return the mean ||psi(x) - psi(c)|| over all rows if a fraction ``kept`` are centers."""
        return (1 - kept) * self.displacement

    def operator_error(self, kept: float, n_samples: int) -> float:
        """Return the expected Hilbert-Schmidt error if a fraction ``kept`` of rows are centers."""
        joined = 1 - kept
        squared = joined**2 * self.cross + joined / n_samples * (self.square - self.cross)
        return float(np.sqrt(max(squared, 0.0)))


def distortion(sample: Array, kernel: RadialKernel, radius: float) -> Distortion:
    """Measure the distortion caused by covering the sample."""
    if not radius:
        return Distortion(0.0, 0.0, 0.0)
    homes, squared = _cover(sample, radius)
    joined = np.flatnonzero(homes != np.arange(len(sample)))[:_MAX_ROWS]
    if len(joined) < 2:
        return Distortion(0.0, 0.0, 0.0)
    x, c = (sample[rows].astype(np.float64) for rows in (joined, homes[joined]))
    values = kernel.evaluate(kernel.sign * squared[joined] / kernel.scale**2)
    displacement = float(np.mean(np.sqrt(np.maximum(2 * kernel.kappa - 2 * values, 0))))
    return Distortion(displacement, *_pair_means(kernel, x, c))


def coordinate_error(
    sample: Array,
    kernel: RadialKernel,
    radius: float,
    n_components: int,
    *,
    n_centers: float,  # for all rows, because the sample has more centers per row
    n_samples: int,
) -> float | None:
    """Predict the relative coordinate error of centered kernel PCA; return None if unknown."""
    kept = n_centers / n_samples
    if kept >= 1 or not radius:
        return 0.0
    homes, _ = _cover(sample, radius)
    is_center = homes == np.arange(len(sample))
    joined, opened = (spaced(np.flatnonzero(x), _MAX_ROWS) for x in (~is_center, is_center))
    rows = np.concatenate([joined, opened])
    too_few = len(joined) < FEWEST and len(rows) < n_samples
    if too_few or not len(joined) or n_components > MOST_COMPONENTS:
        return None
    parts = (1 - kept, len(joined)), (kept, len(opened))
    shares = np.concatenate([np.full(count, share / count) for share, count in parts])
    center_rows, labels = np.unique(homes[rows], return_inverse=True)
    weights = np.asarray(n_samples * np.bincount(labels, shares), dtype=np.float64)
    centers = ReducedSet(sample[center_rows].astype(np.float64), weights)
    x, n = sample[rows].astype(np.float64), len(rows)
    chosen = RowSample(x, np.ones(n), labels, np.zeros(n), math.inf, n, 0, n)
    return _Predicted.error(kernel, chosen, shares, centers, n_components)


def _cover(sample: Array, radius: float) -> tuple[Labels, Array]:
    """Return the sample index of each row's center, and the squared distance between the two."""
    labels, squared = Cover(radius, sample[:0]).extend(sample)
    return np.unique(labels, return_index=True)[1][labels], squared


def spaced(rows: NDArray[Any], count: int) -> NDArray[Any]:
    """Return at most ``count`` of these rows, evenly spaced."""
    if len(rows) <= count:
        return rows
    return rows[np.linspace(0, len(rows) - 1, count, dtype=int)]


@dataclass(frozen=True, eq=False)
class _Predicted(Analysis):
    """Analysis of a model that has not been fitted; each row represents a share of the data."""

    shares: Array

    @cached_property
    def pairs(self) -> FeaturePairs:
        rows, n = self.sample.rows, len(self.shares)
        between = (rows, rows), (rows, self.points), (self.points, self.points)
        xx, xq, qq = (gram.gram(self.kernel, *pair) for pair in between)
        weights, unseen = np.full(n, 1 / self.total), float(n < self.total)
        return FeaturePairs(xx, xq, qq, self.shares, weights, self.shares / self.total, unseen)

    @classmethod
    def error(
        cls,
        kernel: RadialKernel,
        sample: RowSample,
        shares: Array,
        centers: ReducedSet,
        n_components: int,
    ) -> float | None:
        """Return the relative coordinate error, or None if there is no component."""
        count = min(n_components + FURTHER_AXES, centers.n_centers)
        system = solve(Centered(), kernel, centers, count)
        r, points = min(n_components, len(system.eigenvalues)), centers.centers[sample.labels]
        if r == 0:  # a single center
            return None
        model = cls(kernel, sample, points, system, None, r, centers.n_samples, shares)
        limits = model.limits(0.5)
        return None if limits is None else limits.embedding.estimate


def _pair_means(kernel: RadialKernel, x: Array, c: Array) -> tuple[float, float]:
    """Return the means of <d_i, d_j> over i != j and of ||d_i||^2."""

    def squared_kernel(A: Array, B: Array) -> Array:
        return gram.gram(kernel, A, B) ** 2

    between = squared_kernel(x, c)
    products = squared_kernel(x, x) + squared_kernel(c, c) - between - between.T
    total, diagonal = float(products.sum()), float(np.trace(products))
    n = len(x)
    return (total - diagonal) / (n * (n - 1)), diagonal / n

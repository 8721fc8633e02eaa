"""Predict from a sample how far quantization moves the rows and their covariance operator.

A row x that is assigned to a center c is displaced by d = psi2(x) - psi2(c), where psi2 is the
feature map of k^2. The squared Hilbert-Schmidt distance between the covariance operators of n rows
and of their reduced set is ||(1/n) sum_i d_i||^2. A fraction q = 1 - m/n of the rows is not a
center, so the expected value is

    q^2 E<d, d'> + (q/n) (E||d||^2 - E<d, d'>),

where d and d' belong to two different rows. Both means are estimated from pairs of sampled rows.
The error of the coordinates is estimated from such pairs as in a certificate.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import gram
from .._core.cover import Cover
from ..certificate.perturbation import SampledSums, Solution
from ..certificate.sampled import FURTHER_AXES, MOST_COMPONENTS
from ..kernels import RadialKernel
from ..pairs import FEWEST, FeaturePairs
from ..reduced_set import ReducedSet
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
        """Return the mean of ||psi(x) - psi(c)|| over all rows, given the fraction of centers."""
        return (1 - kept) * self.displacement

    def operator_error(self, kept: float, n_samples: int) -> float:
        """Return the expected Hilbert-Schmidt distance, given the fraction of centers."""
        joined = 1 - kept
        squared = joined**2 * self.cross + joined / n_samples * (self.square - self.cross)
        return float(np.sqrt(max(squared, 0.0)))


def distortion(sample: Array, kernel: RadialKernel, radius: float) -> Distortion:
    """Measure the distortion caused by covering the sample."""
    if not radius:
        return Distortion(0.0, 0.0, 0.0)
    labels, squared = Cover(radius, sample[:0]).extend(sample)
    opening = np.unique(labels, return_index=True)[1]
    joined = np.delete(np.arange(len(sample)), opening)[:_MAX_ROWS]
    if len(joined) < 2:
        return Distortion(0.0, 0.0, 0.0)
    x, c = (sample[rows].astype(np.float64) for rows in (joined, opening[labels[joined]]))
    values = kernel.evaluate(kernel.sign * squared[joined] / kernel.scale**2)
    displacement = float(np.mean(np.sqrt(np.maximum(2 * kernel.kappa - 2 * values, 0))))
    return Distortion(displacement, *_pair_means(kernel, x, c))


def coordinate_error(
    sample: Array,
    kernel: RadialKernel,
    radius: float,
    n_components: int,
    *,
    n_centers: float,
    n_samples: int,
) -> float | None:
    """Predict the relative error of the coordinates of centered kernel PCA.

    Parameters
    ----------
    sample : ndarray of shape (n_sampled, n_features)
        A random sample of the rows.
    kernel : RadialKernel
        Kernel with a numeric bandwidth.
    radius : float
        Radius of the cover.
    n_components : int
        Number of components.
    n_centers : float
        Predicted number of centers for all rows. The sample has more centers per row.
    n_samples : int
        Number of all rows.

    Returns
    -------
    float or None
        The error, or None if there are too many components, a single center, or too few rows that
        are not centers.
    """
    kept = n_centers / n_samples
    if kept >= 1 or not radius:
        return 0.0
    labels, _ = Cover(radius, sample[:0]).extend(sample)
    opening = np.unique(labels, return_index=True)[1]
    joined = np.delete(np.arange(len(sample)), opening)
    known = len(joined) >= FEWEST or (len(sample) == n_samples and len(joined) > 0)
    if not known or n_components > MOST_COMPONENTS:
        return None
    joined, opened = _spaced(joined), _spaced(opening)
    rows = np.concatenate([joined, opened])
    parts = (1 - kept, len(joined)), (kept, len(opened))
    shares = np.concatenate([np.full(count, share / count) for share, count in parts])
    center_rows, labels = np.unique(opening[labels[rows]], return_inverse=True)
    centers = sample[center_rows].astype(np.float64)
    x, c = sample[rows].astype(np.float64), centers[labels]
    weights = np.asarray(n_samples * np.bincount(labels, shares), dtype=np.float64)
    return _coordinate_error(kernel, x, c, shares, ReducedSet(centers, weights), n_components)


def _spaced(rows: Labels) -> Labels:
    """Return at most ``_MAX_ROWS`` of these rows, evenly spaced."""
    if len(rows) <= _MAX_ROWS:
        return rows
    return rows[np.linspace(0, len(rows) - 1, _MAX_ROWS, dtype=int)]


def _coordinate_error(
    kernel: RadialKernel, x: Array, c: Array, shares: Array, points: ReducedSet, n_components: int
) -> float | None:
    """Compare rows x that have these shares in the data with their centers c."""
    n = points.n_samples
    count = min(n_components + FURTHER_AXES, points.n_centers)
    system = solve(Centered(), kernel, points, count)
    if not len(system.eigenvalues):  # a single center
        return None
    root, mu = np.sqrt(system.eigenvalues), system.eigenvalues / n
    between = gram.gram(kernel, x, x), gram.gram(kernel, x, c), gram.gram(kernel, c, c)
    pairs = FeaturePairs(*between, shares, np.full(len(x), 1 / n), shares / n, 1.0)
    last = float(mu[-1])
    on_axes = system.extend(x) * root, system.extend(c) * root
    sums = SampledSums(pairs, *on_axes, mu, last, center=True, quantized=True)
    r = min(n_components, len(mu))
    solution = Solution.of(sums.blocks(), last, r)
    return float(np.sqrt(solution.squares[solution.sizes.index(r)]))


def _pair_means(kernel: RadialKernel, x: Array, c: Array) -> tuple[float, float]:
    """Return the means of <d_i, d_j> over i != j and of ||d_i||^2."""

    def squared_kernel(A: Array, B: Array) -> Array:
        return gram.gram(kernel, A, B) ** 2

    between = squared_kernel(x, c)
    products = squared_kernel(x, x) + squared_kernel(c, c) - between - between.T
    total, diagonal = float(products.sum()), float(np.trace(products))
    n = len(x)
    return (total - diagonal) / (n * (n - 1)), diagonal / n

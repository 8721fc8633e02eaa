"""Predict from a sample how far quantization moves the rows and their covariance operator.

A row x that is assigned to a center c is displaced by d = psi2(x) - psi2(c), where psi2 is the
feature map of k^2. The squared Hilbert-Schmidt distance between the covariance operators of n rows
and of their reduced set is ||(1/n) sum_i d_i||^2. A fraction q = 1 - m/n of the rows is not a
center, so the expected value is

    q^2 E<d, d'> + (q/n) (E||d||^2 - E<d, d'>),

where d and d' belong to two different rows. Both means are estimated from pairs of sampled rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import gram
from .._core.cover import Cover
from ..kernels import RadialKernel

Array = NDArray[np.floating]

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


def _pair_means(kernel: RadialKernel, x: Array, c: Array) -> tuple[float, float]:
    """Return the means of <d_i, d_j> over i != j and of ||d_i||^2."""

    def squared_kernel(A: Array, B: Array) -> Array:
        return gram.gram(kernel, A, B) ** 2

    between = squared_kernel(x, c)
    products = squared_kernel(x, x) + squared_kernel(c, c) - between - between.T
    total, diagonal = float(products.sum()), float(np.trace(products))
    n = len(x)
    return (total - diagonal) / (n * (n - 1)), diagonal / n

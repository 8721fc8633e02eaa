"""What quantization will do to the data, from a sample.

A row that joins a center c is moved by d = psi2(x) - psi2(c), with psi2 the feature map of k^2,
and the squared Hilbert-Schmidt distance of the covariance operator of n rows from that of their
reduced set is ||(1/n) sum_i d_i||^2. A share q = 1 - m/n of the rows join, so that it is
expected to be

    q^2 E<d, d'> + (q/n) (E||d||^2 - E<d, d'>),

with d, d' of two different rows. Both means are taken over pairs of rows of the sample.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import gram
from .._core.cover import Cover
from ..kernels import RadialKernel

Array = NDArray[np.floating]

MOST_ROWS = 1000


class Distortion(NamedTuple):
    """Means over the rows of a sample that join a center.

    ``displacement`` is that of ||psi(x) - psi(c)||, ``apart`` that of <d, d'> over different
    rows, ``alone`` that of ||d||^2.
    """

    displacement: float
    apart: float
    alone: float

    def mean_displacement(self, kept: float) -> float:
        """The mean of ||psi(x) - psi(c)|| over all rows, where a share of them are centers."""
        return (1 - kept) * self.displacement

    def operator_error(self, kept: float, n_samples: int) -> float:
        """The expected Hilbert-Schmidt distance of the two operators."""
        joined = 1 - kept
        squared = joined**2 * self.apart + joined / n_samples * (self.alone - self.apart)
        return float(np.sqrt(max(squared, 0.0)))


def distortion(sample: Array, kernel: RadialKernel, radius: float) -> Distortion:
    """What the cover of the sample does to those of its rows that join a center."""
    labels, squared = Cover(radius, sample[:0]).extend(sample) if radius else (None, None)
    if labels is None or squared is None:
        return Distortion(0.0, 0.0, 0.0)
    first = np.unique(labels, return_index=True)[1]
    joined = np.delete(np.arange(len(sample)), first)[:MOST_ROWS]
    if len(joined) < 2:
        return Distortion(0.0, 0.0, 0.0)
    x, c = (sample[rows].astype(np.float64) for rows in (joined, first[labels[joined]]))
    values = kernel.evaluate(kernel.sign * squared[joined] / kernel.scale**2)
    displacement = float(np.mean(np.sqrt(np.maximum(2 * kernel.kappa - 2 * values, 0))))
    return Distortion(displacement, *_moved(kernel, x, c))


def _moved(kernel: RadialKernel, x: Array, c: Array) -> tuple[float, float]:
    """Means of <d_i, d_j> over i != j, and of ||d_i||^2."""
    between = _squared(kernel, x, c)
    products = _squared(kernel, x, x) + _squared(kernel, c, c) - between - between.T
    total, diagonal = float(products.sum()), float(np.trace(products))
    n = len(x)
    return (total - diagonal) / (n * (n - 1)), diagonal / n


def _squared(kernel: RadialKernel, A: Array, B: Array) -> Array:
    return gram.gram(kernel, A, B) ** 2

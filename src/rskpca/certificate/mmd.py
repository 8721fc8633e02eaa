"""Theorem 5.1: the maximum mean discrepancy between the data and their quantization.

MMD = ||(1/n) sum_i (psi(x_i) - psi(c_alpha(i)))||, at most the mean of the distances that the
points move in feature space, ||psi(x) - psi(c)|| = sqrt(2 (kappa - k(x, c))).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .._core import gram
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet
from ._inputs import radius_of, shares

Array = NDArray[np.floating]

# What rounding can take from a sum of distances.
_SAFE = 1 + 1e-9
_GRID = 1024


def bound(
    kernel: RadialKernel, ell: float | None = None, *, radius: float | None = None
) -> float | None:
    """The worst case, sqrt(2 (kappa - phi(1 / ell^p))).

    The paper takes it that the profile does not increase. Where that is not known, the smallest
    of 1,024 values up to the radius is taken, less what a Lipschitz constant allows between them.

    Parameters
    ----------
    kernel : RadialKernel
        With a number for its bandwidth.
    ell : float, default=None
        sigma / radius.
    radius : float, default=None
        epsilon, in place of ell.

    Returns
    -------
    float or None
        No discrepancy is larger. None where neither is known: that the kernel is monotone, or
        a Lipschitz constant.
    """
    reach = radius_of(kernel, ell, radius)
    if kernel.monotone:
        return math.sqrt(2 * max(float(kernel.drop(reach)), 0.0))
    slope = kernel.lipschitz_constant
    if slope is None:
        return None if reach else 0.0
    distances = np.linspace(0, reach, _GRID + 1)
    between = slope * reach / _GRID / 2
    return math.sqrt(2 * max(float(kernel.drop(distances).max()) + between, 0.0))


def from_sums(kernel: RadialKernel, reduced_set: ReducedSet) -> float | None:
    """A bound from how far the points of each center moved: the mean of ||psi(x) - psi(c)||.

    For the Gaussian and the Laplacian that length is concave in ||x - c||, so that by Jensen's
    inequality the mean over the points of a center is at most the length at their mean distance.
    Any other kernel with a Lipschitz constant L has length at most sqrt(2 L ||x - c||), which
    is concave too.

    Parameters
    ----------
    kernel : RadialKernel
        With a number for its bandwidth.
    reduced_set : ReducedSet
        With ``displacement``; without it the radius serves.

    Returns
    -------
    float or None
        None where nothing is known of how far points moved.
    """
    return _from_distances(kernel, reduced_set, square=False)


def root_mean_square(kernel: RadialKernel, reduced_set: ReducedSet) -> float | None:
    """A bound on the root of the mean of ||psi(x) - psi(c)||^2, which is 2 (kappa - k(x, c)).

    That is concave in ||x - c||^2 for the Gaussian, in ||x - c|| for the Laplacian, and at
    most 2 L ||x - c|| for any kernel.

    Parameters
    ----------
    kernel : RadialKernel
        With a number for its bandwidth.
    reduced_set : ReducedSet
        With ``displacement`` and ``scatter``; without them the radius serves.

    Returns
    -------
    float or None
        None where nothing is known of how far points moved.
    """
    return _from_distances(kernel, reduced_set, square=True)


def _from_distances(kernel: RadialKernel, reduced_set: ReducedSet, *, square: bool) -> float | None:
    worst = None if reduced_set.radius is None else bound(kernel, radius=reduced_set.radius)
    squares = _mean_squares(kernel, reduced_set, square=square)
    if squares is None:
        return worst
    if worst is not None:
        squares = np.minimum(squares, worst**2)
    share = reduced_set.weights / reduced_set.n_samples
    mean = math.sqrt(share @ squares) if square else float(share @ np.sqrt(squares))
    return mean * _SAFE


def _mean_squares(kernel: RadialKernel, s: ReducedSet, *, square: bool) -> Array | None:
    """||psi(x) - psi(c)||^2 of each center at a distance for which Jensen's inequality holds."""
    if s.displacement is None or s.scatter is None:
        return None
    mean = s.displacement / s.weights
    if kernel.concave:
        by_square = square and kernel.power > 1
        return 2 * kernel.drop(np.sqrt(s.scatter / s.weights) if by_square else mean)
    if kernel.lipschitz_constant is None:
        return None
    return 2 * kernel.lipschitz_constant * mean


def length_of_mean(kernel: RadialKernel, reduced_set: ReducedSet) -> float:
    """||mu-bar||, the length of the mean in feature space.

    Parameters
    ----------
    kernel : RadialKernel
        With a number for its bandwidth.
    reduced_set : ReducedSet
        Centers and weights.

    Returns
    -------
    float
        In O(m^2) time and memory of a few blocks.
    """
    C, v = reduced_set.centers, reduced_set.weights / reduced_set.n_samples
    return math.sqrt(max(_mean_kernel(kernel, C, v, C, v), 0.0))


def measured(
    kernel: RadialKernel, X: Array, reduced_set: ReducedSet, sample_weight: Array | None = None
) -> float:
    """The discrepancy itself, from all pairs of points.

    Parameters
    ----------
    kernel : RadialKernel
        With a number for its bandwidth.
    X : ndarray of shape (n_samples, n_features)
        The data.
    reduced_set : ReducedSet
        What stands for them.
    sample_weight : ndarray of shape (n_samples,), default=None
        How often each row counts.

    Returns
    -------
    float
        In O(n^2) time and memory of a few blocks; right to about 1e-7 times sqrt(kappa), as
        a difference of sums.
    """
    u, v = shares(X, sample_weight), reduced_set.weights / reduced_set.n_samples
    C = reduced_set.centers
    square = (
        _mean_kernel(kernel, X, u, X, u)
        - 2 * _mean_kernel(kernel, X, u, C, v)
        + _mean_kernel(kernel, C, v, C, v)
    )
    return math.sqrt(max(square, 0.0))


def _mean_kernel(kernel: RadialKernel, X: Array, u: Array, Y: Array, v: Array) -> float:
    """sum_ij u_i v_j k(x_i, y_j)."""
    return float(u @ gram.product(kernel, X, Y, lambda block: (block @ v)[:, None], 1)[:, 0])

"""Theorem 5.1, on the maximum mean discrepancy between the data and their quantization.

MMD = ||(1/n) sum_i (psi(x_i) - psi(c_alpha(i)))|| is at most the mean displacement of the points
in feature space, where ||psi(x) - psi(c)|| = sqrt(2 (kappa - k(x, c))).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from .._core import gram
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet

Array = NDArray[np.floating]

_SAFE = 1 + 1e-9  # covers the rounding error of a sum of distances
_GRID = 1024


def resolve_radius(kernel: RadialKernel, ell: float | None, radius: float | None) -> float:
    """Return epsilon, which is sigma / ell or the given radius."""
    if (ell is None) == (radius is None):
        raise ValueError(
            f"Pass either ell or radius, but not both; got ell={ell!r}, radius={radius!r}."
        )
    if ell is not None:
        return kernel.scale / check.positive_number("ell", ell, infinite=True)
    if radius == 0:
        return 0.0
    return check.positive_number("radius", radius)


def bound(
    kernel: RadialKernel, ell: float | None = None, *, radius: float | None = None
) -> float | None:
    """Return the worst-case bound of Theorem 5.1, sqrt(2 (kappa - phi(1 / ell^p))).

    The theorem assumes that the profile never increases. If this is not known, the bound uses the
    smallest of 1,024 kernel values up to the radius, lowered by the largest decrease between them
    that the Lipschitz constant allows.

    Parameters
    ----------
    kernel : RadialKernel
        Kernel with a numeric bandwidth.
    ell, radius : float, default=None
        Pass exactly one: ell = sigma / epsilon, or the radius epsilon.

    Returns
    -------
    float or None
        Upper bound; None if the kernel is not known to be monotone and has no Lipschitz
        constant.
    """
    reach = resolve_radius(kernel, ell, radius)
    if kernel.monotone:
        return math.sqrt(2 * max(float(kernel.drop(reach)), 0.0))
    slope = kernel.lipschitz_constant
    if slope is None:
        return None if reach else 0.0
    distances = np.linspace(0, reach, _GRID + 1)
    between = slope * reach / _GRID / 2
    return math.sqrt(2 * max(float(kernel.drop(distances).max()) + between, 0.0))


def root_mean_square(kernel: RadialKernel, reduced_set: ReducedSet) -> float | None:
    """Bound the root mean square of ||psi(x) - psi(c)|| like :func:`from_sums`."""
    return from_sums(kernel, reduced_set, square=True)


def from_sums(
    kernel: RadialKernel, reduced_set: ReducedSet, *, square: bool = False
) -> float | None:
    """Bound the mean of ||psi(x) - psi(c)|| from the recorded displacements or the radius."""
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
    """Bound ||psi(x) - psi(c)||^2 for each center by Jensen's inequality."""
    # For the Gaussian and the Laplacian, ||psi(x) - psi(c)|| is concave in ||x - c||. Its square
    # 2 (kappa - k(x, c)) is concave in ||x - c||^2 for the Gaussian and in ||x - c|| for the
    # Laplacian. For other kernels with Lipschitz constant L, the square is at most 2 L ||x - c||.
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
    """Return ||mu-bar||, the length of the mean in feature space, in O(m^2) time."""
    C, v = reduced_set.centers, reduced_set.weights / reduced_set.n_samples
    return math.sqrt(max(_mean_kernel(kernel, C, v, C, v), 0.0))


def measure(
    kernel: RadialKernel, X: Array, reduced_set: ReducedSet, sample_weight: Array | None = None
) -> float:
    """Compute the discrepancy from all pairs of points.

    Parameters
    ----------
    kernel : RadialKernel
        Kernel with a numeric bandwidth.
    X : ndarray of shape (n_samples, n_features)
        The data.
    reduced_set : ReducedSet
        The reduced set of the data.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    float
        The discrepancy, computed in O(n^2) time with little memory. Because of cancellation, it
        is accurate only to about 1e-7 sqrt(kappa).
    """
    return distance(partial(_mean_kernel, kernel), X, reduced_set, sample_weight)


def distance(
    inner: Callable[[Array, Array, Array, Array], float],
    X: Array,
    reduced_set: ReducedSet,
    sample_weight: Array | None,
) -> float:
    """Return the distance between data and reduced set; ``inner`` computes inner products."""
    data = X, normalized_weights(X, sample_weight)
    reduced = reduced_set.centers, reduced_set.weights / reduced_set.n_samples
    square = inner(*data, *data) - 2 * inner(*data, *reduced) + inner(*reduced, *reduced)
    return math.sqrt(max(square, 0.0))


def normalized_weights(X: Array, sample_weight: Array | None) -> Array:
    """Return the weights of the rows, normalized to sum to one."""
    weights = check.sample_weights(sample_weight, X.shape[0])
    return weights / weights.sum()


def _mean_kernel(kernel: RadialKernel, X: Array, u: Array, Y: Array, v: Array) -> float:
    """Return sum_ij u_i v_j k(x_i, y_j)."""
    return float(u @ gram.product(kernel, X, Y, lambda block: (block @ v)[:, None], 1)[:, 0])

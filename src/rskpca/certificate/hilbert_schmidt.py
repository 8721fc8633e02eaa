"""Theorem 5.3: the Hilbert-Schmidt norm of K_n - K-bar_n, and of the operators about the mean.

K_n = (1/n) sum_i psi(x_i) (x) psi(x_i). In the space of Hilbert-Schmidt operators psi(x) (x) psi(x)
is the feature map of the kernel k^2. So the error is the discrepancy of Theorem 5.1 under k^2,
and all that is known of one is known of the other.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .._core import gram
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet
from ..spectral.operators import FittedCentered
from . import mmd
from ._inputs import shares

Array = NDArray[np.floating]


def bound(
    kernel: RadialKernel,
    ell: float | None = None,
    *,
    radius: float | None = None,
    printed: bool = False,
) -> float | None:
    """Theorem 5.3, 2 sqrt(kappa) sqrt(2 (kappa - phi(1 / ell^p))); also holds about the mean.

    Parameters
    ----------
    kernel : RadialKernel
        With a number for its bandwidth.
    ell : float, default=None
        sigma / radius.
    radius : float, default=None
        epsilon, in place of ell.
    printed : bool, default=False
        With the factor 2 kappa of the paper, which is too small for kappa < 1.

    Returns
    -------
    float or None
        No error is larger. None where :func:`rskpca.certificate.mmd.bound` is.
    """
    factor = kernel.kappa if printed else math.sqrt(kernel.kappa)
    moved = mmd.bound(kernel, ell, radius=radius)
    return None if moved is None else 2 * factor * moved


def centered_bound(
    kernel: RadialKernel, ell: float | None = None, *, radius: float | None = None
) -> float | None:
    """Theorem 5.3 about the mean, with the factor sqrt(2 kappa) where the kernel is monotone.

    No eigenvalue of a covariance operator is above kappa / 2 where no kernel value is
    negative: docs/bounds.md. The plain error is below this, too.

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
        No error is larger. None where :func:`rskpca.certificate.mmd.bound` is.
    """
    moved = mmd.bound(kernel, ell, radius=radius)
    return None if moved is None else kernel.centered_factor * moved


def sharp_bound(
    kernel: RadialKernel, ell: float | None = None, *, radius: float | None = None
) -> float | None:
    """sqrt(2 (kappa^2 - phi(1 / ell^p)^2)), at most Theorem 5.3, and attained.

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
        No error of the operator that is not centered is larger. None where
        :func:`rskpca.certificate.mmd.bound` is.
    """
    if ell is not None:
        radius = kernel.scale / ell if radius is None else radius
    return mmd.bound(kernel.squared(), radius=radius)


def from_sums(kernel: RadialKernel, reduced_set: ReducedSet) -> float | None:
    """A bound from how far the points of each center moved.

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
    return mmd.from_sums(kernel.squared(), reduced_set)


def centered_from_sums(kernel: RadialKernel, reduced_set: ReducedSet) -> float | None:
    """The same for the operators about the mean.

    With e_i = psi(x_i) - psi(c_alpha(i)), and V the variance in feature space, the error is at
    most rms(e) (sqrt(V) + sqrt(V-bar)), and at most the plain error plus
    MMD (||mu|| + ||mu-bar||). Where the kernel is not negative kappa / 2 serves in place of
    a larger variance: docs/bounds.md.

    Parameters
    ----------
    kernel : RadialKernel
        With a number for its bandwidth.
    reduced_set : ReducedSet
        With ``displacement`` and ``scatter``; without them the radius serves.

    Returns
    -------
    float or None
        None where nothing is known of how far points moved. ||mu-bar|| takes O(m^2) time.
    """
    moved = mmd.root_mean_square(kernel, reduced_set)
    shift = mmd.from_sums(kernel, reduced_set)
    plain = from_sums(kernel, reduced_set)
    if moved is None or shift is None or plain is None:
        return None
    length = mmd.length_of_mean(kernel, reduced_set)
    largest = (kernel.centered_factor / 2) ** 2
    variances = [kernel.kappa - s**2 for s in (length, max(length - shift, 0.0))]
    roots = [math.sqrt(min(max(variance, 0.0), largest)) for variance in variances]
    return min(moved * sum(roots), plain + shift * (2 * length + shift))


def measured(
    kernel: RadialKernel,
    X: Array,
    reduced_set: ReducedSet,
    sample_weight: Array | None = None,
    *,
    center: bool = False,
) -> float:
    """The error itself, from all pairs of points.

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
    center : bool, default=False
        Of the operators about their means.

    Returns
    -------
    float
        In O(n^2) time and memory of a few blocks; right to about 1e-7 kappa, as a difference
        of sums.
    """
    if not center:
        return mmd.measured(kernel.squared(), X, reduced_set, sample_weight)
    u, v = shares(X, sample_weight), reduced_set.weights / reduced_set.n_samples
    C = reduced_set.centers
    square = (
        _inner(kernel, X, u, X, u) - 2 * _inner(kernel, X, u, C, v) + _inner(kernel, C, v, C, v)
    )
    return math.sqrt(max(square, 0.0))


def _inner(kernel: RadialKernel, X: Array, u: Array, Y: Array, v: Array) -> float:
    """<C_X, C_Y> of two covariance operators: sum_ij u_i v_j k~(x_i, y_j)^2, k~ centered."""
    means = gram.product(kernel, Y, X, lambda block: (block @ u)[:, None], 1)[:, 0]
    centered = FittedCentered(v, means, float(v @ means), 0.0)

    def squares(block: Array) -> Array:
        return (centered.apply(block, X, Y) ** 2 @ v)[:, None]

    return float(u @ gram.product(kernel, X, Y, squares, 1)[:, 0])

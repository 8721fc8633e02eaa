"""Theorem 5.3, on the Hilbert-Schmidt norm of K_n - K-bar_n, plain or centered.

K_n = (1/n) sum_i psi(x_i) (x) psi(x_i), and psi(x) (x) psi(x) is the feature map of the kernel k^2
in the space of Hilbert-Schmidt operators. The error is therefore the discrepancy of Theorem 5.1
for k^2, and every bound on one is also a bound on the other.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .._core import gram
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet
from ..spectral.operators import FittedCentered
from . import mmd

Array = NDArray[np.floating]


def bound(
    kernel: RadialKernel,
    ell: float | None = None,
    *,
    radius: float | None = None,
    printed: bool = False,
) -> float | None:
    """Return the bound of Theorem 5.3, 2 sqrt(kappa) sqrt(2 (kappa - phi(1 / ell^p))).

    It is valid for both plain and centered operators.

    Parameters
    ----------
    kernel : RadialKernel
        Kernel with a numeric bandwidth.
    ell, radius : float, default=None
        Pass exactly one: ell = sigma / epsilon, or the radius epsilon.
    printed : bool, default=False
        If True, use the factor 2 kappa printed in the paper, which is too small for kappa < 1.

    Returns
    -------
    float or None
        Upper bound; None if :func:`rskpca.certificate.mmd.bound` is None.
    """
    factor = kernel.kappa if printed else math.sqrt(kernel.kappa)
    moved = mmd.bound(kernel, ell, radius=radius)
    return None if moved is None else 2 * factor * moved


def centered_bound(
    kernel: RadialKernel, ell: float | None = None, *, radius: float | None = None
) -> float | None:
    """Return the bound for centered operators, with the factor sqrt(2 kappa) if k is monotone.

    If the kernel is non-negative, no eigenvalue of a covariance operator exceeds kappa / 2 (see
    docs/proofs.md). The error of the plain operators is also below this bound.

    Parameters
    ----------
    kernel : RadialKernel
        Kernel with a numeric bandwidth.
    ell, radius : float, default=None
        Pass exactly one: ell = sigma / epsilon, or the radius epsilon.

    Returns
    -------
    float or None
        Upper bound; None if :func:`rskpca.certificate.mmd.bound` is None.
    """
    moved = mmd.bound(kernel, ell, radius=radius)
    return None if moved is None else kernel.centered_factor * moved


def sharp_bound(
    kernel: RadialKernel, ell: float | None = None, *, radius: float | None = None
) -> float | None:
    """Return sqrt(2 (kappa^2 - phi(1 / ell^p)^2)), a tight bound that is sharper than Theorem 5.3.

    Parameters
    ----------
    kernel : RadialKernel
        Kernel with a numeric bandwidth.
    ell, radius : float, default=None
        Pass exactly one: ell = sigma / epsilon, or the radius epsilon.

    Returns
    -------
    float or None
        Upper bound for the plain operators; None if :func:`rskpca.certificate.mmd.bound` is None.
    """
    return mmd.bound(kernel.squared(), radius=mmd.resolve_radius(kernel, ell, radius))


def from_sums(kernel: RadialKernel, reduced_set: ReducedSet) -> float | None:
    """Bound the error of the plain operators like :func:`rskpca.certificate.mmd.from_sums`."""
    return mmd.from_sums(kernel.squared(), reduced_set)


def centered_from_sums(
    kernel: RadialKernel, reduced_set: ReducedSet, length: float | None = None
) -> float | None:
    """Bound the error of the centered operators; ``length`` is ||mu-bar||, if it is known."""
    # With e_i = psi(x_i) - psi(c_i) and V the variance in feature space, the error is at most
    # rms(e) (sqrt(V) + sqrt(V-bar)), and at most the plain error plus MMD (||mu|| + ||mu-bar||).
    # If the kernel is non-negative, kappa / 2 replaces a larger variance (see docs/proofs.md).
    moved = mmd.root_mean_square(kernel, reduced_set)
    shift = mmd.from_sums(kernel, reduced_set)
    plain = from_sums(kernel, reduced_set)
    if moved is None or shift is None or plain is None:
        return None
    length = mmd.length_of_mean(kernel, reduced_set) if length is None else length
    largest = (kernel.centered_factor / 2) ** 2
    variances = [kernel.kappa - s**2 for s in (length, max(length - shift, 0.0))]
    roots = [math.sqrt(min(max(variance, 0.0), largest)) for variance in variances]
    return min(moved * sum(roots), plain + shift * (2 * length + shift))


def measure(
    kernel: RadialKernel,
    X: Array,
    reduced_set: ReducedSet,
    sample_weight: Array | None = None,
    *,
    center: bool = False,
) -> float:
    """Compute the error from all pairs of points.

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
    center : bool, default=False
        If True, compare the centered operators.

    Returns
    -------
    float
        The error, computed in O(n^2) time with little memory. Because of cancellation, it is
        accurate only to about 1e-7 kappa.
    """
    if not center:
        return mmd.measure(kernel.squared(), X, reduced_set, sample_weight)
    return mmd.distance(partial(_inner, kernel), X, reduced_set, sample_weight)


def _inner(kernel: RadialKernel, X: Array, u: Array, Y: Array, v: Array) -> float:
    """Return <C_X, C_Y> = sum_ij u_i v_j k~(x_i, y_j)^2, where k~ is the centered kernel."""
    means = gram.product(kernel, Y, X, lambda block: (block @ u)[:, None], 1)[:, 0]
    centered = FittedCentered(v, means, float(v @ means), 0.0)

    def squares(block: Array) -> Array:
        return (centered.apply(block, X, Y) ** 2 @ v)[:, None]

    return float(u @ gram.product(kernel, X, Y, squares, 1)[:, 0])

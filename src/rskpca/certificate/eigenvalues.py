"""Theorem 5.2, on the eigenvalues of K / n and of K-bar / n.

By the Hoffman-Wielandt inequality, sum_i (lambda_i - lambda-bar_i)^2 <= ||K - K-bar||_F^2 / n^2.
Let L be the largest slope of the kernel. Then |k(x_i, x_j) - k(c_i, c_j)| <= L ||d_i - d_j|| for
the displacements d_i = x_i - c_i, and the mean of ||d_i - d_j||^2 over all pairs is at most twice
the mean of ||d_i||^2. Centering is a projection on both sides and does not increase the error.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .._core import gram
from .._core.parallel import slices
from ..kernels import Gaussian, Laplacian, RadialKernel
from ..reduced_set import ReducedSet
from ..spectral import Centered, Plain, solve
from .mmd import resolve_radius

Array = NDArray[np.floating]


def bound(
    kernel: RadialKernel,
    ell: float | None = None,
    *,
    radius: float | None = None,
    printed: bool = False,
) -> float | None:
    """Return sqrt(2) L epsilon >= sqrt(sum_i (lambda_i - lambda-bar_i)^2), by Theorem 5.2.

    Parameters
    ----------
    kernel : RadialKernel
        Kernel with a numeric bandwidth.
    ell, radius : float, default=None
        Pass exactly one: ell = sigma / epsilon, or the radius epsilon.
    printed : bool, default=False
        If True, use the constants printed in the paper, which are too small.

    Returns
    -------
    float or None
        Upper bound, which is also valid for each individual eigenvalue; None if the kernel has no
        Lipschitz constant.
    """
    epsilon = resolve_radius(kernel, ell, radius)
    if printed:
        return math.sqrt(2 * printed_constant(kernel)) * epsilon
    slope = kernel.lipschitz_constant
    return None if slope is None else math.sqrt(2) * slope * epsilon


def constant(kernel: RadialKernel) -> float | None:
    """Return C = 2 L^2, for which (k(a, b) - k(c, d))^2 <= C (||a - c||^2 + ||b - d||^2)."""
    # It is 4 / (e sigma^2) for the Gaussian and 2 / sigma^2 for the Laplacian.
    slope = kernel.lipschitz_constant
    return None if slope is None else 2 * slope**2


def printed_constant(kernel: RadialKernel) -> float:
    """Return the constant C of eq. (profile) as printed in the paper, which is too small."""
    # The valid constants are larger by factors of 8 / e and 2.
    for family, factor in ((Gaussian, 0.5), (Laplacian, 1.0)):
        if isinstance(kernel, family):
            return factor / kernel.scale**2
    raise ValueError(f"The paper gives no constant for {kernel!r}; use printed=False.")


def from_sums(kernel: RadialKernel, reduced_set: ReducedSet) -> float | None:
    """Return L sqrt(2 mean ||x - c||^2), or :func:`bound` if displacements were not recorded."""
    if reduced_set.scatter is None:
        return None if reduced_set.radius is None else bound(kernel, radius=reduced_set.radius)
    slope = kernel.lipschitz_constant
    mean = float(reduced_set.scatter.sum()) / reduced_set.n_samples
    return None if slope is None else slope * math.sqrt(2 * mean) * (1 + 1e-9)


def measure_gram(kernel: RadialKernel, X: Array, centers: Array, labels: Array) -> float:
    """Compute ||K - K-bar||_F / n, which the proof of Theorem 5.2 bounds, in O(n) memory."""
    total = 0.0
    for rows in slices(0, len(X), 256):
        quantized = gram.gram(kernel, centers[labels[rows]], centers)[:, labels]
        total += float(((gram.gram(kernel, X[rows], X) - quantized) ** 2).sum())
    return math.sqrt(total) / len(X)


def measure(
    kernel: RadialKernel,
    X: Array,
    reduced_set: ReducedSet,
    n_components: int,
    sample_weight: Array | None = None,
    *,
    center: bool = False,
) -> Array:
    """Compute |lambda_i - lambda-bar_i| for the leading eigenvalues by solving exact kernel PCA.

    Parameters
    ----------
    kernel : RadialKernel
        Kernel with a numeric bandwidth.
    X : ndarray of shape (n_samples, n_features)
        The data.
    reduced_set : ReducedSet
        The reduced set of the data.
    n_components : int
        Number of eigenvalues.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows.
    center : bool, default=False
        If True, compare the centered operators.

    Returns
    -------
    ndarray of shape (n_components,)
        Absolute differences, divided by n; eigenvalues within rounding error count as zero.
    """
    weights = np.ones(len(X)) if sample_weight is None else sample_weight
    operator = Centered() if center else Plain()
    both = np.zeros((2, n_components))
    for row, s in zip(both, (ReducedSet(X, weights), reduced_set), strict=True):
        found = solve(operator, kernel, s, n_components).eigenvalues / s.n_samples
        row[: len(found)] = found
    return np.abs(both[0] - both[1])

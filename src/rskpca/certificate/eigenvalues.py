"""Theorem 5.2: the eigenvalues of K / n and of K-bar / n.

By Hoffman and Wielandt, sum_i (lambda_i - lambda-bar_i)^2 <= ||K - K-bar||_F^2 / n^2. With L the
largest slope of the kernel, |k(x_i, x_j) - k(c_i, c_j)| <= L ||d_i - d_j|| for the
displacements d_i = x_i - c_i, and the mean of ||d_i - d_j||^2 over all pairs is at most
twice that of ||d_i||^2. Centering is a projection on both sides and adds nothing.
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
from ._inputs import radius_of

Array = NDArray[np.floating]


def bound(
    kernel: RadialKernel,
    ell: float | None = None,
    *,
    radius: float | None = None,
    printed: bool = False,
) -> float | None:
    """The root of Theorem 5.2: sqrt(sum_i (lambda_i - lambda-bar_i)^2) <= sqrt(2) L epsilon.

    Parameters
    ----------
    kernel : RadialKernel
        With a number for its bandwidth.
    ell : float, default=None
        sigma / radius.
    radius : float, default=None
        epsilon, in place of ell.
    printed : bool, default=False
        With the constants of the paper, which are too small.

    Returns
    -------
    float or None
        No error is larger, and no single eigenvalue is further off. None without a Lipschitz
        constant.
    """
    epsilon = radius_of(kernel, ell, radius)
    if printed:
        return math.sqrt(2 * printed_constant(kernel)) * epsilon
    slope = kernel.lipschitz_constant
    return None if slope is None else math.sqrt(2) * slope * epsilon


def constant(kernel: RadialKernel) -> float | None:
    """C of eq. (profile): (k(a, b) - k(c, d))^2 <= C (||a - c||^2 + ||b - d||^2), 2 L^2.

    Parameters
    ----------
    kernel : RadialKernel
        With a number for its bandwidth.

    Returns
    -------
    float or None
        4 / (e sigma^2) for the Gaussian, 2 / sigma^2 for the Laplacian. None without a
        Lipschitz constant.
    """
    slope = kernel.lipschitz_constant
    return None if slope is None else 2 * slope**2


def printed_constant(kernel: RadialKernel) -> float:
    """The paper's C: 1 / (2 sigma^2) for the Gaussian, 1 / sigma^2 for the Laplacian.

    Parameters
    ----------
    kernel : RadialKernel
        One of the two.

    Returns
    -------
    float
        Too small by a factor of 8 / e and of 2.
    """
    for family, factor in ((Gaussian, 0.5), (Laplacian, 1.0)):
        if isinstance(kernel, family):
            return factor / kernel.scale**2
    raise ValueError(f"the paper prints no constant for {kernel!r}; use printed=False.")


def from_sums(kernel: RadialKernel, reduced_set: ReducedSet) -> float | None:
    """The same bound from how far the points moved: L sqrt(2 mean ||x - c||^2).

    Parameters
    ----------
    kernel : RadialKernel
        With a number for its bandwidth.
    reduced_set : ReducedSet
        With ``scatter``; without it the radius serves.

    Returns
    -------
    float or None
        None without a Lipschitz constant, or where nothing is known of how far points moved.
    """
    if reduced_set.scatter is None:
        return None if reduced_set.radius is None else bound(kernel, radius=reduced_set.radius)
    slope = kernel.lipschitz_constant
    mean = float(reduced_set.scatter.sum()) / reduced_set.n_samples
    return None if slope is None else slope * math.sqrt(2 * mean) * (1 + 1e-9)


def measured_gram(kernel: RadialKernel, X: Array, centers: Array, labels: Array) -> float:
    """||K - K-bar||_F / n, what the theorem bounds on its way.

    Parameters
    ----------
    kernel : RadialKernel
        With a number for its bandwidth.
    X : ndarray of shape (n_samples, n_features)
        The data.
    centers : ndarray of shape (n_centers, n_features)
        C.
    labels : ndarray of shape (n_samples,)
        The center of each row.

    Returns
    -------
    float
        In O(n^2) time and memory of a few blocks.
    """
    total = 0.0
    for rows in slices(0, len(X), 256):
        quantized = gram.gram(kernel, centers[labels[rows]], centers)[:, labels]
        total += float(((gram.gram(kernel, X[rows], X) - quantized) ** 2).sum())
    return math.sqrt(total) / len(X)


def measured(
    kernel: RadialKernel,
    X: Array,
    reduced_set: ReducedSet,
    n_components: int,
    sample_weight: Array | None = None,
    *,
    center: bool = False,
) -> Array:
    """|lambda_i - lambda-bar_i| of the leading eigenvalues, by exact kernel PCA of the data.

    Parameters
    ----------
    kernel : RadialKernel
        With a number for its bandwidth.
    X : ndarray of shape (n_samples, n_features)
        The data.
    reduced_set : ReducedSet
        What stands for them.
    n_components : int
        How many.
    sample_weight : ndarray of shape (n_samples,), default=None
        How often each row counts.
    center : bool, default=False
        About the mean in feature space.

    Returns
    -------
    ndarray of shape (n_components,)
        Of eigenvalues divided by n; zero stands for those that are zero to rounding.
    """
    weights = np.ones(len(X)) if sample_weight is None else sample_weight
    operator = Centered() if center else Plain()
    both = np.zeros((2, n_components))
    for row, s in zip(both, (ReducedSet(X, weights), reduced_set), strict=True):
        found = solve(operator, kernel, s, n_components).eigenvalues / s.n_samples
        row[: len(found)] = found
    return np.abs(both[0] - both[1])

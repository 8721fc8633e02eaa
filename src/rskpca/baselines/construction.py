"""Reduced-set construction: compress a model to new points found by fixed-point iteration."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .. import _validation as check
from .._core import gram
from .._core.parallel import single_threaded_blas
from ..embedding.compressed import Array, Axes, CompressedKernelPCA, require_gaussian
from ..kernels import Gaussian

_ITERATIONS = 500
_CONVERGED = 1e-9  # length of the last step, in bandwidths


def construct_reduced_set(
    model: Any, n_centers: int, *, n_restarts: int = 4, random_state: Any = 0
) -> CompressedKernelPCA:
    """Construct new points, one by one, whose span approximates the axes of a model.

    This is the reduced-set construction of Scholkopf, Mika, Burges et al. (1999), applied to all
    axes together. Let R_k be the residual of the unit axis v_k after projection onto the span of
    the previous points. The next point maximizes F(z) = sum_k <R_k, psi(z)>^2 / k(z, z). For the
    Gaussian kernel, a maximum is a fixed point of

        z <- sum_i b_i k(x_i, z) x_i / sum_i b_i k(x_i, z),   b_i = sum_k <R_k, psi(z)> a_ik,

    where R_k = sum_i a_ik psi(x_i), and the denominator equals F(z). A step that would decrease F
    is halved. After each new point, all coefficients are refitted by projection.

    Parameters
    ----------
    model : fitted kernel PCA
        A model such as :class:`~rskpca.ReducedSetKernelPCA` with a Gaussian kernel.
    n_centers : int
        Number of points, at most the number of centers of the model. Fewer are returned if they
        represent the axes exactly.
    n_restarts : int, default=4
        Number of random centers from which each search starts, in addition to the center with the
        largest residual. The highest maximum is used.
    random_state : int, RandomState or None, default=0
        Seed for the random starts.

    Returns
    -------
    CompressedKernelPCA
        The fitted transformer.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca import ReducedSetKernelPCA
    >>> from rskpca.baselines import construct_reduced_set
    >>> X = load_digits().data
    >>> model = ReducedSetKernelPCA(n_components=3, bandwidth=60.0, ell=2.0).fit(X)
    >>> construct_reduced_set(model, n_centers=10).basis_.shape
    (10, 64)
    """
    axes = Axes.of(model, n_centers)
    kernel = require_gaussian(axes.kernel, "construct_reduced_set")
    check.positive_integer("n_restarts", n_restarts)
    with single_threaded_blas():  # threads would slow down many small products
        points = _construct(axes, kernel, n_centers, n_restarts, check_random_state(random_state))
    return axes.compressed(points)


def _construct(
    axes: Axes, kernel: Gaussian, n_centers: int, n_restarts: int, random: np.random.RandomState
) -> Array:
    """Return points, each of which maximizes F for the residuals left by the previous points."""
    centers, Z, coefficients = axes.centers, axes.centers[:0], axes.coefficients[:0]
    left = at_centers = axes.at(centers)
    while len(Z) < n_centers:
        starts = np.append(random.randint(len(centers), size=n_restarts), _largest(left))
        points = np.concatenate([centers, Z])
        residual = np.concatenate([axes.coefficients, -coefficients])
        found = _climb(kernel, points, residual, centers[starts])
        kept, refitted = axes.projected(np.concatenate([Z, found]))
        if len(kept) == len(Z):  # the axes are represented exactly
            break
        Z, coefficients = kept, refitted
        left = at_centers - gram.gram(kernel, centers, Z) @ coefficients
    return Z


def _largest(values: Array) -> int:
    return int(np.argmax(np.sum(values**2, axis=1)))


def _climb(kernel: Gaussian, points: Array, residual: Array, Z: Array) -> Array:
    """Return the best fixed point reached from the rows of Z."""
    shift, height = _fixed_point_shift(kernel, points, residual, Z)
    length = np.ones(len(Z))
    for _ in range(_ITERATIONS):
        step = length[:, None] * shift
        if np.abs(step).max() < _CONVERGED * kernel.scale:
            break
        shift_there, height_there = _fixed_point_shift(kernel, points, residual, Z + step)
        higher = height_there >= height
        Z = np.where(higher[:, None], Z + step, Z)
        shift = np.where(higher[:, None], shift_there, shift)
        height = np.where(higher, height_there, height)
        length = np.where(higher, 1.0, length / 2)
    best = int(np.argmax(height))
    return Z[best : best + 1]


def _fixed_point_shift(
    kernel: Gaussian, points: Array, residual: Array, Z: Array
) -> tuple[Array, Array]:
    """Return the fixed-point step and the value of F at each row of Z."""
    values = gram.gram(kernel, points, Z).T
    products = values @ residual  # <R_k, psi(z)>
    height = np.sum(products**2, axis=1)
    values *= products @ residual.T
    origin = points.mean(axis=0)
    pulled = values @ (points - origin) - height[:, None] * (Z - origin)
    return pulled / np.maximum(height, np.finfo(np.float64).tiny)[:, None], height

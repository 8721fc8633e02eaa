"""Correction of kernel PCA eigenvalues for the spread of points within their cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._core import gram
from .._core.parallel import slices, workers
from ..kernels import Gaussian
from ..reduced_set import ReducedSet
from .eigensystem import EigenSystem

Array = NDArray[np.floating]


def corrected_eigenvalues(
    system: EigenSystem, reduced_set: ReducedSet, covariance: Array
) -> NDArray[np.float64]:
    """Estimate the eigenvalues of the full data from those of the cell means, to second order.

    Up to the square of a perturbation, an eigenvalue of the data is the Rayleigh quotient of the
    reduced set's principal axis: mu sum_i f(x_i)^2, with sum_j w_j f(c_j)^2 = 1. About the mean
    of a cell, the first-order terms sum to 0. Let S_j be the sum of (x_i - c_j)(x_i - c_j)' over
    the points of cell j. Then

        lambda = mu (1 + sum_j [grad f(c_j)' S_j grad f(c_j) + f(c_j) tr(S_j Hess f(c_j))]).

    The formula also applies to centered kernel PCA, where sum_i f(x_i) is of second order and its
    square is dropped. Each S_j is approximated by the scatter of the cell times ``covariance``
    divided by its trace.

    Parameters
    ----------
    system : EigenSystem
        The eigensystem of plain or centered kernel PCA with a Gaussian kernel. Other kernels are
        not supported, because they are not smooth enough or their derivatives are unknown.
    reduced_set : ReducedSet
        The reduced set of the system, with ``scatter``. Its centers must be the cell means, as
        with ``ReweightedDensity(weights="means")`` and ``FastParzenDensity``.
    covariance : ndarray of shape (n_features, n_features)
        Covariance of the points about their centers, up to a factor.

    Returns
    -------
    ndarray of shape (n_components,)
        Corrected eigenvalues, not sorted. On german, pendigits, usps and covtype, the correction
        reduces the relative error by a factor of 4 to 11 (``python -m benchmarks weights``). If
        the centers are rows, as in the shadow density, the correction increases the error,
        because the unknown first-order terms are as large as the second-order terms.

    Notes
    -----
    The computation takes O(m^2 d r) time. Assuming an isotropic spread instead of ``covariance``
    would correct most eigenvalues in the wrong direction, because cells are longest in the
    directions in which the eigenfunctions vary most.
    """
    kernel = system.kernel
    if not isinstance(kernel, Gaussian):
        raise ValueError(f"The system must have a Gaussian kernel, got {type(kernel).__name__}.")
    if reduced_set.scatter is None:
        raise ValueError(
            "reduced_set must have a scatter. Use a density that assigns each row to a center."
        )
    d = reduced_set.n_features
    if np.shape(covariance) != (d, d):
        raise ValueError(f"covariance must have shape ({d}, {d}), got {np.shape(covariance)}.")
    curvature = _curvatures(system, reduced_set.centers, _root_of_shape(covariance))
    change = (reduced_set.scatter / kernel.scale**2) @ curvature
    return system.eigenvalues * (1 + change)


def _root_of_shape(covariance: Array) -> Array:
    """Return Q with Q Q' = covariance / trace(covariance), or 0 if the trace is 0."""
    values, vectors = np.linalg.eigh(covariance)
    total = values.sum()
    return vectors * np.sqrt(np.maximum(values, 0) / total) if total > 0 else 0 * vectors


def _curvatures(system: EigenSystem, points: Array, root: Array) -> Array:
    """Return |Q' grad f|^2 + f tr(Q' Hess f Q) at the points, one column per function.

    Lengths are measured in bandwidths. For f(z) = sum_j a_j k_j + constant, with
    k_j = exp(-|z - z_j|^2) and y = Q' z:
    Q' grad f = 2 sum_j a_j k_j (y_j - y),
    tr(Q' Hess f Q) = sum_j a_j k_j (4 |y_j - y|^2 - 2 |Q|^2).
    """
    prepared = gram.Centers.prepare(system.centers, system.kernel.scale, np.float64)
    blocks = gram.KernelRows(system.kernel, points, prepared, np.float64)
    Y = prepared.rows @ root
    norms, size = np.sum(Y**2, axis=1), np.sum(root**2)
    functions = system.extend(points.astype(np.float64))
    out = np.empty_like(functions)

    def work(rows: slice) -> None:
        block = blocks[rows]
        y = (points[rows] - prepared.origin) / prepared.scale @ root
        for component, a in enumerate(system.coefficients.T):
            terms = block * a
            total, first, second = terms.sum(axis=1), terms @ Y, terms @ norms
            gradient = 2 * (first - total[:, None] * y)
            spread = second - 2 * np.sum(first * y, axis=1) + total * np.sum(y**2, axis=1)
            out[rows, component] = np.sum(gradient**2, axis=1)
            out[rows, component] += functions[rows, component] * (4 * spread - 2 * size * total)

    with workers() as run:
        run(work, slices(0, len(points), blocks.n_rows))
    return out

"""What the spread of the points within their cells does to the eigenvalues of kernel PCA."""

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
    """Eigenvalues of the data's operator, from those on the means of cells, to second order.

    An eigenvalue of the data is, but for the square of a perturbation, the Rayleigh quotient of
    the reduced set's principal axis: mu sum_i f(x_i)^2, with sum_j w_j f(c_j)^2 = 1. About the
    mean of a cell the first-order term sums to 0, and with S_j the sum of
    (x_i - c_j)(x_i - c_j)' over its points

        lambda = mu (1 + sum_j [grad f(c_j)' S_j grad f(c_j) + f(c_j) tr(S_j Hess f(c_j))]).

    It is the same about the mean in feature space: sum_i f(x_i) is of second order there, and its
    square is dropped. Each S_j is taken as the cell's scatter times the shape of ``covariance``.

    Parameters
    ----------
    system : EigenSystem
        Of kernel PCA, plain or centered, with a Gaussian kernel; other kernels are not smooth
        enough, or have derivatives that are not known.
    reduced_set : ReducedSet
        That the system was solved on, with ``scatter``. Its centers are the means of their
        cells, as ``ReweightedDensity(weights="means")`` and ``FastParzenDensity`` leave them.
    covariance : ndarray of shape (n_features, n_features)
        Of the points about their centers, up to a factor.

    Returns
    -------
    ndarray of shape (n_components,)
        Not sorted. On german, pendigits, usps and covtype the relative error falls to between a
        quarter and an eleventh of that of ``system.eigenvalues`` (``python -m benchmarks
        weights``). Where centers are rows, as the shadow density's are, their first-order term
        is as large as the second and not known: the correction makes the error larger.

    Notes
    -----
    O(m^2 d r). An isotropic spread would need no ``covariance``, but data do not have it: cells
    are longest where the eigenfunctions vary most, and the correction would have the wrong sign
    for most eigenvalues.
    """
    kernel = system.kernel
    if not isinstance(kernel, Gaussian):
        raise ValueError(
            f"the correction is known for a Gaussian kernel only, got a {type(kernel).__name__}."
        )
    if reduced_set.scatter is None:
        raise ValueError("reduced_set has no scatter; take a density whose rows have centers.")
    d = reduced_set.n_features
    if np.shape(covariance) != (d, d):
        raise ValueError(f"covariance must have shape ({d}, {d}), got {np.shape(covariance)}.")
    curvature = _curvatures(system, reduced_set.centers, _root_of_shape(covariance))
    change = (reduced_set.scatter / kernel.scale**2) @ curvature
    return system.eigenvalues * (1 + change)


def _root_of_shape(covariance: Array) -> Array:
    """Q with Q Q' = covariance / trace; 0 where there is no spread."""
    values, vectors = np.linalg.eigh(covariance)
    total = values.sum()
    return vectors * np.sqrt(np.maximum(values, 0) / total) if total > 0 else 0 * vectors


def _curvatures(system: EigenSystem, points: Array, root: Array) -> Array:
    """|Q' grad f|^2 + f tr(Q' Hess f Q) at the points, in bandwidths, a column a function.

    Of f(z) = sum_j a_j k_j + constant, with k_j = exp(-|z - z_j|^2) and y = Q' z:
    Q' grad f = 2 sum_j a_j k_j (y_j - y),
    tr(Q' Hess f Q) = sum_j a_j k_j (4 |y_j - y|^2 - 2 |Q|^2).
    """
    blocks = gram.KernelRows(system.kernel, points, system.centers, np.float64)
    prepared = blocks.centers
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

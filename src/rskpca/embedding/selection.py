"""Reduced-set selection: fewer points with the best coefficients on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core import gram
from ._axes import Array, Axes
from .compressed import CompressedKernelPCA

# Points whose squared distance from the span of the chosen ones, relative to kappa, is below this
# are skipped.
_REDUNDANT = 1e-10


def select_reduced_set(model: Any, n_centers: int) -> CompressedKernelPCA:
    """Keep some of the centers of a model and project its axes on their span.

    Reduced-set selection of Scholkopf, Mika, Burges et al. (1999) seeks few points S among the
    expansion points, and coefficients, that minimize sum_k ||v_k - sum_{j in S} a_jk psi(c_j)||^2
    for the unit axes v_k. For a given S the coefficients are those of the orthogonal projection.
    That paper finds S by eliminating points one by one, or by a penalty on the coefficients, which
    both need the n x n Gram matrix or its inverse. Here the same error is reduced by forward
    selection: each step adds the point that reduces it most, and all coefficients are refitted.

    Parameters
    ----------
    model : fitted kernel PCA
        A model such as :class:`~rskpca.ReducedSetKernelPCA`; with ``ell=np.inf`` it is exact.
    n_centers : int
        Number of points, at most that of the model. Fewer are kept if the others add nothing.

    Returns
    -------
    CompressedKernelPCA
        The fitted transformer. Its ``basis_`` contains rows of ``model.basis_``, in their order.

    Notes
    -----
    Memory is O(n m), and time O(n m (m + d)), after one product with the model's n centers.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca import ReducedSetKernelPCA, select_reduced_set
    >>> X = load_digits().data
    >>> model = ReducedSetKernelPCA(n_components=3, bandwidth=60.0, ell=4.0).fit(X)
    >>> select_reduced_set(model, n_centers=100).basis_.shape
    (100, 64)
    """
    axes = Axes.of(model, n_centers)
    return axes.compressed(axes.system.centers[np.sort(greedy(axes, n_centers))])


def greedy(axes: Axes, n_centers: int) -> list[int]:
    """Choose centers, one by one, that reduce the summed squared error of the axes most.

    With q the part of psi(c) outside the span of the chosen ones, the error decreases by
    sum_k <v_k, q>^2 / ||q||^2, which chooses the pivots of a Cholesky decomposition.

    Parameters
    ----------
    axes : Axes
        The principal axes.
    n_centers : int
        Number of centers.

    Returns
    -------
    list of int
        Indices of the centers, in the order of selection; fewer if the others are redundant.
    """
    centers = axes.centers
    factor = np.empty((len(centers), n_centers), order="F")
    outside = np.full(len(centers), axes.kernel.kappa)  # ||q||^2
    products = axes.at(centers)  # <v_k, q>
    chosen: list[int] = []
    for step in range(n_centers):
        best = _most_useful(products, outside, _REDUNDANT * axes.kernel.kappa)
        if best is None:
            break
        column = gram.gram(axes.kernel, centers, centers[best : best + 1])[:, 0]
        column -= factor[:, :step] @ factor[best, :step]
        column /= np.sqrt(outside[best])
        products -= np.outer(column, products[best] / np.sqrt(outside[best]))
        outside -= column**2
        outside[best] = 0.0
        factor[:, step] = column
        chosen.append(best)
    return chosen


def _most_useful(products: Array, outside: Array, redundant: float) -> int | None:
    able = np.flatnonzero(outside > redundant)
    if len(able) == 0:
        return None
    return int(able[np.argmax(np.sum(products[able] ** 2, axis=1) / outside[able])])

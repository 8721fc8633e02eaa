"""Reduced-set selection: compress a model to a subset of its centers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core import gram
from .compressed import Array, Axes, CompressedKernelPCA

# Points whose squared distance from the span of the chosen points, relative to kappa, is below
# this threshold are skipped.
_REDUNDANT = 1e-10


def select_reduced_set(model: Any, n_centers: int) -> CompressedKernelPCA:
    """Select a subset of a model's centers and project its axes onto their span.

    Reduced-set selection (Scholkopf, Mika, Burges et al., 1999) looks for a small subset S of the
    expansion points, and coefficients a, that minimize
    sum_k ||v_k - sum_{j in S} a_jk psi(c_j)||^2 for the unit axes v_k. For a given S, the optimal
    coefficients are given by orthogonal projection. Scholkopf et al. find S by eliminating
    points one by one or by penalizing the coefficients; both require the n x n Gram matrix or its
    inverse. This function minimizes the same error by forward selection: each step adds the point
    that reduces the error most, and all coefficients are refitted.

    Parameters
    ----------
    model : fitted kernel PCA
        A model such as :class:`~rskpca.ReducedSetKernelPCA`, which is exact with ``ell=np.inf``.
    n_centers : int
        Number of points, at most the number in the model. Fewer are kept if the remaining points
        are redundant.

    Returns
    -------
    CompressedKernelPCA
        The fitted transformer. Its ``basis_`` contains rows of ``model.basis_``, in the same order.

    Notes
    -----
    After one product with the model's n centers, selecting m points takes O(n m (m + d)) time and
    O(n m) memory.

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
    """Return the indices of greedily chosen centers, in the order in which they were chosen."""
    # Let q be the component of psi(c) orthogonal to the span of the chosen centers. Choosing c
    # decreases the error by sum_k <v_k, q>^2 / ||q||^2, which determines the pivots of a Cholesky
    # decomposition. The search ends early if all other centers are redundant.
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

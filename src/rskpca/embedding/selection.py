"""Reduced-set selection: some of the points, and the best coefficients on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._axes import Axes
from ._greedy import greedy
from .compressed import CompressedKernelPCA


def select_reduced_set(model: Any, n_centers: int) -> CompressedKernelPCA:
    """Keep some of the model's centers, and project its axes on their span.

    Reduced-set selection of Scholkopf, Mika, Burges et al. (1999) seeks few points S among the
    expansion points, and coefficients, that minimise sum_k ||v_k - sum_{j in S} a_jk psi(c_j)||^2
    for the unit axes v_k. For a given S the coefficients are those of the orthogonal projection.
    The paper reaches for S by eliminating points one by one, or by a penalty on the coefficients,
    both with the inverse or the whole of the n x n Gram matrix. Here the same error is lowered from
    the other end: each step takes the point that lowers it most, all coefficients refitted.

    Parameters
    ----------
    model : fitted kernel PCA
        Such as :class:`~rskpca.ReducedSetKernelPCA`; with ``ell=np.inf`` it is exact.
    n_centers : int
        Points to keep, at most those of the model. Fewer are kept where the others add nothing.

    Returns
    -------
    CompressedKernelPCA
        Fitted. Its ``basis_`` holds rows of ``model.basis_`` in the order of the model.

    Notes
    -----
    Memory O(n m) and time O(n m (m + d)) after one product with the model's n centers.

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

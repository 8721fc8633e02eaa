"""Which of the centers serve the axes best."""

from __future__ import annotations

import numpy as np

from .._core import gram
from ._axes import Array, Axes

# Points that the chosen ones span to within this, squared and relative to kappa, are passed by.
_REDUNDANT = 1e-10


def greedy(axes: Axes, n_centers: int) -> list[int]:
    """Centers in the order in which they lower the summed squared error of the axes most.

    With q the part of psi(c) outside the span of those chosen, the error falls by
    sum_k <v_k, q>^2 / ||q||^2: a Cholesky decomposition that picks its pivots by this.
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

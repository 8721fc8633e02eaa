"""The nearest center of each row, exactly, in blocks.

Distances come from blocked products. With u the unit roundoff of float64 and rows and centers
about the middle of the centers, ||x||^2 + ||c||^2 - 2 <x, c> is off by at most
u (2d + 24) (||x|| + ||c||)^2, shift and scale included. Centers that this leaves in doubt are
compared by differences in float64: the same labels for any block size and number of threads.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .gram import Centers
from .parallel import slices, workers

Array = NDArray[np.floating]
Labels = NDArray[np.intp]
Floats = NDArray[np.float64]

_BLOCK_ELEMENTS = 2**18
_U64 = 2.0 * 2.0**-53


def nearest(
    X: Array, C: Array, scale: float = 1.0, *, n_threads: int | None = None
) -> tuple[Labels, Floats]:
    """The nearest center of each row, the first of equals, and the squared distance to it.

    ``scale`` is a length of the size of the data's, as the bandwidth is; no result depends on it.
    """
    from .compiled_nearest import nearest_of_products

    centers, C = Centers.prepare(C, scale, np.float64), np.ascontiguousarray(C, dtype=np.float64)
    largest = np.sqrt(centers.squared_norms.max())
    labels, squared = np.empty(len(X), dtype=np.intp), np.empty(len(X))
    slack = 2 * _U64 * (2 * C.shape[1] + 24)

    def work(rows: slice) -> None:
        block = np.ascontiguousarray(X[rows], dtype=np.float64)
        shifted = (block - centers.origin) / scale
        with np.errstate(over="ignore", invalid="ignore"):  # beyond float64: by differences
            norms = np.einsum("ij,ij->i", shifted, shifted)
            products = shifted @ centers.rows.T
            margins = slack * (np.sqrt(norms) + largest) ** 2
        nearest_of_products(
            products, norms, centers.squared_norms, margins, block, C,
            labels[rows], squared[rows],
        )  # fmt: skip

    size = int(np.clip(_BLOCK_ELEMENTS // len(C), 16, 1024))
    with workers(n_threads) as run:
        run(work, slices(0, len(X), size))
    return labels, squared


def squared_distances_to(X: Array, C: Array, labels: Labels) -> Floats:
    """The squared distance of each row to the center that its label names."""
    from .compiled_nearest import distances_to_labels

    C = np.ascontiguousarray(C, dtype=np.float64)
    squared = np.empty(len(X))
    for rows in slices(0, len(X), 4096):
        block = np.ascontiguousarray(X[rows], dtype=np.float64)
        distances_to_labels(block, C, labels[rows], squared[rows])
    return squared

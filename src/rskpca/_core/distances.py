"""Exact nearest centers and minimum spanning trees.

Distances to centers are computed from matrix products. Let u be the unit roundoff of float64, and
shift rows and centers by a point in the middle of the centers. Then ||x||^2 + ||c||^2 - 2 <x, c>
has an error of at most u (2d + 24) (||x|| + ||c||)^2, including the errors of shifting and scaling.
Centers within this error of the nearest are compared using float64 differences, so the labels do
not depend on the batch size or the number of threads.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .gram import Centers
from .parallel import slices, workers

Array = NDArray[np.floating]
Labels = NDArray[np.intp]
Floats = NDArray[np.float64]

_BATCH_ELEMENTS = 2**18
_U64 = 2.0 * 2.0**-53  # twice the unit roundoff


def nearest_centers(
    X: Array, C: Array, scale: float = 1.0, *, n_threads: int | None = None
) -> tuple[Labels, Floats]:
    """Return the nearest center of each row (the first among ties) and its squared distance.

    ``scale`` is a typical length of the data, such as the bandwidth; results do not depend on it.
    """
    from .compiled import nearest_of_products, read_only

    centers, C = Centers.prepare(C, scale, np.float64), read_only(C, np.float64)
    largest = np.sqrt(centers.squared_norms.max())
    labels, squared = np.empty(len(X), dtype=np.intp), np.empty(len(X))
    slack = 2 * _U64 * (2 * C.shape[1] + 24)

    def work(rows: slice) -> None:
        batch = read_only(X[rows], np.float64)
        shifted = (batch - centers.origin) / scale
        with np.errstate(over="ignore", invalid="ignore"):  # differences decide in this case
            norms = np.einsum("ij,ij->i", shifted, shifted)
            products = shifted @ centers.rows.T
            margins = slack * (np.sqrt(norms) + largest) ** 2
        nearest_of_products(
            products, norms, centers.squared_norms, margins, batch, C,
            labels[rows], squared[rows],
        )  # fmt: skip

    size = int(np.clip(_BATCH_ELEMENTS // len(C), 16, 1024))
    with workers(n_threads) as run:
        run(work, slices(0, len(X), size))
    return labels, squared


def squared_distances_to(X: Array, C: Array, labels: Labels) -> Floats:
    """Return the squared distance from each row to the center given by its label."""
    from .compiled import distances_to_labels, read_only

    C, labels = read_only(C, np.float64), read_only(labels)
    squared = np.empty(len(X))
    for rows in slices(0, len(X), 4096):
        batch = read_only(X[rows], np.float64)
        distances_to_labels(batch, C, labels[rows], squared[rows])
    return squared


def spanning_tree_lengths(C: Array) -> Floats:
    """Return the edge lengths of the minimum spanning tree of the points, longest first.

    Connecting every pair of points no farther apart than the p-th longest edge yields at most p
    connected components. Memory use is O(m).
    """
    from .compiled import read_only, spanning_tree

    squared = np.empty(max(len(C) - 1, 0))
    spanning_tree(read_only(C, np.float64), squared)
    return np.sqrt(np.sort(squared)[::-1])

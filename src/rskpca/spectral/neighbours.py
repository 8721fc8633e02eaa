"""Sparse neighbor graph of the centers, with kernel values for neighbors and zeros elsewhere.

In the paper's eq. (generic_eigen), this corresponds to setting g(x, y) to 1 for neighbors and to 0
for other pairs. For kernels with a small bandwidth, the graph drops values that are almost zero, so
that many centers fit in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import KDTree

from .. import _validation as check
from .._core.parallel import allowed_threads, slices
from ..kernels import RadialKernel

Array = NDArray[np.floating]

# Largest number of pairs (1 GB as a sparse matrix); more pairs raise an error.
_MOST_PAIRS = 2**26
_ROWS = 2**14
_LARGEST = 1e150
# Radii are compared by their squares, whose relative rounding error is smaller than this slack.
SLACK = 1 + 1e-12


@dataclass(frozen=True, eq=False)
class NeighbourGraph:
    """Graph in which x and c_j are neighbors if ||x - c_j|| <= max(r(x), r_j).

    r is the cutoff, or the distance to the k-th nearest center, where each center is its own
    nearest center. The graph is therefore symmetric, a center and a new point at the same location
    have equal rows, and the graph depends neither on the order of the centers nor on ties.

    Attributes
    ----------
    kernel : RadialKernel
        The kernel with its bandwidth resolved.
    tree : KDTree
        Search tree of the centers.
    reach : ndarray of shape (n_centers,)
        The radii r_j.
    nearest : int or None
        The number of nearest centers, k; None for a cutoff.
    """

    kernel: RadialKernel
    tree: KDTree
    reach: Array
    nearest: int | None

    def __post_init__(self) -> None:
        check.shapes(self, reach="m")
        _refuse_huge(self.tree.data)
        if len(self.reach) != self.tree.n:
            raise ValueError(f"reach must have {self.tree.n} entries, got {len(self.reach)}.")
        if self.nearest is None:
            if not (self.reach == self.reach[0]).all():
                raise ValueError("reach must be equal for all centers if nearest is None.")
            self.refuse_far(self.tree, float(self.reach[0]))
        elif not 1 <= self.nearest <= self.tree.n:
            raise ValueError(f"nearest must be between 1 and {self.tree.n}, got {self.nearest}.")
        else:
            self.refuse_many(self.nearest * self.tree.n, self.nearest)

    @classmethod
    def of(cls, kernel: RadialKernel, centers: Array, graph: float) -> NeighbourGraph:
        """Build a graph from a number of nearest centers (int) or a cutoff distance (float)."""
        _refuse_huge(centers)
        tree = KDTree(np.asarray(centers, dtype=np.float64))
        if isinstance(graph, float):
            return cls(kernel, tree, np.full(tree.n, graph), None)
        nearest = min(int(graph), tree.n)
        return cls(kernel, tree, _kth_distance(tree, tree.data, nearest), nearest)

    @classmethod
    def refuse_far(cls, tree: KDTree, cut_off: float) -> None:
        """Raise a ValueError if a cutoff results in too many pairs."""
        if tree.n**2 > _MOST_PAIRS:
            cls.refuse_many(tree.count_neighbors(tree, cut_off), cut_off)

    @staticmethod
    def refuse_many(n_pairs: int, graph: float) -> None:
        """Raise a ValueError if there are too many pairs to store."""
        if n_pairs > _MOST_PAIRS:
            raise ValueError(
                f"graph={graph!r} results in {n_pairs:,} pairs of neighbors, more than the limit "
                f"of {_MOST_PAIRS:,}. Use fewer neighbors, or graph=None for the full kernel."
            )

    def rows(self, X: Array) -> sparse.csr_array:
        """Return the kernel values between points and neighboring centers as a sparse array."""
        _refuse_huge(X)
        X = np.asarray(X, dtype=np.float64)
        if self.nearest is None:
            return self._values(X, *_within(self.tree, X, self.reach[0]))
        reach = _kth_distance(self.tree, X, self.nearest)
        centers, points = _within(KDTree(X), self.tree.data, self.reach)
        own = self._values(X, *_within(self.tree, X, reach))
        return own.maximum(self._values(X, points, centers))

    def _values(self, X: Array, i: NDArray[np.intp], j: NDArray[np.intp]) -> sparse.csr_array:
        """Return k(x_i, c_j) for pairs of indices i and j."""
        squared = np.sum((X[i] - self.tree.data[j]) ** 2, axis=1)
        values = self.kernel.evaluate(self.kernel.sign * squared / self.kernel.scale**2)
        return sparse.csr_array((values, (i, j)), shape=(len(X), self.tree.n))

    def product(
        self, X: Array, function: Callable[[Any, slice], Array], n_columns: int, dtype: Any
    ) -> Array:
        """Apply a function to batches of sparse kernel rows of X, and stack the results."""
        # The arguments of the function are sparse float64 rows and their slice of X.
        out = np.empty((len(X), n_columns), dtype=dtype)
        for rows in slices(0, len(X), max(_ROWS, self.tree.n)):
            out[rows] = function(self.rows(X[rows]), rows)
        return out


def _refuse_huge(points: Array) -> None:
    """Raise a ValueError if squared distances between the points may overflow."""
    largest = float(np.abs(points).max(initial=0.0))
    if largest > _LARGEST:
        raise ValueError(
            f"A graph requires values of at most {_LARGEST:g}, so that squared distances do not "
            f"overflow, got {largest:g}. Drop such rows, or rescale the data."
        )


def _kth_distance(tree: KDTree, X: Array, k: int) -> Array:
    return tree.query(X, [k], workers=allowed_threads())[0][:, 0]


def _within(
    tree: KDTree, X: Array, radius: Array | float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the indices of all pairs of a row and a tree point within the row's radius.

    The first array contains the indices of the rows, and the second those of the tree points.
    """
    found = tree.query_ball_point(
        X, np.multiply(radius, SLACK), workers=allowed_threads(), return_sorted=False
    )
    counts = np.fromiter(map(len, found), dtype=np.intp, count=len(found))
    points = np.fromiter(chain.from_iterable(found), dtype=np.intp, count=int(counts.sum()))
    return np.repeat(np.arange(len(X)), counts), points

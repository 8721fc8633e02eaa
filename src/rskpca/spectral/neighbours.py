"""A sparse graph among the centers: kernel values of near pairs, all others zero.

This is the paper's g(x, y) of eq. (generic_eigen) again: 1 for neighbors, else 0. For kernels
with a small bandwidth it drops values that are almost zero, so that many centers fit in memory.
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

# More pairs than this (1 GB as a sparse matrix) raise an error.
_MOST_PAIRS = 2**26
_ROWS = 2**14
# Radii are compared as squares, whose relative rounding error is below this.
SLACK = 1 + 1e-12


@dataclass(frozen=True, eq=False)
class NeighbourGraph:
    """A graph in which x is a neighbor of c_j if ||x - c_j|| <= max(r(x), r_j).

    r is the cut-off, or the distance to the k-th nearest center, where a center counts as its own
    nearest. The graph is therefore symmetric, the row of a center equals that of a new point at
    the same location, and neither the order of the centers nor ties matter.

    Attributes
    ----------
    kernel : RadialKernel
        The kernel with its bandwidth resolved.
    tree : KDTree
        Search tree of the centers.
    reach : ndarray of shape (n_centers,)
        r_j.
    nearest : int or None
        k; None for a cut-off.
    """

    kernel: RadialKernel
    tree: KDTree
    reach: Array
    nearest: int | None

    def __post_init__(self) -> None:
        check.shapes(self, reach="m")
        if len(self.reach) != self.tree.n:
            raise ValueError(f"reach must have {self.tree.n} entries, got {len(self.reach)}.")
        if self.nearest is None:
            if not (self.reach == self.reach[0]).all():
                raise ValueError("reach must be the same for all centers if it is a cut-off.")
            self.refuse_far(self.tree, float(self.reach[0]))
        elif not 1 <= self.nearest <= self.tree.n:
            raise ValueError(f"nearest must be between 1 and {self.tree.n}, got {self.nearest}.")
        else:
            self.refuse_many(self.nearest * self.tree.n, self.nearest)

    @classmethod
    def of(cls, kernel: RadialKernel, centers: Array, graph: float) -> NeighbourGraph:
        """Build the graph of these centers.

        Parameters
        ----------
        kernel : RadialKernel
            The kernel with its bandwidth resolved.
        centers : ndarray of shape (n_centers, n_features)
            The centers.
        graph : int or float
            An int is k, the number of nearest centers; a float is the cut-off.

        Returns
        -------
        NeighbourGraph
            The graph.
        """
        tree = KDTree(np.asarray(centers, dtype=np.float64))
        if isinstance(graph, float):
            return cls(kernel, tree, np.full(tree.n, graph), None)
        nearest = min(int(graph), tree.n)
        return cls(kernel, tree, _kth_distance(tree, tree.data, nearest), nearest)

    @classmethod
    def refuse_far(cls, tree: KDTree, cut_off: float) -> None:
        """Raise if a cut-off makes too many pairs.

        Parameters
        ----------
        tree : KDTree
            Search tree of the centers.
        cut_off : float
            The largest distance of neighbors.
        """
        if tree.n**2 > _MOST_PAIRS:
            cls.refuse_many(tree.count_neighbors(tree, cut_off), cut_off)

    @staticmethod
    def refuse_many(n_pairs: int, graph: float) -> None:
        """Raise if there are too many pairs for memory.

        Parameters
        ----------
        n_pairs : int
            Number of pairs of neighbors.
        graph : int or float
            The parameter of :meth:`of`.
        """
        if n_pairs > _MOST_PAIRS:
            raise ValueError(
                f"graph={graph!r} makes {n_pairs:,} pairs of neighbors, too many for memory; use "
                "fewer neighbors, or graph=None for the full kernel."
            )

    def rows(self, X: Array) -> sparse.csr_array:
        """Return the kernel values of neighbors.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Points.

        Returns
        -------
        csr_array of shape (n_samples, n_centers)
            float64 values, zero for all but neighbors.
        """
        X = np.asarray(X, dtype=np.float64)
        if self.nearest is None:
            return self._values(X, *_within(self.tree, X, self.reach[0]))
        reach = _kth_distance(self.tree, X, self.nearest)
        centers, points = _within(KDTree(X), self.tree.data, self.reach)
        own = self._values(X, *_within(self.tree, X, reach))
        return own.maximum(self._values(X, points, centers))

    def _values(self, X: Array, i: NDArray[np.intp], j: NDArray[np.intp]) -> sparse.csr_array:
        """Return k(x_i, c_j) for these pairs."""
        squared = np.sum((X[i] - self.tree.data[j]) ** 2, axis=1)
        values = self.kernel.evaluate(self.kernel.sign * squared / self.kernel.scale**2)
        return sparse.csr_array((values, (i, j)), shape=(len(X), self.tree.n))

    def product(
        self, X: Array, function: Callable[[Any, slice], Array], n_columns: int, dtype: Any
    ) -> Array:
        """Apply a function to the kernel values of X, some thousand rows at a time.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Points.
        function : callable
            Function of sparse float64 rows and their slice of X; returns ``n_columns`` per row.
        n_columns : int
            Number of columns of the result.
        dtype : dtype
            The dtype of the result.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            The results for all rows.
        """
        out = np.empty((len(X), n_columns), dtype=dtype)
        for rows in slices(0, len(X), max(_ROWS, self.tree.n)):
            out[rows] = function(self.rows(X[rows]), rows)
        return out


def _kth_distance(tree: KDTree, X: Array, k: int) -> Array:
    return tree.query(X, [k], workers=allowed_threads())[0][:, 0]


def _within(
    tree: KDTree, X: Array, radius: Array | float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return pairs of a row of X and a point of the tree within the radius of the row."""
    found = tree.query_ball_point(
        X, np.multiply(radius, SLACK), workers=allowed_threads(), return_sorted=False
    )
    counts = np.fromiter(map(len, found), dtype=np.intp, count=len(found))
    points = np.fromiter(chain.from_iterable(found), dtype=np.intp, count=int(counts.sum()))
    return np.repeat(np.arange(len(X)), counts), points

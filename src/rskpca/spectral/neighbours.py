"""A sparse graph among the centers: kernel values of near pairs, all others zero.

This is the paper's g(x, y) of eq. (generic_eigen) once more: 1 for neighbours, else 0. For
kernels of small bandwidth it leaves out what is next to nothing, so that many centers fit.
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

from .._core.parallel import allowed_threads, slices
from ..kernels import RadialKernel

Array = NDArray[np.floating]

# More pairs than this (1 GB as a sparse matrix) are refused.
_MOST_PAIRS = 2**26
_ROWS = 2**14
# Radii are compared as squares, which rounding moves by less than this.
SLACK = 1 + 1e-12


@dataclass(frozen=True, eq=False)
class NeighbourGraph:
    """Who is a neighbour of whom: x of c_j where ||x - c_j|| <= max(r(x), r_j).

    r is the cut-off, or the distance to the k-th nearest center, with a center its own first.
    So the graph is symmetric, a center's row is that of a new point in its place, and neither
    the order of the centers nor ties matter.

    Attributes
    ----------
    kernel : RadialKernel
        The kernel with its bandwidth resolved.
    tree : KDTree
        Of the centers.
    reach : ndarray of shape (n_centers,)
        r_j.
    nearest : int or None
        k; None for a cut-off.
    """

    kernel: RadialKernel
    tree: KDTree
    reach: Array
    nearest: int | None

    @classmethod
    def of(cls, kernel: RadialKernel, centers: Array, graph: float) -> NeighbourGraph:
        """The graph of these centers.

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
            Ready for rows.
        """
        tree = KDTree(np.asarray(centers, dtype=np.float64))
        if isinstance(graph, float):
            cls.refuse_far(tree, graph)
            return cls(kernel, tree, np.full(tree.n, graph), None)
        nearest = min(int(graph), tree.n)
        cls.refuse_many(nearest * tree.n, graph)
        return cls(kernel, tree, _kth_distance(tree, tree.data, nearest), nearest)

    @classmethod
    def refuse_far(cls, tree: KDTree, cut_off: float) -> None:
        """An error where a cut-off makes too many pairs; counted only where it could.

        Parameters
        ----------
        tree : KDTree
            Of the centers.
        cut_off : float
            The distance of the furthest neighbours.
        """
        if tree.n**2 > _MOST_PAIRS:
            cls.refuse_many(tree.count_neighbors(tree, cut_off), cut_off)

    @staticmethod
    def refuse_many(n_pairs: int, graph: float) -> None:
        """An error where there are more pairs than memory should hold.

        Parameters
        ----------
        n_pairs : int
            Pairs of neighbours.
        graph : int or float
            What makes them, as in :meth:`of`.
        """
        if n_pairs > _MOST_PAIRS:
            raise ValueError(
                f"graph={graph!r} makes {n_pairs:,} pairs of neighbours, more than memory should "
                "hold; take fewer neighbours, or graph=None for the full kernel."
            )

    def rows(self, X: Array) -> sparse.csr_array:
        """Kernel values of neighbours.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Points.

        Returns
        -------
        csr_array of shape (n_samples, n_centers)
            In float64, zero for all but neighbours.
        """
        X = np.asarray(X, dtype=np.float64)
        if self.nearest is None:
            return self._values(X, *_within(self.tree, X, self.reach[0]))
        reach = _kth_distance(self.tree, X, self.nearest)
        centers, points = _within(KDTree(X), self.tree.data, self.reach)
        own = self._values(X, *_within(self.tree, X, reach))
        return own.maximum(self._values(X, points, centers))

    def _values(self, X: Array, i: NDArray[np.intp], j: NDArray[np.intp]) -> sparse.csr_array:
        """k(x_i, c_j) for these pairs."""
        squared = np.sum((X[i] - self.tree.data[j]) ** 2, axis=1)
        values = self.kernel.evaluate(self.kernel.sign * squared / self.kernel.scale**2)
        return sparse.csr_array((values, (i, j)), shape=(len(X), self.tree.n))

    def product(
        self, X: Array, function: Callable[[Any, slice], Array], n_columns: int, dtype: Any
    ) -> Array:
        """``function(rows, slice of X)``, some thousand rows at a time.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Points.
        function : callable
            From sparse rows of float64, and where they are in X, to ``n_columns`` a row.
        n_columns : int
            Columns of the result.
        dtype : dtype
            Of the result.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            The rows together.
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
    """Pairs of a row of X and a point of the tree within the row's radius."""
    found = tree.query_ball_point(
        X, np.multiply(radius, SLACK), workers=allowed_threads(), return_sorted=False
    )
    counts = np.fromiter(map(len, found), dtype=np.intp, count=len(found))
    points = np.fromiter(chain.from_iterable(found), dtype=np.intp, count=int(counts.sum()))
    return np.repeat(np.arange(len(X)), counts), points

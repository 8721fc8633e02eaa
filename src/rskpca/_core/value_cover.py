"""Algorithm 2 in the feature space of any kernel, and for sparse rows.

Distances are computed between a batch of rows and a panel of centers at a time, which limits memory
use. For dense rows and Euclidean distances, :class:`~rskpca._core.cover.Cover` is faster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import gram, sparse
from .cover import Cover
from .parallel import slices

Array = NDArray[np.floating]
Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Distances = Callable[[Any], Callable[[Any], Array]]  # maps centers to a function of rows

_ROWS = 512
_PANEL = 1024


def kernel_distances(kernel: Any) -> Distances:
    """Return a function for squared distances in feature space, k(x, x) + k(c, c) - 2 k(x, c)."""

    def prepare(C: Any) -> Callable[[Any], Array]:
        centers, own = gram.prepare(kernel, C, np.float64), kernel.diagonal(C)

        def squared(X: Any) -> Array:
            values = gram.gram(kernel, X, centers)
            return np.maximum(kernel.diagonal(X)[:, None] + own - 2 * values, 0)

        return squared

    return prepare


def sparse_distances(C: Any) -> Callable[[Any], Array]:
    """Return a function for squared Euclidean distances, if the rows or the centers are sparse."""
    return sparse.SquaredDistances(C, 0.0)


class ValueCover:
    """Growing set of centers, built by Algorithm 2 with a given distance.

    A row joins the first center closer than ``radius``. If there is none, it becomes a center.
    Up to rounding errors in the distances, the result does not depend on how the rows are divided
    into chunks.
    """

    def __init__(
        self, radius: float, centers: Any, distances: Distances, *, in_feature_space: bool = False
    ) -> None:
        self.radius, self.in_feature_space = float(radius), in_feature_space
        self._distances = distances
        self._panels: list[Callable[[Any], Array]] = []
        self._whole = centers[:0]  # the centers in full panels
        self._rest = centers[:0]  # the centers in the last panel
        self._append(centers)

    @property
    def n_centers(self) -> int:
        """The number of centers."""
        return int(self._whole.shape[0] + self._rest.shape[0])

    @property
    def centers(self) -> Any:
        """The centers, in the order in which they were opened."""
        return sparse.stack(self._whole, self._rest)

    def assign(self, X: Any) -> tuple[Labels, Floats]:
        """Return each row's first center within the radius, or -1, and the squared distance."""
        return self._run(X, grow=False, progress=None)

    def extend(self, X: Any, progress: Any = None) -> tuple[Labels, Floats]:
        """Assign rows like :meth:`assign`, and open new centers for the rows that have none."""
        return self._run(X, grow=True, progress=progress)

    def _run(self, X: Any, *, grow: bool, progress: Any) -> tuple[Labels, Floats]:
        labels, squared = np.full(X.shape[0], -1, dtype=np.intp), np.zeros(X.shape[0])
        for rows in slices(0, X.shape[0], _ROWS):
            self._find(X[rows], labels[rows], squared[rows])
            if grow:
                self._open(X[rows], labels[rows], squared[rows])
            if progress is not None:
                progress(rows.stop, self.n_centers)
        return labels, squared

    def _find(self, X: Any, labels: Labels, squared: Floats) -> None:
        """Find the first existing center of each row."""
        for i, distances in enumerate(self._panels):
            left = np.flatnonzero(labels < 0)
            if len(left) == 0:
                return
            found = distances(X[left])
            near = found < self.radius * self.radius
            first = near.argmax(axis=1)
            hit = near[np.arange(len(left)), first]
            labels[left[hit]] = i * _PANEL + first[hit]
            squared[left[hit]] = found[hit, first[hit]]

    def _open(self, X: Any, labels: Labels, squared: Floats) -> None:
        """Open new centers for the rows that have none, in row order."""
        rows = np.flatnonzero(labels < 0)
        if len(rows) == 0:
            return
        among = self._distances(X[rows])(X[rows])
        opened: list[int] = []
        left = np.arange(len(rows))
        while len(left):
            center = left[0]
            joins = among[left, center] < self.radius * self.radius
            joins[0] = True
            labels[rows[left[joins]]] = self.n_centers + len(opened)
            squared[rows[left[joins]]] = among[left[joins], center]
            squared[rows[center]] = 0.0
            opened.append(int(center))
            left = left[~joins]
        self._append(X[rows[opened]])

    def _append(self, centers: Any) -> None:
        """Append centers, and prepare the panels that contain them."""
        if centers.shape[0] == 0:
            return
        rest = sparse.stack(self._rest, centers)
        n_whole = self._whole.shape[0] // _PANEL
        del self._panels[n_whole:]
        for rows in slices(0, rest.shape[0], _PANEL):
            self._panels.append(self._distances(rest[rows]))
        full = rest.shape[0] // _PANEL * _PANEL
        self._whole, self._rest = sparse.stack(self._whole, rest[:full]), rest[full:]


def kernel_cover(radius: float, centers: Any, kernel: Any) -> ValueCover:
    """Return a cover in the feature space of a kernel, starting with the given centers."""
    return ValueCover(radius, centers, kernel_distances(kernel), in_feature_space=True)


def euclidean_cover(radius: float, centers: Any) -> Cover | ValueCover:
    """Return a cover that uses Euclidean distances, starting with the given centers."""
    if sparse.is_sparse(centers):
        return ValueCover(radius, centers, sparse_distances)
    return Cover(radius, centers)

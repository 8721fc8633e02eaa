"""What the points of each center add up to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reduced_set import ReducedSet
from ._base import Array


class Sums:
    """Weight, displacement and scatter of each center, from the first row to the last.

    ``residue`` is what rounding left out of the weights, so that rows can be taken away again
    to the last one.
    """

    def __init__(self, n_centers: int, previous: ReducedSet | None = None) -> None:
        self.weights, self.residue, self.displacement, self.scatter = np.zeros((4, n_centers))
        if previous is not None:
            m = previous.n_centers
            self.weights[:m], self.residue[:m] = previous.weights, previous.residue
            self.displacement[:m], self.scatter[:m] = previous.displacement, previous.scatter

    def moved(self, kept: Any, n_centers: int) -> Sums:
        """The sums of the centers that are kept, and room for others up to ``n_centers``."""
        moved = Sums(n_centers)
        for name, values in vars(self).items():
            left = values[kept]
            getattr(moved, name)[: len(left)] = left
        return moved

    def times(self, factor: float) -> Sums:
        """The sums of rows that count by a factor more."""
        scaled = Sums(len(self.weights))
        for name, values in vars(self).items():
            np.multiply(values, factor, out=getattr(scaled, name))
        return scaled

    def add(self, labels: NDArray[np.intp], squared: Array, weights: Array) -> None:
        """Count rows; negative weights take them away."""
        from .._core.compiled import accumulate, accumulate_exactly

        accumulate_exactly(labels, weights, self.weights, self.residue)
        accumulate(labels, weights * np.sqrt(squared), self.displacement)
        accumulate(labels, weights * squared, self.scatter)

    def merge(self, other: Sums) -> None:
        """Count what another has counted for the same centers, or for the first of them."""
        from .._core.compiled import accumulate_exactly

        m = len(other.weights)
        accumulate_exactly(np.arange(m), other.weights, self.weights, self.residue)
        self.residue[:m] += other.residue
        self.displacement[:m] += other.displacement
        self.scatter[:m] += other.scatter

    def reduced_set(
        self, centers: Array, radius: float | None, spacing: float | None, kept: Any = slice(None)
    ) -> ReducedSet:
        """The reduced set of the centers that are kept."""
        return ReducedSet(
            centers[kept],
            self.weights[kept],
            radius,
            spacing=spacing,
            displacement=np.maximum(self.displacement[kept], 0),
            scatter=np.maximum(self.scatter[kept], 0),
            residue=self.residue[kept],
        )


def cell_means(X: Array, weights: Array, labels: NDArray[np.intp], origins: Array) -> Array:
    """The mean of each cell's rows, about a point near them: far data keep their digits."""
    from .._core.compiled import accumulate

    totals = np.zeros(len(origins))
    accumulate(labels, weights, totals)
    means = np.empty(origins.shape)
    for k in range(X.shape[1]):
        sums = np.zeros(len(origins))
        accumulate(labels, weights * (X[:, k] - origins[labels, k]), sums)
        means[:, k] = origins[:, k] + sums / totals
    return means

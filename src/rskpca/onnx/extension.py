"""Eigenfunctions at new points, in a graph: what ``EigenSystem.extend`` computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..spectral import EigenSystem, FeatureSpace, FittedMarkov
from .graph import Value
from .kernel_values import Features, kernel_values, negated_squares, of_neighbours

Array = NDArray[np.floating]

# Up to this error of a column, relative to its size, kernel values and sums stay in float32.
_SINGLE = 2e-6
_ROWS = 1000


def arithmetic(system: EigenSystem, dtype: Any) -> np.dtype[Any]:
    """The dtype to compute in: float32 where ``extend`` itself loses nothing by it."""
    single, double = np.dtype(np.float32), np.dtype(np.float64)
    if not system.kernel.smooth or system.graph is not None or system.arithmetic(dtype) == double:
        return double
    return single if _lost_in_single(system) < _SINGLE else double


def _lost_in_single(system: EigenSystem) -> float:
    """The largest error of float32 beside the centers, as a share of each function's size."""
    aside = 0.3 * system.kernel.scale / np.sqrt(system.centers.shape[1])
    some = (system.centers[:: len(system.centers) // _ROWS + 1] + aside).astype(np.float32)
    expected = system.extend(some.astype(np.float64))
    error = np.abs(system.extend(some) - expected).max(axis=0)
    size = np.abs(expected).max(axis=0)
    return float((error / np.where(size > 0, size, 1.0)).max())


@dataclass(frozen=True, eq=False)
class Block:
    """k(x, C) of an eigensystem, and minus the squared distances that it comes from."""

    system: EigenSystem
    x: Value
    features: Features
    near: Value
    values: Value

    @classmethod
    def of(cls, system: EigenSystem, x: Value, features: Features) -> Block:
        kernel, graph = system.kernel, system.graph
        smooth = kernel.smooth and graph is None
        near = negated_squares(x, features, system.centers, kernel.scale, smooth=smooth)
        values = kernel_values(kernel, near)
        if graph is not None:
            values = of_neighbours(values, near, graph)
        return cls(system, x, features, near, values)

    def functions(self) -> Value:
        """The eigenfunctions, a column each."""
        if isinstance(self.system.operator, FittedMarkov):
            return self._walked(self.system.operator)
        return self._summed(self.system.operator)

    def _summed(self, operator: Any) -> Value:
        """k(x, C) B + constant, of a kernel PCA."""
        system = self.system
        extension = operator.extension(system.coefficients, system.eigenvalues, np.float64)
        nothing = np.zeros((1, len(system.centers)))
        constant = extension(nothing, nothing[:, :0], system.centers)
        return self.values @ operator.columns(system.coefficients) + constant

    def _walked(self, walk: FittedMarkov) -> Value:
        """Means over where the walk goes, as ``FittedMarkov.extension`` has and explains them."""
        system, graph = self.system, self.values.graph
        count = len(system.eigenvalues)
        columns = np.column_stack([system.coefficients / walk.reach[:, None], walk.pull])
        product = self.values @ columns
        sums = reached = product.column([count])
        if walk.indefinite:
            rest = np.maximum(1 / system.eigenvalues - 1, 0.0)[None]
            sums = sums + self._own(np.asarray(walk.loop)) * rest
        zero = graph.constant(0.0, sums.dtype)
        means = product.column(range(count)) / sums
        functions = (sums <= zero).node("Where", zero, means, dtype=sums.dtype)
        return self._with_negative(functions, (reached > zero).cast(sums.dtype))

    def _own(self, loop: Array) -> Value:
        """What counts as the affinity of x with itself, a column."""
        axis = self.values.graph.constant([1], np.int64)
        largest = self.values.node("ReduceMax", axis, keepdims=1)
        loops = largest.graph.constant(loop[:, None], largest.dtype)
        return largest * loops.node("Gather", self.values.row_places(), axis=0)

    def _with_negative(self, functions: Value, reached: Value) -> Value:
        """Functions of negative eigenvalues have the value of the nearest center."""
        negative = self.system.eigenvalues < 0
        if not negative.any():
            return functions
        graph = functions.graph
        at_centers = graph.constant(self.system.functions, functions.dtype)
        nearest = at_centers.node("Gather", self.near.row_places(), axis=0) * reached
        which = graph.constant(negative[None], np.bool_)
        return which.node("Where", nearest, functions, dtype=functions.dtype)

    def nearest(self, points: Array, which: Value) -> Value:
        """Of some rows, where the nearest of these points is."""
        if points is self.system.centers:
            return self.near.node("Compress", which, axis=0).row_places()
        rows = self.x.node("Compress", which, axis=0)
        scale = self.system.kernel.scale
        return negated_squares(rows, self.features, points, scale, smooth=False).row_places()

    def residuals(self) -> Value:
        """Squared distances from the principal subspace, as ``FeatureSpace.residuals``."""
        space = FeatureSpace.of(self.system)
        count = space.axes.shape[1]
        product = self.values @ np.column_stack([space.axes, space.shares])
        Z = product.column(range(count)) - space.offsets
        mean = product.column([count]) * 2.0
        left = -(mean + (Z * Z).row_sums()) + (space.kernel.kappa + space.mean)
        zero = left.graph.constant(0.0, left.dtype)
        return left.node("Max", zero).column(0)

"""Evaluate eigenfunctions at new points in a graph, like ``EigenSystem.extend``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.gram import Centers
from ..spectral import EigenSystem, FeatureSpace, FittedMarkov
from .graph import Value
from .kernel_values import Features, kernel_values, mask_neighbors, negated_squares

Array = NDArray[np.floating]

# Largest relative error of a column for which kernel values and sums stay in float32: a fifth
# of the documented accuracy of 1e-5.
_SINGLE = 2e-6
_MAX_ROWS = 1000  # a sample of the centers suffices to measure the error


def arithmetic(system: EigenSystem, dtype: Any) -> np.dtype[Any]:
    """Return float32 if ``extend`` loses no accuracy with it, else float64."""
    single, double = np.dtype(np.float32), np.dtype(np.float64)
    if not system.kernel.smooth or system.graph is not None or system.arithmetic(dtype) == double:
        return double
    return single if _single_error(system) < _SINGLE else double


def _single_error(system: EigenSystem) -> float:
    """Return the largest float32 error near the centers, relative to the size of each function."""
    offset = 0.3 * system.kernel.scale / np.sqrt(system.centers.shape[1])
    rows = (system.centers[:: len(system.centers) // _MAX_ROWS + 1] + offset).astype(np.float32)
    expected = system.extend(rows.astype(np.float64))
    error = np.abs(system.extend(rows) - expected).max(axis=0)
    size = np.abs(expected).max(axis=0)
    return float((error / np.where(size > 0, size, 1.0)).max())


@dataclass(frozen=True, eq=False)
class Extension:
    """Kernel values k(x, C) of an eigensystem, and the quantities derived from them.

    ``near`` contains the negated squared distances from which ``values`` are computed.
    """

    system: EigenSystem
    x: Value
    features: Features
    near: Value
    values: Value

    @classmethod
    def of(cls, system: EigenSystem, x: Value, features: Features) -> Extension:
        """Add the kernel values at ``x`` to the graph of ``x``."""
        kernel, graph = system.kernel, system.graph
        smooth = kernel.smooth and graph is None
        centers = Centers.prepare(system.centers, kernel.scale, np.float64, system.subspace)
        near = negated_squares(x, features, centers, smooth=smooth)
        values = kernel_values(kernel, near)
        if graph is not None:
            values = mask_neighbors(values, near, graph)
        return cls(system, x, features, near, values)

    def functions(self) -> Value:
        """Return the eigenfunctions, one per column."""
        if isinstance(self.system.operator, FittedMarkov):
            return self._walk_means(self.system.operator)
        return self._kernel_sums(self.system.operator)

    def _kernel_sums(self, operator: Any) -> Value:
        """Return k(x, C) B + constant, for kernel PCA."""
        system = self.system
        extension = operator.extension(system.coefficients, system.eigenvalues, np.float64)
        zero = np.zeros((1, len(system.centers)))
        constant = extension(zero, zero[:, :0], system.centers)
        return self.values @ operator.columns(system.coefficients) + constant

    def _walk_means(self, walk: FittedMarkov) -> Value:
        """Return means over the next step of a walk, as derived in ``FittedMarkov.extension``."""
        system, graph = self.system, self.values.graph
        count = len(system.eigenvalues)
        columns = np.column_stack([system.coefficients / walk.reach[:, None], walk.pull])
        product = self.values @ columns
        sums = reached = product.column([count])
        if walk.indefinite:
            rest = np.maximum(1 / system.eigenvalues - 1, 0.0)[None]
            sums = sums + self._self_affinity(np.asarray(walk.loop)) * rest
        zero = graph.constant(0.0, sums.dtype)
        means = product.column(range(count)) / sums
        functions = (sums <= zero).node("Where", zero, means, dtype=sums.dtype)
        return self._nearest_where_negative(functions, (reached > zero).cast(sums.dtype))

    def _self_affinity(self, loop: Array) -> Value:
        """Return the affinity of x to itself, as a column."""
        largest = self.values.row_max(keepdims=1)
        loops = largest.graph.constant(loop[:, None], largest.dtype)
        return largest * loops.node("Gather", self.values.row_argmax(), axis=0)

    def _nearest_where_negative(self, functions: Value, reached: Value) -> Value:
        """Replace functions with negative eigenvalues by their values at the nearest center."""
        negative = self.system.eigenvalues < 0
        if not negative.any():
            return functions
        graph = functions.graph
        at_centers = graph.constant(self.system.functions, functions.dtype)
        nearest = at_centers.node("Gather", self.near.row_argmax(), axis=0) * reached
        columns = graph.constant(negative[None], np.bool_)
        return columns.node("Where", nearest, functions, dtype=functions.dtype)

    def nearest(self, points: Array, mask: Value) -> Value:
        """Return the index of the nearest point for each row selected by the mask."""
        if points is self.system.centers:
            return self.near.node("Compress", mask, axis=0).row_argmax()
        rows = self.x.node("Compress", mask, axis=0)
        centers = Centers.prepare(points, self.system.kernel.scale, np.float64)
        return negated_squares(rows, self.features, centers, smooth=False).row_argmax()

    def residuals(self) -> Value:
        """Return squared distances from the principal subspace, like ``FeatureSpace.residuals``."""
        space = FeatureSpace.of(self.system)
        count = space.axes.shape[1]
        product = self.values @ np.column_stack([space.axes, space.shares])
        Z = product.column(range(count)) - space.offsets
        mean = product.column([count]) * 2.0
        residuals = -(mean + (Z * Z).row_sums()) + (space.kernel.kappa + space.mean)
        zero = residuals.graph.constant(0.0, residuals.dtype)
        return residuals.node("Max", zero).column(0)

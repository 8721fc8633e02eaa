"""Compute k(x, C) in a graph accurately, with no tensor larger than n x m.

Features are measured relative to the midpoint of the centers, so that shifting the data loses no
accuracy. -||x - c||^2 = 2 <x, c> - ||c||^2 - ||x||^2 still cancels for points that are closer to
each other than to the midpoint. Where this matters, x and c are split on a grid into a coarse and a
fine part, x = a + b. Products of coarse parts are integer multiples of the squared grid spacing,
which are summed without rounding, and the remaining terms are small.

If the centers lie in a subspace, c and x are replaced by their coordinates in it, which have the
same inner products. If x and c are also split, the distance of x from the subspace becomes an
additional coordinate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.gram import Centers
from ..kernels import Gaussian, Laplacian, RadialKernel
from ..spectral.neighbours import SLACK, NeighbourGraph
from .graph import Value

Array = NDArray[np.floating]

# Documented accuracy of the outputs, which limits the rounding errors of a product.
_PROMISED = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-10}
_SHARE = 1 / 40


@dataclass(frozen=True, eq=False)
class Features:
    """The effect of the scalers before the model: (x - ``shift``) / ``factor`` per feature."""

    shift: Array | float = 0.0
    factor: Array | float = 1.0

    def after(self, first: Features) -> Features:
        """Return the composition that applies ``first`` and then this one."""
        return Features(first.shift + first.factor * self.shift, first.factor * self.factor)


def check_kernel(kernel: RadialKernel) -> None:
    """Raise an error for kernels whose profile cannot be expressed as a formula."""
    if not isinstance(kernel, Gaussian | Laplacian):
        raise TypeError(
            "to_onnx supports only Gaussian and Laplacian kernels, but the model uses "
            f"{kernel!r}, whose profile is Python code; fit the model with one of those kernels."
        )


def negated_squares(x: Value, features: Features, centers: Centers, *, smooth: bool) -> Value:
    """Return -||x - c||^2 / scale^2 for unscaled rows x and centers prepared in float64."""
    relative, rows = _relative_to_origin(x, features, centers)
    c = x.graph.constant(rows, x.dtype)
    axes = None if centers.axes is None else x.graph.constant(centers.axes, x.dtype)
    inside = relative if axes is None else relative @ axes
    if smooth and _rounding(rows) < _SHARE * _PROMISED[x.dtype]:
        return _product(inside, _squares(relative), c, _squares(c))
    if axes is not None:
        inside = inside + _residual(relative, inside, axes) * _last(rows.shape[1])
    near = _split_product(inside, c, _grid(rows), 0.0 if smooth else _rounding_left(rows))
    return near if smooth else near.node("Min", x.graph.constant(0.0, x.dtype))


def _relative_to_origin(x: Value, features: Features, centers: Centers) -> tuple[Value, Array]:
    """Return rows and centers relative to one origin, in units of the bandwidth.

    If the centers lie in a subspace, they are replaced by their coordinates in it, followed by 0.
    """
    # The origin is rounded to the dtype, so that differences from it lose no digits.
    origin = (features.shift + features.factor * centers.origin).astype(x.dtype)
    moved = (origin.astype(np.float64) - features.shift) / features.factor - centers.origin
    moved /= centers.scale
    relative = _clip((x - origin) / (features.factor * centers.scale), len(origin))
    if centers.axes is None:
        return relative, (centers.rows - moved).astype(x.dtype)
    return relative + moved, centers.rows.astype(x.dtype)


def _last(n_columns: int) -> Array:
    """Return a row of zeros that ends in 1."""
    return np.eye(1, n_columns, n_columns - 1)


def _residual(x: Value, inside: Value, axes: Value) -> Value:
    """Return the distance of x from its projection, without cancellation of squared norms."""
    return _squares(x - inside.node("Gemm", axes, transB=1)).node("Sqrt")


def _clip(x: Value, n_features: int) -> Value:
    """Clip coordinates whose squares would overflow; such points are far from all centers."""
    largest = math.sqrt(float(np.finfo(x.dtype).max) / n_features) / 8
    low, high = (x.graph.constant(limit, x.dtype) for limit in (-largest, largest))
    return x.node("Clip", low, high)


def _rounding(rows: Array) -> float:
    squares = np.einsum("ij,ij->i", rows, rows)
    return float(np.finfo(rows.dtype).eps * squares.max())


def _squares(x: Value) -> Value:
    return (x * x).row_sums()


def _product(x: Value, x_squares: Value, c: Value, c_squares: Value, *rest: Value) -> Value:
    """Return 2 <x, c> - x_squares - c_squares + rest, one column per center."""
    # One product [x, x_squares, 1] [2 c, -1, -c_squares]', because each separate addition of an
    # n x m tensor would take as long as the product itself.
    left = _with_column(x.node("Concat", x_squares, axis=1), 1.0)
    right = _with_column(c * 2.0, -1.0).node("Concat", -c_squares, axis=1)
    return left.node("Gemm", right, *rest, transB=1)


def _with_column(x: Value, value: float) -> Value:
    """Append a constant column."""
    pads = x.graph.constant([0, 0, 0, 1], np.int64)
    return x.node("Pad", pads, x.graph.constant(value, x.dtype))


def _grid(rows: Array) -> float:
    """Return the grid spacing, a power of two that avoids rounding in sums for |x| <= 2 max |c|."""
    # ||a_x||^2 + ||a_c||^2 + 2 |<a_x, a_c>| <= 9 d max|c|^2, in units of grid^2 below 2^digits
    largest = float(np.abs(rows).max()) or 1.0
    digits = np.finfo(rows.dtype).nmant + 1
    return 2.0 ** math.ceil(math.log2(3 * largest * math.sqrt(rows.shape[1] / 2**digits)))


def _split_product(x: Value, c: Value, grid: float, offset: float) -> Value:
    """Return ``offset`` minus squared distances, with exact coarse products plus small terms."""
    (a, b), (p, q) = _split(x, grid), _split(c, grid)
    coarse = _product(a, _squares(a), p, _squares(p))
    # 2 <x, c> - 2 <a, p> = 2 (<a, q> + <b, c>) and ||x||^2 - ||a||^2 = <b, x + a>
    parts, others = a.node("Concat", b, axis=1), q.node("Concat", c, axis=1)
    x_squares, c_squares = (b * (x + a)).row_sums(), (q * (c + p)).row_sums() - offset
    return _product(parts, x_squares, others, c_squares, coarse)


def _split(x: Value, grid: float) -> tuple[Value, Value]:
    coarse = (x / grid).node("Round") * grid
    return coarse, x - coarse


def _rounding_left(rows: Array) -> float:
    """Return the rounding error of squared distances; subtracting it gives 0 for equal points."""
    # There are about 4 d products of a coarse and a fine part.
    eps = float(np.finfo(rows.dtype).eps)
    return 4 * eps * _grid(rows) * rows.shape[1] * float(np.abs(rows).max())


def kernel_values(kernel: RadialKernel, near: Value) -> Value:
    """Return k(x, C) from negated squared distances."""
    if isinstance(kernel, Gaussian):
        return near.node("Exp")
    return (-(-near).node("Sqrt")).node("Exp")


def mask_neighbors(values: Value, near: Value, graph: NeighbourGraph) -> Value:
    """Return kernel values where ||x - c_j|| <= max(r(x), r_j), else 0."""
    # The result is the same as that of NeighbourGraph.rows.
    least: Any = -((graph.reach / graph.kernel.scale) ** 2)[None]
    if graph.nearest is not None:
        count = near.graph.constant([graph.nearest], np.int64)
        own = near.node("TopK", count, axis=1).column([graph.nearest - 1])
        least = own.node("Min", near.graph.constant(least, near.dtype))
    least = near.graph.constant(least, near.dtype)
    least = least + least * (SLACK**2 - 1)  # onnxruntime removes factors as close to 1 as SLACK**2
    zero = near.graph.constant(0.0, values.dtype)
    return (near < least).node("Where", zero, values, dtype=values.dtype)

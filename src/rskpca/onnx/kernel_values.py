"""k(x, C) in a graph, with the digits that the kernel needs and nothing larger than n x m.

Features are taken about the middle of the centers, so that a shift of the data costs nothing.
-||x - c||^2 = 2 <x, c> - ||c||^2 - ||x||^2 still cancels where points are closer to each other
than to that middle. Where this matters x and c are cut in two on a grid, x = a + b: products
of the coarse parts are whole multiples of the square of the grid, which the dtype adds without
rounding, and what is left is small.
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

# A product may be off by this share of what is promised: 1e-5 in float32, 1e-10 in float64.
_PROMISED = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-10}
_SHARE = 1 / 40


@dataclass(frozen=True, eq=False)
class Features:
    """What a scaler does before the model: (x - ``shift``) / ``factor``, feature by feature."""

    shift: Array | float = 0.0
    factor: Array | float = 1.0

    def after(self, first: Features) -> Features:
        """Both as one."""
        return Features(first.shift + first.factor * self.shift, first.factor * self.factor)


def refuse_unknown(kernel: RadialKernel) -> None:
    """An error for profiles that have no formula."""
    if not isinstance(kernel, Gaussian | Laplacian):
        raise TypeError(
            f"to_onnx writes the formulas of Gaussian and Laplacian kernels, but the model has "
            f"{kernel!r}, whose profile is Python code; fit it with one of those two."
        )


def negated_squares(x: Value, features: Features, C: Array, scale: float, *, smooth: bool) -> Value:
    """Minus squared distances in bandwidths, from raw rows to the centers of the model."""
    C = C.astype(np.float64)
    middle = Centers.prepare(C, scale, np.float64).origin
    # An origin that the dtype holds: a difference from it has all of its digits.
    origin = (features.shift + features.factor * middle).astype(x.dtype)
    moved = C + (features.shift - origin.astype(np.float64)) / features.factor
    rows = (moved / scale).astype(x.dtype)
    about = _held((x - origin) / (features.factor * scale), len(origin))
    c = x.graph.constant(rows, x.dtype)
    if smooth and _rounding(rows) < _SHARE * _PROMISED[x.dtype]:
        return _product(about, _squares(about), c, _squares(c))
    near = _cut_product(about, c, _grid(rows), 0.0 if smooth else _left(rows))
    return near if smooth else near.node("Min", x.graph.constant(0.0, x.dtype))


def _held(x: Value, n_features: int) -> Value:
    """Far points a little nearer, where their squares would overflow; no center reaches either."""
    most = math.sqrt(float(np.finfo(x.dtype).max) / n_features) / 8
    low, high = (x.graph.constant(limit, x.dtype) for limit in (-most, most))
    return x.node("Clip", low, high)


def _rounding(rows: Array) -> float:
    squares = np.einsum("ij,ij->i", rows, rows)
    return float(np.finfo(rows.dtype).eps * squares.max())


def _squares(x: Value) -> Value:
    return (x * x).row_sums()


def _product(x: Value, own: Value, c: Value, theirs: Value, *rest: Value) -> Value:
    """2 <x, c> - ``own`` - ``theirs``, a column a center, added to the rest."""
    # [x, own, 1] times [2 c, -1, -theirs]: every further pass over n x m takes as long as this.
    left = _with_column(x.node("Concat", own, axis=1), 1.0)
    right = _with_column(c * 2.0, -1.0).node("Concat", -theirs, axis=1)
    return left.node("Gemm", right, *rest, transB=1)


def _with_column(x: Value, value: float) -> Value:
    """One column more, of a single value."""
    places = x.graph.constant([0, 0, 0, 1], np.int64)
    return x.node("Pad", places, x.graph.constant(value, x.dtype))


def _grid(rows: Array) -> float:
    """The power of two on which squared distances of |x| <= 2 max |c| add without rounding."""
    # ||a_x||^2 + ||a_c||^2 + 2 |<a_x, a_c>| <= 9 d max|c|^2, in units of grid^2 below 2^digits
    largest = float(np.abs(rows).max()) or 1.0
    digits = np.finfo(rows.dtype).nmant + 1
    return 2.0 ** math.ceil(math.log2(3 * largest * math.sqrt(rows.shape[1] / 2**digits)))


def _cut_product(x: Value, c: Value, grid: float, least: float) -> Value:
    """``least`` and minus the squared distances: of the coarse parts, exact, and what is left."""
    (a, b), (p, q) = _cut(x, grid), _cut(c, grid)
    coarse = _product(a, _squares(a), p, _squares(p))
    # 2 <x, c> - 2 <a, p> = 2 (<a, q> + <b, c>) and ||x||^2 - ||a||^2 = <b, x + a>
    parts, others = a.node("Concat", b, axis=1), q.node("Concat", c, axis=1)
    own, theirs = (b * (x + a)).row_sums(), (q * (c + p)).row_sums() - least
    return _product(parts, own, others, theirs, coarse)


def _cut(x: Value, grid: float) -> tuple[Value, Value]:
    coarse = (x / grid).node("Round") * grid
    return coarse, x - coarse


def _left(rows: Array) -> float:
    """The rounding of squared distances. Points closer than that are equal: it is taken off."""
    # About 4 d products of a coarse and a fine part.
    eps = float(np.finfo(rows.dtype).eps)
    return 4 * eps * _grid(rows) * rows.shape[1] * float(np.abs(rows).max())


def kernel_values(kernel: RadialKernel, near: Value) -> Value:
    """k(x, C) from minus the squared distances."""
    if isinstance(kernel, Gaussian):
        return near.node("Exp")
    return (-(-near).node("Sqrt")).node("Exp")


def of_neighbours(values: Value, near: Value, graph: NeighbourGraph) -> Value:
    """Kernel values where ||x - c_j|| <= max(r(x), r_j), else zero: as ``NeighbourGraph.rows``."""
    least: Any = -((graph.reach / graph.kernel.scale) ** 2)[None]
    if graph.nearest is not None:
        count = near.graph.constant([graph.nearest], np.int64)
        own = near.node("TopK", count, axis=1).column([graph.nearest - 1])
        least = own.node("Min", near.graph.constant(least, near.dtype))
    least = near.graph.constant(least, near.dtype)
    least = least + least * (SLACK**2 - 1)  # onnxruntime takes a factor of SLACK**2 for 1
    zero = near.graph.constant(0.0, values.dtype)
    return (near < least).node("Where", zero, values, dtype=values.dtype)

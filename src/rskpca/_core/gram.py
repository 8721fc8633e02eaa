"""Kernel blocks and products, never n x n.

``k(X, C)`` is made a block of rows at a time: inner products by BLAS, squared distances
from them (from differences where they cancel), the kernel in place, and then whatever the
caller does with the block.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .parallel import slices, threads_for, workers

Array = NDArray[np.floating]

_BLOCK_ELEMENTS = 2**18
_SPAN_ELEMENTS = 2**25
_MIDDLE_FROM = 32
_SPAN_ROWS = 256
_ROW, _VALUE, _FEATURE, _SUM = 4e-8, 1.5e-9, 5e-11, 5e-11  # seconds that each takes, or so


class Radial(Protocol):
    """What this module needs to know of a kernel.

    ``evaluate`` takes ``sign`` times squared distances in units of the bandwidth, which it
    may overwrite. ``smooth`` says that the kernel is smooth in the squared distance at zero.
    """

    sign: float
    smooth: bool

    @property
    def scale(self) -> float: ...

    def evaluate(self, scaled: Array) -> Array: ...


@dataclass(frozen=True)
class Centers:
    """Centers about their middle, in bandwidths: inner products keep their digits.

    Prepare them once and pass them in place of the points to evaluate many sets of rows.
    """

    origin: NDArray[np.float64]
    scale: float
    rows: Array
    squared_norms: Array

    @classmethod
    def prepare(cls, C: Array, scale: float, dtype: Any) -> Centers:
        some = C[:: len(C) // _MIDDLE_FROM + 1]  # near the middle will do
        origin = np.sort(some.astype(np.float64), axis=0)[len(some) // 2]
        rows, norms = _standardised(C, origin, scale, dtype)
        if not np.isfinite(norms).all():
            raise ValueError(
                f"the data are spread so wide, for a bandwidth of {scale:g}, that their squares "
                f"overflow {np.dtype(dtype)}; a wider kernel does not."
            )
        return cls(origin, scale, rows, norms)

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.shape[0], self.rows.shape[1]


def _standardised(X: Array, origin: Array, scale: float, dtype: Any) -> tuple[Array, Array]:
    """Rows about the origin in bandwidths, and their squared norms."""
    from .compiled import scale_rows

    rows, squared_norms = np.empty(X.shape, dtype), np.empty(len(X), dtype)
    scale_rows(X, origin, 1 / scale, rows, squared_norms)
    return rows, squared_norms


def scaled_distances(X: Array, centers: Centers, kernel: Radial, out: Array) -> Array:
    """``kernel.sign`` times squared distances in bandwidths, as accurate as the kernel needs.

    ||x||^2 + ||c||^2 - 2 <x, c> has an error of some roundings of its first two terms. A
    distance below a tenth of those is taken from differences, except that a kernel that is
    smooth at zero does not mind while they are below 16.
    """
    from .compiled import compute_distances

    C = centers.rows
    X = np.require(X, requirements=["C", "W"])  # so that few types are compiled
    near, large, sign = np.array([0.1, 16 if kernel.smooth else 0, kernel.sign], dtype=C.dtype)
    rows, norms = np.empty(X.shape, C.dtype), np.empty(len(X), C.dtype)
    limits = near, large, sign
    compute_distances(
        X, centers.origin, 1 / centers.scale, C, centers.squared_norms, *limits, rows, norms, out
    )
    return out


def multiplier(columns: Array) -> Callable[[Array], Array]:
    """The function ``block -> block @ columns``, which BLAS is slow at for 3 to 6 columns."""
    from .compiled import multiply_few

    if not 3 <= columns.shape[1] <= 6:
        return lambda block: block @ columns
    rows = np.ascontiguousarray(columns.T)

    def multiply(block: Array) -> Array:
        out = np.empty((len(block), len(rows)), dtype=block.dtype)
        multiply_few(block, rows, out)
        return out

    return multiply


def product(
    kernel: Radial,
    X: Array,
    C: Array | Centers,
    function: Callable[[Array], Array],
    n_columns: int,
    *,
    dtype: Any = np.float64,
    n_threads: int | None = None,
) -> Array:
    """``function(k(X, C))`` a block of rows at a time, in threads; ``n_columns`` a row."""

    def of_block(block: Array, rows: slice) -> Array:
        return function(block)

    return row_product(kernel, X, C, of_block, n_columns, dtype=dtype, n_threads=n_threads)


def row_product(
    kernel: Radial,
    X: Array,
    C: Array | Centers,
    function: Callable[[Array, slice], Array],
    n_columns: int,
    *,
    dtype: Any = np.float64,
    n_threads: int | None = None,
) -> Array:
    """The same for a function of the block and of the slice of X that it belongs to."""
    blocks = Blocks(kernel, X, C, dtype)
    out = np.empty((len(X), n_columns), dtype=dtype)

    def work(rows: slice) -> None:
        out[rows] = function(blocks[rows], rows)

    with workers(n_threads or threads_for(blocks.seconds)) as run:
        run(work, slices(0, len(X), blocks.n_rows))
    return out


class Blocks:
    """Blocks of rows of k(X, C), each thread in memory of its own: new pages are slow.

    To be asked for within ``workers`` or ``undivided``: compiled products are those of SciPy's
    BLAS, whose threads and those of NumPy's would keep each other from working.
    """

    def __init__(self, kernel: Radial, X: Array, C: Array | Centers, dtype: Any) -> None:
        self.kernel, self.X = kernel, X
        self.centers = C if isinstance(C, Centers) else Centers.prepare(C, kernel.scale, dtype)
        width = max(*C.shape, 1)  # a block, and its rows of X, are read more than once
        fewest = np.clip(C.shape[1] // 4, 16, 128)  # all centers are read for each block
        self.n_rows = min(len(X), int(np.clip(_BLOCK_ELEMENTS // width, fewest, 1024)))
        self._own = threading.local()

    @property
    def seconds(self) -> float:
        """About what all blocks take in one thread."""
        m, d = self.centers.rows.shape
        return (_ROW + (_VALUE + _FEATURE * d) * m) * len(self.X)

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> Array:
        """The block of at most ``n_rows`` rows, which the thread's next block overwrites."""
        X = self.X[rows]
        if not hasattr(self._own, "block"):
            self._own.block = np.empty(
                (self.n_rows, len(self.centers.rows)), self.centers.rows.dtype
            )
        block = self._own.block[: len(X)]
        return self.kernel.evaluate(scaled_distances(X, self.centers, self.kernel, block))


def moments(
    kernel: Radial,
    X: Array,
    weights: Array | None,
    C: Array,
    columns: Array | None = None,
    *,
    n_threads: int | None = None,
) -> tuple[Array, Array]:
    """Weighted sums over x of b(x) and of b(x) b(x)', with b(x) = k(x, C) @ columns, or k(x, C).

    Rows are summed in spans whose number depends on the sizes alone, and the spans in order:
    the same bits for any number of threads.
    """
    blocks = Blocks(kernel, X, C, np.float64)
    size = len(C) if columns is None else columns.shape[1]
    root = None if weights is None else np.sqrt(weights)
    n_spans = int(np.clip(_SPAN_ELEMENTS // size**2, 2, 8))  # each has sums of its own
    n_spans = max(min(n_spans, len(X) // _SPAN_ROWS), 1)

    def work(span: slice) -> tuple[Array, Array]:
        first, second = np.zeros(size), np.zeros((size, size))
        for rows in slices(span.start, span.stop, blocks.n_rows):
            B = blocks[rows] if columns is None else blocks[rows] @ columns
            if weights is None or root is None:
                first += B.sum(axis=0)
            else:
                first += weights[rows] @ B
                B *= root[rows, None]
            second += B.T @ B
        return first, second

    seconds = blocks.seconds + _SUM * len(X) * size**2
    with workers(n_threads or threads_for(seconds)) as run:
        parts = run(work, slices(0, len(X), -(-len(X) // n_spans)))
    return sum(first for first, _ in parts), sum(second for _, second in parts)


def gram(kernel: Radial, X: Array, C: Array, *, n_threads: int | None = None) -> Array:
    """The whole of ``k(X, C)``; for the m x m matrix of the centers."""
    return product(kernel, X, C, lambda block: block, len(C), n_threads=n_threads)

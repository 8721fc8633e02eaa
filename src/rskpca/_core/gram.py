"""Kernel matrices and their products, evaluated in batches of rows.

A batch of rows of ``k(X, C)`` is processed in four steps: compute inner products with BLAS, convert
them to squared distances (recomputed from differences where cancellation occurs), evaluate the
kernel in place, and apply the caller's function. Sparse rows and non-radial kernels use different
code for the first three steps. :class:`KernelRows` chooses the code once, before the first batch.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from . import sparse
from .parallel import single_threaded_blas, slices, threads_for, workers
from .subspace import Subspace

Array = NDArray[np.floating]
Block = Callable[[Any, Array], Array]  # computes k(x, C) for a batch of rows, into a buffer

_BATCH_ELEMENTS = 2**18
# Rows of the largest batch for few rows, so that each thread gets some, and for many rows. Larger
# batches save calls, but the products of a batch in float32 are summed in float32.
_BATCH_ROWS, _BATCHES = (1024, 8192), 16
_SPAN_ELEMENTS = 2**25
_SPAN_ROWS, _SPANS = 256, 8
_MIDDLE_SAMPLE = 32
# Rough times in seconds: per row, per kernel value, per value and feature, per term of a moment.
_ROW, _VALUE, _FEATURE, _SUM = 4e-8, 1.5e-9, 5e-11, 5e-11


class Radial(Protocol):
    """Kernel interface required by this module.

    The argument of ``evaluate`` is ``sign`` times squared distances in units of the bandwidth; it
    may be overwritten. ``smooth`` is True if the kernel is a smooth function of the squared
    distance at zero.
    """

    sign: float
    smooth: bool

    @property
    def scale(self) -> float: ...

    def evaluate(self, scaled: Array) -> Array: ...


class Valued(ABC):
    """Base class for kernels that are evaluated directly rather than computed from distances."""

    @abstractmethod
    def prepare(self, C: Any) -> Callable[[Any], Array]:
        """Return a function that computes k(X, C) for a batch of rows."""


class Prepared(ABC):
    """Base class for centers that are prepared for computing kernel values.

    To evaluate many sets of rows, prepare the centers once and pass them instead of the points.
    """

    dtype: Any  # dtype of the kernel values

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """The number of centers and the number of features."""

    @property
    def products(self) -> int:
        """The number of multiplications per row needed to compute the kernel at all centers."""
        return self.shape[0] * self.shape[1]

    @abstractmethod
    def block(self, kernel: Any, X: Any) -> Block:
        """Return a function that computes kernel values for rows of the same type as X."""


def prepare(
    kernel: Any, C: Any, dtype: Any, subspace: Subspace | None = None, *, rough: bool = False
) -> Prepared:
    """Return the centers in the form that makes kernel values cheapest to compute.

    If ``rough`` is True, dense points of any dtype are projected onto a subspace in float32.
    """
    if isinstance(kernel, Valued):
        return ValuedCenters(C, kernel.prepare(C))
    if sparse.is_sparse(C):
        return SparseCenters(C, sparse.SquaredDistances(C, sparse.safe_norms(kernel)))
    return Centers.prepare(C, kernel.scale, dtype, subspace, rough=rough)


@dataclass(frozen=True)
class Centers(Prepared):
    """Centers relative to their middle, in units of the bandwidth, for accurate inner products.

    If the centers lie in a subspace, ``rows`` contains their coordinates in it, followed by 0, and
    ``axes`` contains its axes, followed by a column of zeros. For points outside the subspace, the
    distance from it replaces the last 0, so that squared distances have the usual form. float32
    points are projected in float32 even if kernel values are float64: rounding then moves a point
    by a relative distance of 1e-7, and its kernel values are still those of a point. If ``rough``
    is True, this applies to dense points of any dtype.
    """

    origin: Array
    scale: float
    rows: Array
    squared_norms: Array
    points: Array
    axes: Array | None = None
    single_axes: Array | None = None
    rough: bool = False

    @classmethod
    def prepare(
        cls,
        C: Array,
        scale: float,
        dtype: Any,
        subspace: Subspace | None = None,
        *,
        rough: bool = False,
    ) -> Centers:
        """Shift and scale the centers, and project them if they lie in a subspace."""
        axes, single_axes, points = None, None, C
        if subspace is not None:
            with single_threaded_blas(C.size):
                C, origin = subspace.coordinates(C.astype(np.float64)), subspace.origin
            C, axes = (np.pad(values, [(0, 0), (0, 1)]) for values in (C, subspace.axes))
            rows, norms = _standardize(C, np.zeros(C.shape[1]), scale, dtype)
            axes = axes.astype(dtype)
            single_axes = axes.astype(np.float32, copy=False)
        else:
            some = C[:: len(C) // _MIDDLE_SAMPLE + 1]  # an approximate middle suffices
            origin = np.sort(some.astype(np.float64, order="C"), axis=0)[len(some) // 2]
            rows, norms = _standardize(C, origin, scale, dtype)
        if not np.isfinite(norms).all():
            raise ValueError(
                f"The squared distances in units of the bandwidth {scale:g} overflow "
                f"{np.dtype(dtype)}. Rescale the data, or use a larger bandwidth (a smaller gamma)."
            )
        return cls(origin, scale, rows, norms, points, axes, single_axes, rough)

    @property
    def dtype(self) -> Any:
        """The dtype of the kernel values."""
        return self.rows.dtype

    @property
    def shape(self) -> tuple[int, int]:
        """The number of centers and the number of features."""
        return len(self.rows), len(self.origin)

    @property
    def products(self) -> int:
        """The number of multiplications per row needed to compute all squared distances."""
        return self.rows.size + (0 if self.axes is None else self.axes.size)

    def block(self, kernel: Radial, X: Any) -> Block:
        """Return a function that computes kernel values for rows of the same type as X."""
        if not sparse.is_sparse(X):
            return lambda rows, out: kernel.evaluate(scaled_distances(rows, self, kernel, out))
        if self.axes is None:
            return _sparse_block(
                kernel, sparse.SquaredDistances(self.points, sparse.safe_norms(kernel))
            )
        return self._projected(kernel, self.axes[:, :-1].astype(np.float64))

    def _projected(self, kernel: Radial, axes: Array) -> Block:
        """Return a function for sparse rows that first projects them onto the subspace."""
        inside = replace(self, origin=np.zeros(self.rows.shape[1]), axes=None)

        def block(rows: Any, out: Array) -> Array:
            projected = sparse.subspace_coordinates(rows, self.origin, axes)
            return kernel.evaluate(scaled_distances(projected, inside, kernel, out))

        return block


@dataclass(frozen=True)
class SparseCenters(Prepared):
    """Prepared centers for a radial kernel, stored as a CSR array."""

    points: Any
    distances: sparse.SquaredDistances
    dtype = np.float64

    @property
    def shape(self) -> tuple[int, int]:
        """The number of centers and the number of features."""
        return self.points.shape

    def block(self, kernel: Radial, X: Any) -> Block:
        """Return a function that computes kernel values for rows of the same type as X."""
        return _sparse_block(kernel, self.distances)


@dataclass(frozen=True)
class ValuedCenters(Prepared):
    """Prepared centers for a kernel that is evaluated directly, not computed from distances."""

    points: Any
    values: Callable[[Any], Array]
    dtype = np.float64

    @property
    def shape(self) -> tuple[int, int]:
        """The number of centers and the number of features."""
        return self.points.shape

    def block(self, kernel: Any, X: Any) -> Block:
        """Return a function that computes kernel values for rows of the same type as X."""

        def block(rows: Any, out: Array) -> Array:
            out[...] = self.values(rows)  # a copy, because callers overwrite the values
            return out

        return block


def _sparse_block(kernel: Radial, distances: sparse.SquaredDistances) -> Block:
    factor = kernel.sign / kernel.scale**2

    def block(rows: Any, out: Array) -> Array:
        return kernel.evaluate(np.multiply(distances(rows), factor, out=out))

    return block


def _standardize(X: Array, origin: Array, scale: float, dtype: Any) -> tuple[Array, Array]:
    """Return (X - origin) / scale and the squared norms of its rows."""
    from .compiled import read_only, scale_rows

    rows, squared_norms = np.empty(X.shape, dtype), np.empty(len(X), dtype)
    scale_rows(read_only(X), origin, 1 / scale, rows, squared_norms)
    return rows, squared_norms


def scaled_distances(X: Array, centers: Centers, kernel: Radial, out: Array) -> Array:
    """Return ``kernel.sign`` times squared distances in units of the bandwidth.

    The rounding error of ||x||^2 + ||c||^2 - 2 <x, c> is proportional to the first two terms. A
    squared distance below a tenth of their sum is recomputed from differences. For a kernel that is
    smooth at zero, this is not necessary if the sum is below 16.
    """
    from .compiled import compute_distances, project_distances, read_only

    C = centers.rows
    X = read_only(X)
    near, large, sign = np.array([0.1, 16 if kernel.smooth else 0, kernel.sign], dtype=C.dtype)
    norms, limits = np.empty(len(X), C.dtype), (near, large, sign)
    shift = X, centers.origin, 1 / centers.scale
    if centers.axes is None or centers.single_axes is None:
        rows = np.empty(X.shape, C.dtype)
        compute_distances(*shift, C, centers.squared_norms, *limits, rows, norms, out)
        return out
    single = centers.rough or X.dtype != np.float64
    axes = centers.single_axes if single else centers.axes
    rows = np.empty(X.shape, axes.dtype)
    inside, projected = (np.empty((len(X), C.shape[1]), dtype) for dtype in (axes.dtype, C.dtype))
    project_distances(
        *shift, axes, C, centers.squared_norms, *limits, rows, norms, inside, projected, out
    )
    return out


def exp_in_place(values: Array) -> Array:
    """Replace values with their exponentials and return them; values must be at most 88."""
    if not values.flags.c_contiguous:
        return np.exp(values, out=values)
    from .compiled_exp import exp_in_place

    exp_in_place(values.reshape(-1))
    return values


def multiplier(columns: Array) -> Callable[[Array], Array]:
    """Return a function that computes ``values @ columns``, without BLAS for 3 to 6 columns.

    BLAS is slow for so few columns.
    """
    from .compiled import multiply_few

    if not 3 <= columns.shape[1] <= 6:
        return lambda values: values @ columns
    rows = np.ascontiguousarray(columns.T)

    def multiply(values: Array) -> Array:
        out = np.empty((len(values), len(rows)), dtype=values.dtype)
        multiply_few(values, rows, out)
        return out

    return multiply


def product(
    kernel: Any,
    X: Any,
    C: Any,
    function: Callable[[Array], Array],
    n_columns: int,
    *,
    dtype: Any = np.float64,
    n_threads: int | None = None,
) -> Array:
    """Apply a function to batches of k(X, C) in parallel, and return the stacked results.

    The function returns ``n_columns`` values per row.
    """

    def ignore_rows(values: Array, rows: slice) -> Array:
        return function(values)

    return row_product(kernel, X, C, ignore_rows, n_columns, dtype=dtype, n_threads=n_threads)


def row_product(
    kernel: Any,
    X: Any,
    C: Any,
    function: Callable[[Array, slice], Array],
    n_columns: int,
    *,
    dtype: Any = np.float64,
    n_threads: int | None = None,
) -> Array:
    """Return the same as :func:`product`, for a function that also takes the slice of the rows."""
    batches = KernelRows(kernel, X, C, dtype)
    out = np.empty((X.shape[0], n_columns), dtype=dtype)

    def work(rows: slice) -> None:
        out[rows] = function(batches[rows], rows)

    with workers(n_threads or threads_for(batches.seconds)) as run:
        run(work, slices(0, X.shape[0], batches.n_rows))
    return out


class KernelRows:
    """Rows of k(X, C), evaluated on demand into one buffer per thread.

    Use it inside ``workers`` or ``single_threaded_blas``, because compiled products use SciPy's
    BLAS, whose threads would compete with those of NumPy's BLAS.
    """

    def __init__(self, kernel: Any, X: Any, C: Any, dtype: Any) -> None:
        self.X = X
        self.centers: Prepared = C if isinstance(C, Prepared) else prepare(kernel, C, dtype)
        self._block = self.centers.block(kernel, X)
        n_centers, n_features = self.centers.shape
        if sparse.is_sparse(X):  # the number of features does not matter
            n_features = 1
        width = max(n_centers, n_features, 1)  # a batch and its rows of X should stay in the cache
        fewest = min(max(n_features // 4, 16), 128)  # all centers are read once per batch
        most = int(np.clip(-(-X.shape[0] // _BATCHES), *_BATCH_ROWS))
        if self.centers.dtype == np.float32:
            most = _BATCH_ROWS[0]
        self.n_rows = min(X.shape[0], max(min(_BATCH_ELEMENTS // width, most), fewest))
        self._memory = threading.local()

    @property
    def seconds(self) -> float:
        """The approximate time in seconds for all rows in one thread."""
        m, n_products = self.centers.shape[0], self.centers.products
        return (_ROW + _VALUE * m + _FEATURE * n_products) * self.X.shape[0]

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> Array:
        """Return up to ``n_rows`` rows, in a buffer that the thread's next call overwrites."""
        X = self.X[rows]
        if not hasattr(self._memory, "values"):
            self._memory.values = np.empty((self.n_rows, self.centers.shape[0]), self.centers.dtype)
        return self._block(X, self._memory.values[: X.shape[0]])


def moments(
    kernel: Any,
    X: Any,
    weights: Array | None,
    C: Any,
    columns: Array | None = None,
    *,
    n_threads: int | None = None,
) -> tuple[Array, Array]:
    """Return the weighted sums of b(x) and b(x) b(x)' over x, with b(x) = k(x, C) @ columns.

    ``columns`` must be upper triangular; if it is None, b(x) = k(x, C). The rows are divided into
    spans, whose number depends only on the array sizes, and the sums of the spans are added in
    order. The result is therefore bit-identical for any number of threads.
    """
    from .blas import add_gram, mirror, times_upper_triangular

    batches = KernelRows(kernel, X, C, np.float64)
    size = C.shape[0] if columns is None else columns.shape[1]
    root = None if weights is None else np.sqrt(weights)
    # Each span needs memory for its sums.
    n_spans = int(np.clip(_SPAN_ELEMENTS // size**2, 2, _SPANS))
    n_spans = max(min(n_spans, X.shape[0] // _SPAN_ROWS), 1)

    def work(span: slice) -> tuple[Array, Array]:
        first, second = np.zeros(size), np.zeros((size, size))
        for rows in slices(span.start, span.stop, batches.n_rows):
            B = batches[rows]
            if columns is not None:
                B = times_upper_triangular(B, columns)
            if weights is None or root is None:
                first += np.ones(len(B)) @ B  # in float64, and faster than B.sum(axis=0)
            else:
                first += weights[rows] @ B
                B *= root[rows, None]
            if B.dtype == np.float64:
                add_gram(B, second)
            else:
                second += B.T @ B
        return first, second

    seconds = batches.seconds + _SUM * X.shape[0] * size**2
    with workers(n_threads or threads_for(seconds)) as run:
        parts = run(work, slices(0, X.shape[0], -(-X.shape[0] // n_spans)))
    return sum(first for first, _ in parts), mirror(sum(second for _, second in parts))


def transposed_product(
    kernel: Any, X: Any, C: Any, columns: Array, *, n_threads: int | None = None
) -> Array:
    """Return ``k(X, C)' @ columns`` in float64, with the same bits for any number of threads."""
    batches = KernelRows(kernel, X, C, np.float64)

    def work(span: slice) -> Array:
        total = np.zeros((columns.shape[1], C.shape[0]))
        for rows in slices(span.start, span.stop, batches.n_rows):
            total += columns[rows].T @ batches[rows]
        return total

    n_spans = max(min(_SPANS, X.shape[0] // _SPAN_ROWS), 1)
    seconds = batches.seconds + _SUM * X.shape[0] * columns.shape[1] * C.shape[0]
    with workers(n_threads or threads_for(seconds)) as run:
        return np.asarray(sum(run(work, slices(0, X.shape[0], -(-X.shape[0] // n_spans)))).T)


def moments_seconds(n_rows: float, n_centers: Any, width: Any, projected: Any = 0) -> Any:
    """Return the approximate time of :func:`moments` in one thread, for ``width`` features.

    ``projected`` is the number of products per row that project it onto a subspace.
    """
    per_center = _VALUE + _FEATURE * width + _SUM * n_centers
    return n_rows * (_ROW + _FEATURE * projected + n_centers * per_center)


def product_seconds(n_rows: float, n_centers: Any, n_features: int, n_columns: int) -> Any:
    """Return the approximate time of :func:`transposed_product` in one thread."""
    return n_rows * (_ROW + n_centers * (_VALUE + _FEATURE * n_features + _SUM * n_columns))


def gram(kernel: Any, X: Any, C: Any, *, n_threads: int | None = None) -> Array:
    """Return the full matrix ``k(X, C)``, typically the m x m Gram matrix of the centers."""
    return product(kernel, X, C, lambda values: values, C.shape[0], n_threads=n_threads)

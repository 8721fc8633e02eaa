"""Predict the time and memory of a fit on this machine from small timed fits."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator
from sklearn.base import clone

from .._core import eig, gram
from ..embedding import ReducedSetKernelPCA
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet
from ..spectral import Centered, solve
from ..spectral.eigensystem import STORED_CENTERS

Array = NDArray[np.floating]

PROBE_CENTERS = 2000  # size of the timed Lanczos problems
PROBE_DENSE = 600  # size of the timed LAPACK problem
_PROBE_ELEMENTS = 2**22  # 32 MB of float64, larger than the CPU caches, like real data

_WARM_UP = 16  # points in the problem that compiles the functions before the timing
_LONG = 0.2  # seconds; in longer calls, noise is negligible


class PassTime(NamedTuple):
    """Time for one pass over the rows, measured on a sample with ``n_centers`` centers."""

    overhead: float  # seconds, independent of the number of rows
    per_row: float  # seconds per row assigned to an existing center
    opening: float  # seconds spent creating all centers of the sample
    n_centers: int

    def seconds(self, n_samples: int, n_centers: float) -> float:
        """Predict the time for a pass over all rows, in seconds."""
        # A row that becomes a center was compared with all earlier centers: O(m^2) in total.
        growth = (n_centers / self.n_centers) ** 2
        return self.overhead + self.per_row * n_samples + self.opening * growth


def time_pass(sample: Array, kernel: RadialKernel, ell: float, n_samples: int) -> PassTime:
    """Time a pass over two rows, over the sample, and over the sample with repeated rows."""
    model = ReducedSetKernelPCA(kernel=kernel, ell=ell)
    n_repeated = int(np.clip(_PROBE_ELEMENTS // sample.shape[1], 1000, max(n_samples, 1000)))
    longer = np.concatenate([sample, np.resize(sample, (n_repeated, sample.shape[1]))])

    def cover(X: Array) -> ReducedSetKernelPCA:
        return clone(model).partial_fit(X)  # does not solve the eigenproblem

    # Compiles the functions. A part of the sample might have too few centers to reach all of them.
    n_centers = cover(sample).n_centers_
    overhead, short, long = (_fastest(partial(cover, X)) for X in (sample[:2], sample, longer))
    per_row = max(long - short, 0.0) / n_repeated
    opening = max(short - overhead - per_row * len(sample), 0.0)
    return PassTime(overhead, per_row, opening, n_centers)


class SolveTime:
    """Time for the eigenproblem, predicted from small problems that are timed when first needed."""

    def __init__(self, sample: Array, kernel: RadialKernel, n_components: int) -> None:
        self.sample, self.kernel, self.n_components = sample, kernel, n_components

    def seconds(self, n_centers: float) -> float:
        """Predict the time for m centers in seconds, using m^2 for Lanczos and m^3 for LAPACK."""
        if n_centers > STORED_CENTERS:
            return self._lanczos_without_matrix * n_centers**2
        if n_centers >= eig.LANCZOS_FROM_SIZE and self.n_components <= n_centers // 20:
            return self._lanczos * n_centers**2
        return self._lapack * n_centers**3

    @cached_property
    def _lapack(self) -> float:
        """Return the LAPACK time in seconds divided by m^3."""
        seconds = self._time_solve(PROBE_DENSE, PROBE_DENSE // 20 + 1)
        return seconds / PROBE_DENSE**3

    @cached_property
    def _lanczos(self) -> float:
        """Return the Lanczos time in seconds divided by m^2, with the matrix in memory."""
        n_components = min(self.n_components, PROBE_CENTERS // 20)
        return self._time_solve(PROBE_CENTERS, n_components) / PROBE_CENTERS**2

    @cached_property
    def _lanczos_without_matrix(self) -> float:
        """Return the Lanczos time in seconds divided by m^2, with the matrix recomputed."""
        points = self._points(PROBE_CENTERS)
        seconds = _fastest(lambda: gram.gram(self.kernel, points, points), 2)
        n_matrices = self._count_products(points) + 2  # two more for the row means
        return n_matrices * seconds / PROBE_CENTERS**2

    def _count_products(self, points: Array) -> int:
        """Count the matrix products that Lanczos requires."""
        matrix = gram.gram(self.kernel, points, points)
        matrix = Centered().fit(matrix, np.ones(len(points))).apply(matrix, points, points)
        calls = []

        def multiply(v: Array) -> Array:
            calls.append(1)
            return matrix @ v

        lazy = LinearOperator(matrix.shape, matvec=multiply, matmat=multiply, dtype=np.float64)
        eig.leading_eigenpairs(lazy, self.n_components)
        return len(calls)

    def _time_solve(self, size: int, n_components: int) -> float:
        points = ReducedSet(self._points(size), np.ones(size))
        few = ReducedSet(points.centers[:_WARM_UP], points.weights[:_WARM_UP])
        solve(Centered(), self.kernel, few, 1)  # compiles the functions
        return _fastest(lambda: solve(Centered(), self.kernel, points, n_components), 2)

    def _points(self, size: int) -> Array:
        return np.resize(self.sample, (size, self.sample.shape[1])).astype(np.float64)


def _fastest(call: Callable[[], Any], n_calls: int = 3) -> float:
    """Return the time of the fastest of several calls, in seconds; long calls are not repeated."""
    seconds: list[float] = []
    while len(seconds) < n_calls and sum(seconds) < _LONG:
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def bytes_needed(n_samples: int, n_features: int, n_centers: float) -> float:
    """Predict the peak memory of a fit in addition to the data, within a factor of two."""
    per_row = 56 * n_samples  # labels, weights and distances
    chunk = 4 * min(n_samples * n_features, 2**21)  # rows in single precision
    matrix = 8 * n_centers**2 if n_centers <= STORED_CENTERS else 0.0
    return 4e6 + per_row + chunk + max(48 * n_features * n_centers, matrix)

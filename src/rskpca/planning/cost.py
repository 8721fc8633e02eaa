"""Seconds and bytes of a fit on this machine, from fits of the sample."""

from __future__ import annotations

import time
from collections.abc import Callable
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

PROBE_CENTERS = 2000
_PROBE_DENSE = 600
_PROBE_ELEMENTS = 2**22  # beyond the caches, as the data are


class Pass(NamedTuple):
    """Seconds of the pass: once, for each row that joins, and for the centers of the sample."""

    once: float
    a_row: float
    opening: float
    n_centers: int

    def seconds(self, n_samples: int, n_centers: float) -> float:
        """A row that opens a center was compared with all before, so these cost m^2."""
        more = (n_centers / self.n_centers) ** 2
        return self.once + self.a_row * n_samples + self.opening * more


def time_pass(sample: Array, kernel: RadialKernel, ell: float, n_samples: int) -> Pass:
    """Time the pass over the sample, and over the sample with its rows again."""
    model = ReducedSetKernelPCA(kernel=kernel, ell=ell)
    n_again = int(np.clip(_PROBE_ELEMENTS // sample.shape[1], 1000, max(n_samples, 1000)))
    longer = np.concatenate([sample, np.resize(sample, (n_again, sample.shape[1]))])
    once, short, long = (_pass_seconds(model, X) for X in (sample[:2], sample, longer))
    a_row = max(long - short, 0.0) / n_again
    opening = max(short - once - a_row * len(sample), 0.0)
    return Pass(once, a_row, opening, clone(model).partial_fit(sample).n_centers_)


def _pass_seconds(model: ReducedSetKernelPCA, X: Array) -> float:
    return _fastest(lambda: clone(model).partial_fit(X))  # which solves nothing yet


def _fastest(call: Callable[[], Any], times: int = 3) -> float:
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


class SolveTimer:
    """Seconds of the eigenproblem: one of each kind is timed, at a small size, and scaled."""

    def __init__(self, sample: Array, kernel: RadialKernel, n_components: int) -> None:
        self.sample, self.kernel, self.n_components = sample, kernel, n_components
        self._timed: dict[str, float] = {}

    def seconds(self, n_centers: float) -> float:
        """m^2 for Lanczos, stored or not, m^3 for LAPACK."""
        kind = self._kind(n_centers)
        if kind not in self._timed:
            self._timed[kind] = getattr(self, f"_time_{kind}")()
        return self._timed[kind] * n_centers ** (3 if kind == "dense" else 2)

    def _kind(self, n_centers: float) -> str:
        if n_centers > STORED_CENTERS:
            return "products"
        small = n_centers < eig.LANCZOS_FROM_SIZE or self.n_components > n_centers // 20
        return "dense" if small else "stored"

    def _time_dense(self) -> float:
        return self._time_solve(_PROBE_DENSE, _PROBE_DENSE // 20 + 1) / _PROBE_DENSE**3

    def _time_stored(self) -> float:
        n_components = min(self.n_components, PROBE_CENTERS // 20)
        return self._time_solve(PROBE_CENTERS, n_components) / PROBE_CENTERS**2

    def _time_solve(self, size: int, n_components: int) -> float:
        points = ReducedSet(self._points(size), np.ones(size))
        return _fastest(lambda: solve(Centered(), self.kernel, points, n_components), 2)

    def _time_products(self) -> float:
        """Each block of Lanczos makes the kernel matrix anew, and two more for the means."""
        points = self._points(PROBE_CENTERS)
        seconds = _fastest(lambda: gram.gram(self.kernel, points, points), 2)
        return (self._n_products(points) + 2) * seconds / PROBE_CENTERS**2

    def _n_products(self, points: Array) -> int:
        matrix = gram.gram(self.kernel, points, points)
        matrix = Centered().fit(matrix, np.ones(len(points))).apply(matrix, points, points)
        calls = []

        def times(v: Array) -> Array:
            calls.append(1)
            return matrix @ v

        lazy = LinearOperator(matrix.shape, matvec=times, matmat=times, dtype=np.float64)
        eig.leading_eigenpairs(lazy, self.n_components)
        return len(calls)

    def _points(self, size: int) -> Array:
        return np.resize(self.sample, (size, self.sample.shape[1])).astype(np.float64)


def bytes_needed(n_samples: int, n_features: int, n_centers: float) -> float:
    """Peak of a fit, above the data, to within a factor of two.

    Labels, weights and distances of the rows; a block in single precision; and the centers
    or, where it is larger, their matrix.

    Parameters
    ----------
    n_samples, n_features : int
        Of the data.
    n_centers : float
        m.

    Returns
    -------
    float
        Bytes.
    """
    matrix = 8 * n_centers**2 if n_centers <= STORED_CENTERS else 0.0
    block = 4 * min(n_samples * n_features, 2**21)
    return 4e6 + 56 * n_samples + block + max(48 * n_features * n_centers, matrix)

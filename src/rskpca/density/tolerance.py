"""Compute the radius of a cover from ell, from a theorem's bound, or from an estimated error."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from .. import _validation as check
from .._format import percent
from ..kernels import RadialKernel
from ..pairs import FEWEST, FeaturePairs
from ..reduced_set import ReducedSet
from ..row_sample import SIZE, RowSample
from ._counting import cover_radius, extend_set, open_cover

Array = NDArray[np.floating]
Limit = Callable[[ReducedSet], float]

CONFIDENCE = 0.95
ERRORS = ("embedding", "operator", "mmd")

_COARSEST, _FIRST = 1.0, 2.0  # the smallest ell, and the first one that is tried
_STEP = 1.5  # largest ratio of two successive values of ell
# The search ends when the lower and upper bound on ell differ by at most the first factor, or by
# the second if no value of ell has reached the target error.
_FINE, _COARSE = 1.02, 1.2
_SOME_ROWS = 4096  # number of rows used to check whether the data compress
_MOST_KEPT = 0.6  # largest share of the rows that may become centers
_SMALLEST_ERROR = 1e-6  # relative to kappa, or to its square root for the MMD; well above rounding
_SMALLEST = 1e-9  # in bandwidths; for smaller radii, rounding errors dominate kernel differences


@dataclass(frozen=True)
class Goal:
    """The parameters that fix the radius: ``ell``, or ``tol`` for one of the errors."""

    ell: float | str
    tol: float | None
    error: str | None

    @classmethod
    def checked(cls, ell: object, tol: object, error: object) -> Goal:
        """Check the parameters of an estimator and return its goal."""
        if error is not None:
            check.one_of("error", error, ERRORS)
        auto = isinstance(ell, str) and ell == "auto"
        if error == "embedding" and not auto:
            raise ValueError(
                'error="embedding" is estimated from the data; set ell="auto" and tol, or use '
                'error="operator".'
            )
        if not auto:
            hint = 'Or use "auto" with tol.'
            ell = check.positive_number("ell", ell, infinite=True, hint=hint)
        if tol is None:
            if auto:
                raise ValueError(
                    'ell="auto" requires a target error; set tol, for example tol=0.05.'
                )
            return cls(ell, None, error)  # type: ignore[arg-type]
        wanted = check.positive_number("tol", tol)
        if not auto and ell != 4.0:
            raise ValueError(
                f"ell={ell!r} and tol={tol!r} were both given; tol determines ell, so omit ell."
            )
        return cls(ell, wanted, error)  # type: ignore[arg-type]

    def radius(
        self,
        kernel: RadialKernel,
        X: Array,
        weights: Array,
        sample: RowSample | None,
        coordinate_limit: Limit | None = None,
    ) -> float:
        """Return the radius of the cover; ``sample`` is the empty sample to which X is added."""
        # Inside an embedding, ``coordinate_limit`` returns the error limit of its coordinates.
        if self.tol is None:
            return cover_radius(kernel, float(self.ell), X, weights)
        if self.ell == "auto":
            return _Search(self, kernel, X, weights, sample, coordinate_limit).radius()
        if not isinstance(kernel, RadialKernel):
            raise ValueError(
                f'tol={self.tol!r} requires a radial kernel or ell="auto", got {kernel!r}.'
            )
        return radius_of_bound(kernel, self.tol, self.error)

    def measure(self, kernel: RadialKernel, coordinate_limit: Limit | None) -> Limit:
        """Return a function that estimates the error limit of a reduced set."""
        if self.error == "embedding" and coordinate_limit is None:
            raise ValueError(
                'error="embedding" requires a density inside ReducedSetKernelPCA with at most 100 '
                'components (n_components). Use error="operator", or omit error.'
            )
        if self.error in (None, "embedding") and coordinate_limit is not None:
            return coordinate_limit

        def limit(s: ReducedSet) -> float:
            assert s.sample is not None
            points = s.centers[s.sample.labels].astype(np.float64)
            pairs = FeaturePairs.of(kernel, s.sample, None, points, s.n_samples)
            if self.error == "mmd":
                return pairs.mmd(CONFIDENCE).limit
            return pairs.operator(CONFIDENCE, center=False).limit

        return limit


def radius_of_bound(kernel: RadialKernel, tol: float, error: str | None) -> float:
    """Return the largest radius at which the worst-case error is at most ``tol``."""
    # Theorem 5.1 bounds the discrepancy by sqrt(2 (kappa - k(radius))). The Hilbert-Schmidt error
    # is at most a constant times that, for plain and for centered operators.
    factor = 1.0 if error == "mmd" else kernel.centered_factor
    radii = kernel.scale * np.geomspace(_SMALLEST, 1e4, 8192)
    with np.errstate(over="ignore"):
        bounds = factor * np.sqrt(2 * (kernel.drop(radii) + _between(kernel, radii)))
    beyond = np.flatnonzero(~(bounds <= tol))
    if len(beyond) == 0:
        raise ValueError(
            f"tol={tol!r} is met by any choice of centers, because the error for this kernel never "
            f"exceeds {bounds[-1]:.3g}. Use a smaller tol."
        )
    if beyond[0] == 0:
        raise ValueError(
            f"tol={tol!r} cannot be guaranteed by a radius: the smallest guaranteed error is "
            f"{bounds[0]:.3g}, which requires a center for every distinct row. ell=np.inf keeps "
            "every row and has no error."
        )
    low, high = radii[beyond[0] - 1], radii[beyond[0]]
    if not kernel.monotone:
        return float(low)

    def beyond_tol(radius: float) -> float:
        return factor * math.sqrt(2 * float(kernel.drop(radius))) - tol

    root = brentq(beyond_tol, low, high, xtol=1e-12 * low, rtol=1e-12)
    return max(float(low), float(root) * (1 - 1e-9))


def _between(kernel: RadialKernel, radii: Array) -> Array:
    """Return how much the kernel can decrease between each radius and the next."""
    if kernel.monotone:
        return np.zeros(len(radii))
    slope = kernel.lipschitz_constant
    if slope is None:
        raise ValueError(
            f"tol requires a bound on how much {kernel!r} can decrease within a radius. Set "
            "monotone=True on the kernel if it is monotone, or set lipschitz. Otherwise use a "
            "number for ell."
        )
    return slope * radii * (radii[1] / radii[0] - 1)


class _Tried(NamedTuple):
    """A value of ell and its error limit, which is None if too many rows become centers."""

    ell: float
    limit: Any


class _Search:
    """Search for the smallest ell whose estimated error limit is below the target."""

    def __init__(
        self,
        goal: Goal,
        kernel: RadialKernel,
        X: Array,
        weights: Array,
        sample: RowSample | None,
        coordinate_limit: Limit | None,
    ) -> None:
        if sample is None:
            raise ValueError(
                'ell="auto" estimates the error from a row sample, but sample_size is 0. Use a '
                "positive sample_size, set only tol, or use a number for ell."
            )
        self.kernel, self.X, self.weights, self.sample = kernel, X, weights, sample
        self.tol = float(goal.tol)  # type: ignore[arg-type]
        self.measure = goal.measure(kernel, coordinate_limit)
        # Evenly spaced rows, because the first rows may not be typical.
        self.n_rows = X.shape[0]
        self.some = X if self.n_rows <= _SOME_ROWS else X[:: self.n_rows // _SOME_ROWS]
        kappa = float(kernel.diagonal(self.some).max())
        unit = math.sqrt(kappa) if goal.error == "mmd" else kappa
        if self.tol <= _SMALLEST_ERROR * unit:
            raise ValueError(
                f"tol={self.tol!r} is too small to estimate: the smallest valid tol is "
                f"{_SMALLEST_ERROR * unit:.2g}, which requires a center for every distinct row. "
                "ell=np.inf keeps every row and has no error."
            )
        if self.n_rows > sample.size and sample.size < FEWEST:
            raise ValueError(
                f'ell="auto" estimates the error from a row sample, which requires at least '
                f"{FEWEST} rows; got sample_size={sample.size}. Increase sample_size."
            )

    def limit(self, ell: float) -> float | None:
        """Return the error limit at this ell, or None if too many rows become centers."""
        radius = self._radius(ell)
        if self.some.shape[0] < self.n_rows:
            cover = open_cover(radius, self.X[:0], self.kernel)
            cover.extend(self.some)
            if cover.n_centers > _MOST_KEPT * self.some.shape[0]:
                return None
        cover = open_cover(radius, self.X[:0], self.kernel)
        reduced_set, _ = extend_set(None, cover, self.X, self.weights, self.sample)
        if cover.n_centers > max(_MOST_KEPT * self.n_rows, SIZE):
            return None
        return self.measure(reduced_set)

    def radius(self) -> float:
        """Return the radius for the smallest ell found to reach the target."""
        bad, good = _Tried(0.0, math.inf), _Tried(math.inf, None)
        ell = _FIRST
        while True:
            value = self.limit(ell)
            if value is None or value <= self.tol:
                good = _Tried(ell, value)
            else:
                bad = _Tried(ell, value)
            fine = _COARSE if good.limit is None else _FINE
            if good.ell <= max(_COARSEST, fine * bad.ell):
                break
            ell = self._next(bad, good)
        if good.limit is None:
            self._refuse(good.ell, bad)
        return self._radius(good.ell)

    def _radius(self, ell: float) -> float:
        return cover_radius(self.kernel, ell, self.X, self.weights)

    def _next(self, bad: _Tried, good: _Tried) -> float:
        """Return the ell at which the limit should reach ``tol``, by log-log interpolation."""
        # The limit decreases roughly with the square of ell.
        if bad.ell == 0:
            return max(good.ell / _STEP, _COARSEST)
        if good.ell == math.inf:
            return bad.ell * float(np.clip(math.sqrt(bad.limit / self.tol), 1.1, _STEP))
        if good.limit is None or math.isinf(bad.limit):
            return math.sqrt(bad.ell * good.ell)
        lowest = max(good.limit, _SMALLEST_ERROR * self.tol)
        share = math.log(bad.limit / self.tol) / math.log(bad.limit / lowest)
        return bad.ell * (good.ell / bad.ell) ** float(np.clip(share, 0.1, 0.9))

    def _refuse(self, ell: float, bad: _Tried) -> NoReturn:
        reached = f", and at ell = {bad.ell:.3g} the error limit is {bad.limit:.2g}"
        raise ValueError(
            f"tol={self.tol!r} cannot be reached, because the data do not compress: at ell = "
            f"{ell:.3g}, more than {percent(_MOST_KEPT)} of the rows would be centers"
            f"{reached if bad.ell else ''}. Increase tol or the bandwidth, set ell to a number, or "
            'use NystromKernelPCA(landmarks="means"), which needs fewer points for such data.'
        )

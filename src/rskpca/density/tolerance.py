"""Computing the radius of a cover from ell, from a theorem's bound, or from an estimated error."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from .. import _validation as check
from .._core.cover import Cover
from ..kernels import RadialKernel
from ..pairs import FEWEST, FeaturePairs
from ..row_sample import RowSample

Array = NDArray[np.floating]

CONFIDENCE = 0.95
ERRORS = ("operator", "mmd")

_COARSEST = 1.0  # the first ell of the search, which grows by factors of sqrt(2)
_FINE = 1.01  # ratio of the last two values of ell
_SMALLEST_ERROR = 1e-6  # in units of the kernel, well above the rounding error of an estimate
_SMALLEST = 1e-9  # radius in bandwidths; below it, kernel value differences are rounding errors


@dataclass(frozen=True)
class Goal:
    """The parameters that fix the radius: ``ell``, or ``tol`` for one of the errors."""

    ell: float | str
    tol: float | None
    error: str

    @classmethod
    def checked(cls, ell: object, tol: object, error: object) -> Goal:
        """Check the parameters of an estimator and return its goal."""
        if error not in ERRORS:
            raise ValueError(f'error must be "operator" or "mmd", got {error!r}.')
        auto = isinstance(ell, str) and ell == "auto"
        if not auto:
            hint = 'Or use "auto" with tol.'
            ell = check.positive_number("ell", ell, infinite=True, hint=hint)
        if tol is None:
            if auto:
                raise ValueError('ell="auto" requires a target error; set tol, such as tol=0.05.')
            return cls(ell, None, str(error))  # type: ignore[arg-type]
        wanted = check.positive_number("tol", tol)
        if not auto and ell != 4.0:
            raise ValueError(
                f"ell={ell!r} and tol={tol!r} were both given; tol determines ell, so omit ell."
            )
        return cls(ell, wanted, str(error))  # type: ignore[arg-type]

    def radius(
        self, kernel: RadialKernel, X: Array, weights: Array, sample: RowSample | None
    ) -> float:
        """Return the radius of the cover; ``sample`` is the empty sample that X is added to."""
        if self.tol is None:
            return kernel.scale / float(self.ell)
        if self.ell == "auto":
            return _Search(self, kernel, X, weights, sample).radius()
        return radius_of_bound(kernel, self.tol, self.error)


def radius_of_bound(kernel: RadialKernel, tol: float, error: str) -> float:
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


class _Search:
    """Coarse-to-fine search for an ell whose estimated error limit is below the target."""

    def __init__(
        self,
        goal: Goal,
        kernel: RadialKernel,
        X: Array,
        weights: Array,
        sample: RowSample | None,
    ) -> None:
        if sample is None:
            raise ValueError(
                'ell="auto" estimates the error from a row sample, but sample_size is 0. Use a '
                "positive sample_size, set only tol, or use a number for ell."
            )
        self.kernel, self.X, self.total = kernel, X, float(weights.sum())
        self.sample = sample.add(X, weights, np.arange(len(X)))  # labels are rows of X
        self.tol, self.error = float(goal.tol), goal.error  # type: ignore[arg-type]
        unit = math.sqrt(kernel.kappa) if self.error == "mmd" else kernel.kappa
        if self.tol <= _SMALLEST_ERROR * unit:
            raise ValueError(
                f"tol={self.tol!r} is too small to estimate: the smallest is "
                f"{_SMALLEST_ERROR * unit:.2g}, which requires a center for every distinct row. "
                "ell=np.inf keeps every row and has no error."
            )

    def limit(self, ell: float) -> float:
        """Return the error limit at this ell."""
        cover = Cover(self.kernel.scale / ell, self.X[:0])
        centers = cover.extend(self.X)[0][self.sample.labels]
        points = cover.centers[centers].astype(np.float64)
        pairs = FeaturePairs.of(self.kernel, self.sample, None, points, self.total)
        if not pairs.conclusive:
            raise ValueError(
                f'ell="auto" estimates the error from a row sample, which requires at least '
                f"{FEWEST} rows; got sample_size={self.sample.size}. Increase sample_size."
            )
        if self.error == "mmd":
            return pairs.mmd(CONFIDENCE).limit
        return pairs.operator(CONFIDENCE, center=False).limit

    def radius(self) -> float:
        """Return the radius for the smallest ell that was found."""
        good = _COARSEST
        while not self.limit(good) <= self.tol:
            good *= math.sqrt(2)
        return self.kernel.scale / self._refined(good)

    def _refined(self, good: float) -> float:
        """Bisect, on a log scale, between an ell that is too coarse and one that is not."""
        bad = good / math.sqrt(2)
        while good / bad > _FINE:
            middle = math.sqrt(bad * good)
            if self.limit(middle) <= self.tol:
                good = middle
            else:
                bad = middle
        return good

"""The radius of a cover: from ell, from the bound of a theorem, or from an estimated error."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from .. import _validation as check
from .._core.cover import Cover
from ..kernels import RadialKernel
from ..spectrum import ROUNDING, Spectrum, estimate

Array = NDArray[np.floating]

CONFIDENCE = 0.95
ERRORS = ("operator", "mmd")

_COARSEST = 1.0  # the first ell of the search, which grows by factors of sqrt(2)
_FINE = 1.01  # ratio of the last two values of ell
_SMALLEST = 1e-9  # radius in bandwidths below which differences of kernel values have no digits


@dataclass(frozen=True)
class Goal:
    """What fixes the radius: ``ell``, or ``tol`` for one of the errors."""

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
            hint = 'Or give "auto", with tol.'
            ell = check.positive_number("ell", ell, infinite=True, hint=hint)
        if tol is None:
            if auto:
                raise ValueError('ell="auto" needs a target error: give tol, such as tol=0.05.')
            return cls(ell, None, str(error))  # type: ignore[arg-type]
        wanted = check.positive_number("tol", tol)
        if not auto and ell != 4.0:
            raise ValueError(
                f"ell={ell!r} and tol={tol!r} were both given; tol chooses ell, so leave ell out."
            )
        return cls(ell, wanted, str(error))  # type: ignore[arg-type]

    def radius(
        self, kernel: RadialKernel, X: Array, weights: Array, spectrum: Spectrum | None
    ) -> float:
        """Return the radius of the cover; ``spectrum`` contains the Fourier sums of X."""
        if self.tol is None:
            return kernel.scale / float(self.ell)
        if self.ell == "auto":
            return _Search(self, kernel, X, weights, spectrum).radius()
        return radius_of_bound(kernel, self.tol, self.error)


def radius_of_bound(kernel: RadialKernel, tol: float, error: str) -> float:
    """Return the largest radius at which the worst-case error is at most ``tol``."""
    # Theorem 5.1 says sqrt(2 (kappa - k(radius))) for the discrepancy. The Hilbert-Schmidt error
    # is at most a factor times as much, about the mean or not.
    factor = 1.0 if error == "mmd" else kernel.centered_factor
    radii = kernel.scale * np.geomspace(_SMALLEST, 1e4, 8192)
    with np.errstate(over="ignore"):
        bounds = factor * np.sqrt(2 * (kernel.drop(radii) + _between(kernel, radii)))
    beyond = np.flatnonzero(~(bounds <= tol))
    if len(beyond) == 0:
        raise ValueError(
            f"tol={tol!r} holds for any centers: the error of this kernel never exceeds "
            f"{bounds[-1]:.3g}. Use a smaller tol."
        )
    if beyond[0] == 0:
        raise ValueError(
            f"tol={tol!r} cannot be guaranteed by a radius: the smallest guaranteed error is "
            f"{bounds[0]:.3g}, which needs a center for every distinct row. ell=np.inf keeps every "
            "row and has no error."
        )
    low, high = radii[beyond[0] - 1], radii[beyond[0]]
    if not kernel.monotone:
        return float(low)

    def beyond_tol(radius: float) -> float:
        return factor * math.sqrt(2 * float(kernel.drop(radius))) - tol

    root = brentq(beyond_tol, low, high, xtol=1e-12 * low, rtol=1e-12)
    return max(float(low), float(root) * (1 - 1e-9))


def _between(kernel: RadialKernel, radii: Array) -> Array:
    """Return how much the kernel can decrease between these radii and the next."""
    if kernel.monotone:
        return np.zeros(len(radii))
    slope = kernel.lipschitz_constant
    if slope is None:
        raise ValueError(
            f"tol needs to know how much {kernel!r} can decrease within a radius: give it "
            "monotone=True if that is true, or lipschitz. Or give a number for ell."
        )
    return slope * radii * (radii[1] / radii[0] - 1)


class _Search:
    """A search from coarse to fine for an ell whose estimated error limit is below the target."""

    def __init__(
        self,
        goal: Goal,
        kernel: RadialKernel,
        X: Array,
        weights: Array,
        spectrum: Spectrum | None,
    ) -> None:
        if spectrum is None:
            raise ValueError(
                f'ell="auto" needs random frequencies, but {kernel!r} has none or '
                "n_frequencies=0; give tol alone, or a number for ell."
            )
        self.kernel, self.X, self.weights, self.spectrum = kernel, X, weights, spectrum
        self.tol, self.error = float(goal.tol), goal.error  # type: ignore[arg-type]
        self.unit = math.sqrt(kernel.kappa) if self.error == "mmd" else kernel.kappa
        smallest = 2 * ROUNDING * self.unit
        if self.tol <= smallest:
            raise ValueError(
                f"tol={self.tol!r} is too small to estimate: the smallest is {smallest:.2g}, "
                "which needs a center for every distinct row. ell=np.inf keeps every row and has "
                "no error."
            )

    def limit(self, ell: float) -> float:
        """Return the limit of the error at this ell."""
        cover = Cover(self.kernel.scale / ell, self.X[:0])
        labels, squared = cover.extend(self.X)
        self._check_seen(ell, squared)
        counts: Array = np.bincount(labels, self.weights, minlength=cover.n_centers)  # type: ignore[assignment]
        errors = self.spectrum.errors(cover.centers, counts)
        return self.unit * estimate(getattr(errors, self.error), CONFIDENCE).limit

    def _check_seen(self, ell: float, squared: Array) -> None:
        total = float(self.weights @ np.sqrt(squared))
        if total and not self.spectrum.can_resolve(float(self.weights @ squared) / total):
            raise ValueError(
                f"tol={self.tol!r} needs an ell above {ell:.3g}, where "
                f"{2 * self.spectrum.n_pairs} random frequencies are too few to estimate the "
                "error: use more n_frequencies, a larger tol, or tol alone, without ell."
            )

    def radius(self) -> float:
        """Return the radius of the smallest ell found."""
        good = _COARSEST
        while self.limit(good) > self.tol:
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

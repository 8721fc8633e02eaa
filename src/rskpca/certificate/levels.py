"""What is known of the error, by where it is known from.

*A priori* from the radius alone; *a posteriori* from how far the points moved; *spectral* from
random frequencies; *residual* for eigenfunctions of a smaller basis; *measured* from the data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import RadialKernel
from ..reduced_set import ReducedSet
from ..spectral import EigenSystem
from ..spectrum import Spectrum, estimate
from . import eigenvalues, hilbert_schmidt, mmd

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Level:
    """One source of what is known; None where it says nothing.

    Attributes
    ----------
    name : str
        "a priori", "a posteriori", "spectral", "residual" or "measured"; "exact" stands for
        the first three where the data themselves are in the operator.
    mmd : float or None
        Bounds the maximum mean discrepancy of data and reduced set.
    operator : float or None
        Bounds the Hilbert-Schmidt norm of the difference of the operators, centered where
        the model is.
    eigenvalue : float or None
        Bounds how far any eigenvalue, divided by n, is from that of the data.
    confidence : float
        1 for what holds always.
    estimate : dict
        For the spectral level, the estimates beside their limits.
    meaning : str
        Where the numbers come from.
    missing : str
        Why a number is missing; empty where none is.
    """

    name: str
    mmd: float | None
    operator: float | None
    eigenvalue: float | None
    confidence: float
    meaning: str
    missing: str = ""
    estimate: dict[str, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and words."""
        return dict(vars(self))


_NO_SLOPE = "the kernel has no Lipschitz constant: RadialKernel(..., lipschitz=...) takes one"
_NO_WORST_CASE = (
    "between the distances that can be tried the kernel may fall further: "
    "RadialKernel(..., lipschitz=...) or RadialKernel(..., monotone=True) says how far"
)


def a_priori(kernel: RadialKernel, reduced_set: ReducedSet, *, center: bool) -> Level:
    """Theorems 5.1 to 5.3 at the radius of the reduced set."""
    radius = reduced_set.radius
    meaning = "Theorems 5.1 to 5.3 at this radius"
    if radius is None:
        return Level("a priori", None, None, None, 1.0, meaning, "the radius is not known")
    operator = hilbert_schmidt.centered_bound if center else hilbert_schmidt.sharp_bound
    error = operator(kernel, radius=radius)
    slope = eigenvalues.bound(kernel, radius=radius)
    missing = f"Theorem 5.2: {_NO_SLOPE}" if slope is None else ""
    if error is None:
        missing = _NO_WORST_CASE
    discrepancy = mmd.bound(kernel, radius=radius)
    level = Level("a priori", discrepancy, error, _smaller(slope, error), 1.0, meaning, missing)
    return _with_lost(level, kernel, reduced_set)


def _smaller(*values: float | None) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _with_lost(level: Level, kernel: RadialKernel, reduced_set: ReducedSet) -> Level:
    """The bounds with rows beside those of the centers, of a share s of the weight."""
    # Means of rows and rest are within 2 sqrt(kappa), operators within 2 kappa. About the mean s
    # times the square of the first comes on top.
    share, kappa = reduced_set.lost_share, kernel.kappa
    more = {"mmd": 2 * math.sqrt(kappa), "operator": 6 * kappa, "eigenvalue": 6 * kappa}
    known = {name: getattr(level, name) for name in more}
    return replace(level, **{k: v + share * more[k] for k, v in known.items() if v is not None})


def a_posteriori(kernel: RadialKernel, reduced_set: ReducedSet, *, center: bool) -> Level:
    """From the sums of ||x - c|| and ||x - c||^2, without a look at the data."""
    meaning = "how far the points moved, summed in the pass"
    if reduced_set.displacement is None:
        missing = "no sums of the distances that points moved were kept"
        return Level("a posteriori", None, None, None, 1.0, meaning, missing)
    if not kernel.concave and kernel.lipschitz_constant is None:
        return Level("a posteriori", None, None, None, 1.0, meaning, _NO_SLOPE)
    if center:
        error = hilbert_schmidt.centered_from_sums(kernel, reduced_set)
    else:
        error = hilbert_schmidt.from_sums(kernel, reduced_set)
    slope = eigenvalues.from_sums(kernel, reduced_set)
    discrepancy = mmd.from_sums(kernel, reduced_set)
    level = Level("a posteriori", discrepancy, error, _smaller(slope, error), 1.0, meaning)
    return _with_lost(level, kernel, reduced_set)


def spectral(
    kernel: RadialKernel, reduced_set: ReducedSet, *, center: bool, confidence: float
) -> Level:
    """Upper limits from random frequencies: see :func:`rskpca.spectrum.estimate`."""
    meaning = "random frequencies, summed in the pass; rows that are no lattice"
    if reduced_set.spectrum is None:
        missing = (
            "no sums at random frequencies were kept: n_frequencies=0, or the spectral density "
            "of the kernel is not known, or sums of other frequencies were merged"
        )
        return Level("spectral", None, None, None, confidence, meaning, missing)
    if not reduced_set.spectrum.serves(kernel):
        missing = f"the sums are those of the density's own kernel, {reduced_set.spectrum.kernel!r}"
        return Level("spectral", None, None, None, confidence, meaning, missing)
    if not _seen(reduced_set, reduced_set.spectrum):
        missing = (
            "points moved so little that the error lies at frequencies of which the sample has "
            "too few: ShadowDensity(n_frequencies=...) takes more"
        )
        return Level("spectral", None, None, None, confidence, meaning, missing)
    errors = reduced_set.spectrum.errors(reduced_set.centers, reduced_set.weights)
    discrepancy = estimate(errors.mmd, confidence)
    operator = estimate(errors.centered if center else errors.operator, confidence)
    root, unit = math.sqrt(kernel.kappa), kernel.kappa
    limit = unit * operator.limit
    values = {"mmd": root * discrepancy.value, "operator": unit * operator.value}
    level = Level(
        "spectral", root * discrepancy.limit, limit, limit, confidence, meaning, estimate=values
    )
    return _with_lost(level, kernel, reduced_set)


def _seen(s: ReducedSet, spectrum: Spectrum) -> bool:
    """Whether the frequencies can see how far points moved."""
    if s.displacement is None or s.scatter is None:
        return spectrum.sees(0.0)
    total = float(s.displacement.sum())
    return total == 0 or spectrum.sees(float(s.scatter.sum()) / total)


def residual(system: EigenSystem, n_samples: float) -> Level:
    """What functions of the basis cannot hold: 0 <= lambda - lambda^ <= tr(K - K^) / n."""
    # With Q the projection on what the basis does not span, the operator loses Q K Q, whose trace
    # is the residual, and Q K P twice, whose square is at most the residual times lambda_1.
    left = system.residual / n_samples
    largest = (float(system.eigenvalues[0]) + system.residual) / n_samples
    meaning = "Rayleigh-Ritz: the trace that the basis does not hold"
    error = math.sqrt(left**2 + 2 * left * largest)
    return Level("residual", None, error, left, 1.0, meaning)


def exact() -> Level:
    """The data themselves are in the operator: nothing was moved."""
    return Level("exact", 0.0, 0.0, 0.0, 1.0, "the data themselves are in the operator")


def measured(
    kernel: RadialKernel,
    X: Array,
    sample_weight: Array | None,
    reduced_set: ReducedSet,
    *,
    center: bool,
) -> Level:
    """The errors themselves on the rows of X, from all pairs."""
    error = hilbert_schmidt.measured(kernel, X, reduced_set, sample_weight, center=center)
    discrepancy = mmd.measured(kernel, X, reduced_set, sample_weight)
    rounding = 1e-7 * kernel.kappa
    return Level(
        "measured",
        discrepancy,
        error,
        error + rounding,
        1.0,
        f"all pairs of {len(X):,} rows",
    )

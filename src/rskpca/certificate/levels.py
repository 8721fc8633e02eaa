"""Bounds on the error, one level per source of information.

*A priori* bounds use only the radius; *a posteriori* bounds use the displacements of the points;
*sample* uses pairs of sampled rows; *residual* uses the eigenfunctions of a smaller basis; and
*measured* uses the data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import AnyKernel, RadialKernel
from ..reduced_set import ReducedSet
from ..spectral import EigenSystem
from . import eigenvalues, hilbert_schmidt, mmd
from .sampled import Analysis

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Level:
    """Error bounds from one source of information; None where there is no bound.

    Attributes
    ----------
    name : str
        "a priori", "a posteriori", "sample", "residual" or "measured"; "exact" replaces the
        first two if the operator is built from the data themselves.
    mmd : float or None
        Bound on the maximum mean discrepancy between data and reduced set.
    operator : float or None
        Bound on the Hilbert-Schmidt norm of the difference between the operators, which are
        centered if the model is centered.
    eigenvalue : float or None
        Bound on the error of every eigenvalue, divided by n.
    confidence : float
        Confidence of the bounds; 1 if they are guaranteed.
    meaning : str
        Where the numbers come from.
    missing : str
        Why a number is missing, or an empty string.
    estimate : dict
        Estimates in addition to the limits, for the level "sample".
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
        """Return the fields as a dictionary of plain values."""
        return dict(vars(self))


_NO_DISTANCES = "the distances between rows and centers in feature space are unknown"
_NO_SLOPE = "the kernel has no Lipschitz constant; set RadialKernel(..., lipschitz=...)"
_NO_WORST_CASE = (
    "the smallest kernel value within the radius is not known; set "
    "RadialKernel(..., lipschitz=...) or RadialKernel(..., monotone=True)"
)


def _unknown(name: str, confidence: float, meaning: str, missing: str) -> Level:
    return Level(name, None, None, None, confidence, meaning, missing)


def a_priori(kernel: RadialKernel, reduced_set: ReducedSet, *, center: bool) -> Level:
    """Return the bounds of Theorems 5.1 to 5.3 for the radius of the reduced set."""
    radius = reduced_set.radius
    meaning = "Theorems 5.1 to 5.3 at this radius"
    if radius is None:
        return _unknown("a priori", 1.0, meaning, "the radius is unknown")
    operator = hilbert_schmidt.centered_bound if center else hilbert_schmidt.sharp_bound
    error = operator(kernel, radius=radius)
    slope = eigenvalues.bound(kernel, radius=radius)
    missing = f"Theorem 5.2: {_NO_SLOPE}" if slope is None else ""
    if error is None:
        missing = _NO_WORST_CASE
    discrepancy = mmd.bound(kernel, radius=radius)
    level = Level("a priori", discrepancy, error, _smaller(slope, error), 1.0, meaning, missing)
    return _add_lost_rows(level, kernel, reduced_set)


def _smaller(*values: float | None) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _add_lost_rows(level: Level, kernel: RadialKernel, reduced_set: ReducedSet) -> Level:
    """Widen the bounds to account for the share s of rows that no center represents."""
    # The means of these rows and of the rest differ by at most 2 sqrt(kappa), and their operators
    # by at most 2 kappa. Centering adds s times the squared distance of the means.
    share = reduced_set.lost_share
    if not share:
        return level
    kappa = kernel.kappa
    more = {"mmd": 2 * math.sqrt(kappa), "operator": 6 * kappa, "eigenvalue": 6 * kappa}
    known = {name: getattr(level, name) for name in more}
    return replace(level, **{k: v + share * more[k] for k, v in known.items() if v is not None})


def a_posteriori(
    kernel: RadialKernel, reduced_set: ReducedSet, *, center: bool, length: float | None = None
) -> Level:
    """Return bounds from the sums of ||x - c|| and ||x - c||^2 stored in the reduced set."""
    # ``length`` is the length of the mean in feature space, if it is known.
    meaning = "displacements of the points, recorded during the fit"
    if reduced_set.displacement is None:
        missing = "the displacements of the points were not recorded"
        return _unknown("a posteriori", 1.0, meaning, missing)
    if not kernel.concave and kernel.lipschitz_constant is None:
        return _unknown("a posteriori", 1.0, meaning, _NO_SLOPE)
    if center:
        error = hilbert_schmidt.centered_from_sums(kernel, reduced_set, length)
    else:
        error = hilbert_schmidt.from_sums(kernel, reduced_set)
    slope = eigenvalues.from_sums(kernel, reduced_set)
    discrepancy = mmd.from_sums(kernel, reduced_set)
    level = Level("a posteriori", discrepancy, error, _smaller(slope, error), 1.0, meaning)
    return _add_lost_rows(level, kernel, reduced_set)


def in_feature_space(kernel: AnyKernel, reduced_set: ReducedSet, *, center: bool) -> list[Level]:
    """Return the first two levels for kernels that are not radial, from feature-space distances."""
    # ||psi psi' - psi_c psi_c'|| <= (2 ||psi_c|| + ||delta||) ||delta||, where delta = psi - psi_c.
    # Theorems 5.1, 5.3 and 5.4 follow from this without reference to a profile. Centering subtracts
    # the outer product of the mean, to which the same inequality applies.
    radius, weights = reduced_set.radius, reduced_set.weights
    meanings = {
        "a priori": "the radius in feature space",
        "a posteriori": "distances in feature space, recorded during the fit",
    }
    displacement, scatter = reduced_set.displacement, reduced_set.scatter
    known = reduced_set.in_feature_space or radius == 0
    if not known or radius is None or displacement is None or scatter is None:
        return [_unknown(name, 1.0, text, _NO_DISTANCES) for name, text in meanings.items()]
    lengths = np.sqrt(kernel.diagonal(reduced_set.centers))
    sums = (weights * radius, weights * radius**2), (displacement, scatter)
    return [
        Level(name, *_from_lengths(lengths, weights, *found, center=center), 1.0, meaning)
        for (name, meaning), found in zip(meanings.items(), sums, strict=True)
    ]


def _from_lengths(
    lengths: Array, weights: Array, displacement: Array, scatter: Array, *, center: bool
) -> tuple[float, float, float]:
    """Bound the MMD and the operator and eigenvalue errors from sums of ||delta|| per center."""
    n = float(weights.sum())
    discrepancy = float(displacement.sum()) / n
    operator = float(2 * lengths @ displacement + scatter.sum()) / n
    if center:
        operator += (2 * float(weights @ lengths) / n + discrepancy) * discrepancy
    return discrepancy, operator, operator


def sampled(
    kernel: RadialKernel, reduced_set: ReducedSet, analysis: Analysis | None, confidence: float
) -> Level:
    """Estimate the errors from the row sample, including the error due to a smaller basis."""
    if analysis is None:
        missing = (
            "no row sample was kept (sample_size=0, weights that are not row counts, or forgotten "
            "rows that could not be identified)"
        )
        return _unknown("sample", confidence, "pairs of sampled rows", missing)
    n, all_rows = len(analysis.sample), analysis.complete
    meaning = f"all pairs of {n:,} rows" if all_rows else f"pairs of {n:,} sampled rows"
    if analysis.missing:
        return _unknown("sample", confidence, meaning, analysis.missing)
    discrepancy, operator = analysis.mmd(confidence), analysis.operator(confidence)
    values = {"mmd": discrepancy.estimate, "operator": operator.estimate}
    limits = discrepancy.limit, operator.limit, operator.limit
    level = Level("sample", *limits, confidence, meaning, estimate=values)
    return _add_lost_rows(level, kernel, reduced_set)


def residual(system: EigenSystem, n_samples: float) -> Level:
    """Bound the error due to a smaller basis: 0 <= lambda - lambda^ <= tr(K - K^) / n."""
    # Let P and Q be the projections onto the span of the basis and onto its complement. The
    # operator loses Q K Q, whose trace is the residual, and Q K P twice, whose squared norm is at
    # most the residual times lambda_1.
    left = system.residual / n_samples
    largest = (float(system.eigenvalues[0]) + system.residual) / n_samples
    meaning = "Rayleigh-Ritz: the trace outside the span of the basis"
    error = math.sqrt(left**2 + 2 * left * largest)
    return Level("residual", None, error, left, 1.0, meaning)


def exact() -> Level:
    """Return a level with zero errors, for an operator built from the data themselves."""
    return Level("exact", 0.0, 0.0, 0.0, 1.0, "the operator is built from the data themselves")


def measured(
    kernel: RadialKernel,
    X: Array,
    sample_weight: Array | None,
    reduced_set: ReducedSet,
    *,
    center: bool,
) -> Level:
    """Compute the errors on the rows of X from all pairs of rows."""
    error = hilbert_schmidt.measure(kernel, X, reduced_set, sample_weight, center=center)
    discrepancy = mmd.measure(kernel, X, reduced_set, sample_weight)
    rounding = 1e-7 * float(kernel.diagonal(X).max())
    meaning = f"all pairs of {X.shape[0]:,} rows"
    return Level("measured", discrepancy, error, error + rounding, 1.0, meaning)

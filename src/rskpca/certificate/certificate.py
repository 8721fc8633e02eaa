"""The certificate: bounds on the distance between a fitted model and exact kernel PCA."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from ..kernels import AnyKernel, RadialKernel
from ..pairs import Estimate
from ..reduced_set import ReducedSet
from ..spectral import EigenSystem
from ..spectral.operators import FittedCentered
from . import levels
from .eigenspaces import davis_kahan
from .levels import Level
from .mmd import normalized_weights
from .sampled import Analysis, Limits, is_centered
from .summary import summarize, to_html, to_text
from .walks import Walk, WalkAnalysis, normalized_cut

Array = NDArray[np.floating]

KERNEL_PCA = "kernel PCA"
_ROUNDINGS = 16  # rounding errors to allow for in kernel values and their means


@dataclass(frozen=True, eq=False)
class Certificate:
    """Bounds on the error of a model, obtained without computing the exact solution.

    ``str`` and notebooks show :attr:`summary` and tables. Some bounds are guaranteed; the others
    are estimated from a row sample and are valid at the given confidence. Eigenvalues have the same
    scale as the model's ``eigenvalues_``; the errors in ``levels`` refer to operators divided by n.

    Attributes
    ----------
    levels : tuple of Level
        Error bounds, one level per source of information.
    confidence : float
        Confidence of the ``likely`` bounds.
    centered : bool
        Whether the operator is centered in feature space.
    n_samples, n_centers, radius, ell
        Properties of the reduced set; ell is sigma / radius.
    eigenvalues : ndarray of shape (n_components,)
        Eigenvalues of the model.
    embedding : Estimate or None
        The relative error of the coordinates after the best linear alignment, sqrt(sum ||z - A
        z^||^2 / sum ||z||^2) over all rows, where z and z^ are the coordinates of exact kernel PCA
        and of the model. It has an ``estimate`` and an upper ``limit`` at the given confidence.
        None if there is no row sample from which to estimate it.
    better_components : int or None
        An alternative number of components, if the last component has nearly the same eigenvalue
        as the next one. In that case the choice between the two is arbitrary, and so is the error.
    certain, likely : ndarray of shape (n_components, 2)
        Guaranteed intervals for the eigenvalues of the data, and intervals at the given
        confidence. They are never narrower than the rounding error of an eigenvalue.
    certain_angles, likely_angles : ndarray of shape (n_components,)
        Bounds, in degrees, on the largest angle between the leading D-dimensional eigenspaces of
        the model and of the data. NaN if the eigengap is too small for a bound.
    rayleigh : ndarray of shape (n_components,) or None
        Rayleigh-Ritz values of the model's eigenfunctions on the data, if data were given. They
        are lower bounds on the eigenvalues of the data.
    all_rows : bool
        True if the row sample contains all rows, so that ``embedding`` is measured, not estimated.
    method : str
        The method whose exact solution is the reference for the errors, such as "kernel PCA".
    labels : Estimate or None
        For normalized cut, the share of rows whose label could change within the estimated error.
    cut : float or None
        For normalized cut, the cut of the reduced set, which equals that of the data with each row
        moved to its center.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca import ReducedSetKernelPCA
    >>> X = load_digits().data
    >>> certificate = ReducedSetKernelPCA(2, bandwidth=60.0).fit(X).certificate_
    >>> [level.name for level in certificate.levels]
    ['a priori', 'a posteriori', 'sample', 'residual']
    >>> certain, likely = certificate.level("a posteriori"), certificate.level("sample")
    >>> likely.operator < certain.operator < 1
    True
    >>> 0 < certificate.embedding.estimate <= certificate.embedding.limit < 0.1
    True
    >>> print(certificate.summary)
    Coordinates differ from those of exact kernel PCA by 1.3%, measured on all rows.
    """

    levels: tuple[Level, ...]
    confidence: float
    centered: bool
    n_samples: float
    n_centers: int
    radius: float | None
    ell: float | None
    eigenvalues: Array
    certain: Array
    likely: Array
    certain_angles: Array
    likely_angles: Array
    rayleigh: Array | None = None
    embedding: Estimate | None = None
    better_components: int | None = None
    all_rows: bool = False
    method: str = KERNEL_PCA
    labels: Estimate | None = None
    cut: float | None = None

    def __post_init__(self) -> None:
        check.shapes(self, eigenvalues="r", certain="r2", likely="r2", rayleigh="r")
        check.shapes(self, eigenvalues="r", certain_angles="r", likely_angles="r")

    @property
    def unit(self) -> float:
        """The number by which eigenvalues are divided: n for kernel PCA, 1 for random walks."""
        return self.n_samples if self.method == KERNEL_PCA else 1.0

    @property
    def summary(self) -> str:
        """The coordinate error, summarized in one or two sentences."""
        return summarize(self)

    def level(self, name: str) -> Level:
        """Return the level with the given name.

        Parameters
        ----------
        name : str
            Name of a level, such as "sample".

        Returns
        -------
        Level
            The level.
        """
        known = {level.name: level for level in self.levels}
        if name not in known:
            raise ValueError(f"name must be one of {', '.join(known)}, got {name!r}.")
        return known[name]

    def __str__(self) -> str:
        return to_text(self)

    def _repr_html_(self) -> str:
        return to_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as a dictionary of plain values, with None for unknown ones."""
        return {"summary": self.summary, **{k: _plain(v) for k, v in vars(self).items()}}

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=1)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Level):
        return value.to_dict()
    if isinstance(value, Estimate):
        return value._asdict()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def certify(
    kernel: RadialKernel,
    reduced_set: ReducedSet,
    system: EigenSystem,
    analysis: Analysis | None = None,
    *,
    confidence: float = 0.95,
    X: Array | None = None,
    sample_weight: Array | None = None,
) -> Certificate:
    """Certify a solved eigenproblem.

    Parameters
    ----------
    kernel : RadialKernel
        Kernel with a numeric bandwidth.
    reduced_set : ReducedSet
        The reduced set of the data.
    system : EigenSystem
        Eigensystem of the plain or the centered operator on the reduced set.
    analysis : Analysis, default=None
        The comparison with the row sample, if one was kept.
    confidence : float, default=0.95
        Confidence of the bounds that are not guaranteed.
    X : ndarray of shape (n_samples, n_features), default=None
        The data. If given, the errors are also measured, in O(n^2) time.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows of X.

    Returns
    -------
    Certificate
        The certificate, with one level per source of information.
    """
    confidence = check.share("confidence", confidence)
    center, n = is_centered(system), reduced_set.n_samples
    certain = _guaranteed(kernel, reduced_set, system, center=center)
    sampled = levels.sampled(kernel, reduced_set, analysis, confidence)
    residual = levels.residual(system, n)
    measured = []
    if X is not None and not system.exact:
        measured = [levels.measured(kernel, X, sample_weight, reduced_set, center=center)]
    intervals, angles = _intervals(certain, system, n), _angles(certain, residual, system, n)
    limits = None if analysis is None else analysis.limits(confidence)
    if limits is None:
        both = [*certain, sampled]
        likely, likely_angles = _intervals(both, system, n), _angles(both, residual, system, n)
    else:
        likely = _estimated(limits, intervals, system, n)
        likely_angles = np.fmin(angles, limits.angles)
    return Certificate(
        levels=(*certain, sampled, residual, *measured),
        centered=center,
        certain=intervals,
        likely=likely,
        certain_angles=angles,
        likely_angles=likely_angles,
        rayleigh=None if X is None else _rayleigh(system, X, sample_weight, n, center=center),
        embedding=None if limits is None else _embedding(limits, reduced_set, system),
        **_common(kernel, reduced_set, system, confidence, analysis, limits),
    )


def certify_walk(
    walk: Walk,
    analysis: WalkAnalysis | None,
    method: str,
    *,
    confidence: float = 0.95,
    X: Array | None = None,
    sample_weight: Array | None = None,
) -> Certificate:
    """Certify a random walk.

    Parameters
    ----------
    walk : Walk
        The fitted walk.
    analysis : WalkAnalysis or None
        The comparison with the row sample; None if the sample does not determine the error.
    method : str
        Name of the method.
    confidence : float, default=0.95
        Confidence of the bounds that are not guaranteed.
    X : ndarray of shape (n_samples, n_features), default=None
        The data. If given, the MMD is also measured, in O(n^2) time.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows of X.

    Returns
    -------
    Certificate
        The certificate. Its levels contain only the MMD, which bounds the errors of kernel sums.
    """
    confidence = check.share("confidence", confidence)
    kernel, reduced_set, system = walk.kernel, walk.reduced_set, walk.system
    sampled = levels.sampled(kernel, reduced_set, analysis, confidence)
    if walk.unknown:
        sampled = replace(sampled, missing=walk.unknown)
    if sampled.estimate is not None:  # the other errors are those of kernel PCA, not of the walk
        sampled = replace(sampled, estimate={"mmd": sampled.estimate["mmd"]})
    found = [*_guaranteed(kernel, reduced_set, system, center=False), sampled]
    if X is not None:
        found.append(levels.measured(kernel, X, sample_weight, reduced_set, center=False))
    r = len(system.eigenvalues)
    certain, unknown = np.tile([-1.0, 1.0], (r, 1)), np.full(r, math.nan)
    limits = None if analysis is None else analysis.limits(confidence)
    lost = bool(reduced_set.lost_share)
    return Certificate(
        levels=tuple(replace(level, operator=None, eigenvalue=None) for level in found),
        centered=False,
        certain=certain,
        likely=certain if limits is None else np.clip(limits.eigenvalues, -1.0, 1.0),
        certain_angles=unknown,
        likely_angles=unknown if limits is None else limits.angles,
        embedding=None if limits is None or lost else limits.embedding,
        method=method,
        labels=None if analysis is None else analysis.label_change(confidence),
        cut=normalized_cut(walk),
        **_common(kernel, reduced_set, system, confidence, analysis, limits),
    )


def _common(
    kernel: AnyKernel,
    reduced_set: ReducedSet,
    system: EigenSystem,
    confidence: float,
    analysis: Analysis | None,
    limits: Limits | None,
) -> dict[str, Any]:
    """Return the fields that certificates for kernel PCA and for random walks share."""
    radius = reduced_set.radius
    return {
        "confidence": confidence,
        "n_samples": reduced_set.n_samples,
        "n_centers": reduced_set.n_centers,
        "radius": radius,
        "ell": kernel.scale / radius if radius and isinstance(kernel, RadialKernel) else None,
        "eigenvalues": system.eigenvalues,
        "better_components": None if limits is None else limits.better,
        "all_rows": analysis is not None and analysis.complete and not reduced_set.lost_share,
    }


def _guaranteed(
    kernel: RadialKernel, reduced_set: ReducedSet, system: EigenSystem, *, center: bool
) -> list[Level]:
    """Return the levels with guaranteed bounds on the error of the reduced set."""
    if system.exact:  # the reduced set only provides the basis
        return [levels.exact()]
    if not isinstance(kernel, RadialKernel):
        return levels.in_feature_space(kernel, reduced_set, center=center)
    operator = system.operator
    length = math.sqrt(max(operator.mean, 0.0)) if isinstance(operator, FittedCentered) else None
    return [
        levels.a_priori(kernel, reduced_set, center=center),
        levels.a_posteriori(kernel, reduced_set, center=center, length=length),
    ]


def _estimated(limits: Limits, certain: Array, system: EigenSystem, n: float) -> Array:
    """Return the estimated intervals, clipped to the guaranteed ones."""
    rounding = _rounding(system, n) * np.array([-1, 1])
    return np.clip(n * (limits.eigenvalues + rounding), certain[:, :1], certain[:, 1:])


def _embedding(limits: Limits, reduced_set: ReducedSet, system: EigenSystem) -> Estimate:
    """Return the coordinate error, with an allowance for rows that have no center."""
    smallest = float(system.eigenvalues[-1]) / reduced_set.n_samples
    lost = 6 * system.kappa * reduced_set.lost_share / smallest
    estimate, limit = limits.embedding
    moved = reduced_set.displacement
    if not (system.exact or system.residual or moved is None or moved.any()):
        estimate, limit = 0.0, 0.0  # every row is at its center, so the model is exact
    return Estimate(estimate, min(limit + lost, 1.0))


def _smallest(sources: list[Level], name: str) -> float:
    values = [getattr(level, name) for level in sources]
    return min((value for value in values if value is not None), default=math.inf)


def _intervals(sources: list[Level], system: EigenSystem, n: float) -> Array:
    """Return intervals by Weyl's inequality; a smaller basis can only lower the eigenvalues."""
    error = n * (_smallest(sources, "eigenvalue") + _rounding(system, n))
    lower = np.maximum(system.eigenvalues - error, 0.0)
    upper = system.eigenvalues + error + system.residual
    largest = n * kernel.kappa if isinstance(kernel := system.kernel, RadialKernel) else math.inf
    return np.stack([lower, np.minimum(upper, largest)], axis=1)


def _angles(sources: list[Level], residual: Level, system: EigenSystem, n: float) -> Array:
    """Return the Davis-Kahan bound for each leading eigenspace, using the model's eigengaps."""
    error = _smallest(sources, "operator") + (residual.operator or 0.0) + _rounding(system, n)
    sines = [davis_kahan(error, gap) for gap in _gaps(system) / n]
    return np.array([math.nan if s is None else math.degrees(math.asin(s)) for s in sines])


def _rounding(system: EigenSystem, n: float) -> float:
    """Bound the rounding error of the kernel values and the solver, divided by n."""
    solver = system.centers.shape[0] * float(system.eigenvalues[0]) / n
    return float(np.finfo(np.float64).eps) * (_ROUNDINGS * system.kappa + solver)


def _gaps(system: EigenSystem) -> Array:
    """Return lambda_D - lambda_{D+1}; the remaining trace bounds the first unknown eigenvalue."""
    values = system.eigenvalues
    left = max(system.trace - float(values.sum()), 0.0)
    following = np.append(values[1:], min(left, float(values[-1])))
    return values - following


def _rayleigh(
    system: EigenSystem, X: Array, sample_weight: Array | None, n: float, *, center: bool
) -> Array:
    """Return n times the eigenvalues of the covariance of the model's coordinates on X."""
    shares = normalized_weights(X, sample_weight)
    Z = system.extend(X.astype(np.float64)) * np.sqrt(system.eigenvalues)
    if center:
        Z -= shares @ Z
    return n * np.linalg.eigvalsh(Z.T @ (shares[:, None] * Z))[::-1]

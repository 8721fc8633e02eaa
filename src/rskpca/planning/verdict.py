"""The verdict on a fitted model: its certificate in words and as a color."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._format import percent
from ..certificate import Certificate, Level
from ..certificate.certificate import KERNEL_PCA
from ..certificate.summary import ROUNDING, SMALLEST, eigenvalue_errors
from ..kernels import RadialKernel
from ..model import FittedModel

# Largest relative coordinate errors for green and amber. At 5%, the coordinates of the model
# explain 99.75% of the variance of the exact ones, and points in a plot move by about the size of
# a marker. At 20%, they explain 96%: groups and trends are visible, but single rows may be wrong.
GREEN, AMBER = 0.05, 0.2
# The same for eigenvalues, which determine the color if the coordinate error is unknown.
GREEN_EIGENVALUE, AMBER_EIGENVALUE = 0.1, 0.5
_UNINFORMATIVE = 0.995  # larger errors are rounded to 100%
_SMALLEST_ANGLE = 0.01  # degrees; bounds are never rounded to zero
_LARGEST_ANGLE = 45.0  # an eigenspace that may be rotated by more is treated as unknown


@dataclass(frozen=True)
class Component:
    """Bounds on one eigenvalue, divided by n for kernel PCA."""

    value: float  # of the model
    low: float  # interval at the confidence level of the certificate
    high: float
    certain_low: float  # guaranteed interval
    certain_high: float
    error: float  # the largest relative error between low and high
    angle: float  # upper bound, in degrees, between leading eigenspaces; NaN if unknown
    color: str  # green, amber or red


@dataclass(frozen=True)
class Verdict:
    """Assessment of a model's accuracy.

    The color is "green" if the coordinates are off by at most 5%, "amber" if by at most 20%, "red"
    if they may be off by more, and "none" if there is no certificate. If the coordinate error is
    not estimated, the color depends on the eigenvalues: "green" if each is known to within 10%,
    "red" if the first is not known to within 50%, and "amber" otherwise.
    """

    color: str
    headline: str  # the summary of the certificate
    sentences: tuple[str, ...]  # the basis of the headline, and its limitations
    error: float | None = None  # the largest relative error of the coordinates, if estimated
    components: tuple[Component, ...] = ()  # one per eigenvalue; empty without a certificate


def judge(model: FittedModel, certificate: Certificate | None = None) -> Verdict:
    """Assess a fitted model by the given certificate, or by its own if None."""
    c = model.certificate if certificate is None else certificate
    if c is None:
        return _without_certificate(model)
    errors = eigenvalue_errors(c, c.likely)
    components = tuple(_component(c, k, float(error)) for k, error in enumerate(errors))
    limit = None if c.embedding is None else c.embedding.limit
    color = _overall(c, components) if limit is None else _color(limit, GREEN, AMBER)
    if has_unknown_error(c):
        limit = None
    sentences = [
        *_basis(c),
        *_limits(c, color),
        *_angle(c),
        *_cut(c),
        *(f"There is no {k.name} bound: {k.missing}." for k in c.levels if _is_missing(k)),
    ]
    return Verdict(color, c.summary, tuple(sentences), limit, components)


def has_unknown_error(c: Certificate) -> bool:
    """Return True if the row sample is too sparse to bound the error of a random walk."""
    sampled_walk = c.method != KERNEL_PCA and not c.all_rows
    return sampled_walk and c.embedding is not None and c.embedding.limit > _UNINFORMATIVE


def error_in_words(error: float) -> str:
    """Format a relative error as a percentage, or in words if it is tiny or 100% or more."""
    if error < ROUNDING:
        return "rounding error"
    if error < SMALLEST:
        return f"less than {percent(SMALLEST)}"
    return percent(error) if error < _UNINFORMATIVE else "100% or more"


def angle_in_words(angle: float) -> str:
    """Format an upper bound on an angle in degrees."""
    return f"{max(angle, _SMALLEST_ANGLE):.2g}°"


def _component(c: Certificate, k: int, error: float) -> Component:
    value = float(c.eigenvalues[k]) / c.unit
    low, high = (float(end) / c.unit for end in c.likely[k])
    certain_low, certain_high = (float(end) / c.unit for end in c.certain[k])
    color = _color(error, GREEN_EIGENVALUE, AMBER_EIGENVALUE)
    angle = float(c.likely_angles[k])
    return Component(value, low, high, certain_low, certain_high, error, angle, color)


def _color(error: float, green: float, amber: float) -> str:
    return "green" if error <= green else "amber" if error <= amber else "red"


def _overall(c: Certificate, components: tuple[Component, ...]) -> str:
    if c.method != KERNEL_PCA:  # nothing is known about the eigenvalues of a walk
        return "none"
    if all(c.color == "green" for c in components):
        return "green"
    return "red" if components[0].color == "red" else "amber"


def _basis(c: Certificate) -> list[str]:
    """Explain the coordinate error, and state what is guaranteed."""
    if c.embedding is None or has_unknown_error(c):
        return []
    rows = "all rows" if c.all_rows else "rows that were sampled during the fit"
    sentences = [
        "This is the root-mean-square error of all rows, relative to the size of the coordinates, "
        f"after the best linear alignment of the two embeddings. It is computed from {rows}."
    ]
    certain = float(eigenvalue_errors(c, c.certain)[0])
    if c.embedding.limit >= ROUNDING and certain < 1:
        sentences.append(
            f"The first eigenvalue is guaranteed to be off by at most {error_in_words(certain)}."
        )
    return sentences


def _limits(c: Certificate, color: str) -> list[str]:
    if c.embedding is not None or color in ("green", "none"):
        return []
    return [
        "This is an upper bound; the actual error is often much smaller. The plots may well be "
        "correct, but do not rely on the values of amber or red components."
    ]


def _angle(c: Certificate) -> list[str]:
    """Describe the largest leading eigenspace whose angle is known."""
    known = np.flatnonzero(c.likely_angles < _LARGEST_ANGLE)
    if not len(known):
        return []
    last = int(known[-1])
    space = "first component" if last == 0 else f"space of the first {last + 1} components"
    bound = angle_in_words(float(c.likely_angles[last]))
    return [f"The {space} is rotated by at most {bound} from the exact one."]


def _cut(c: Certificate) -> list[str]:
    return [] if c.cut is None else [f"The normalized cut of the reduced set is {c.cut:.3g}."]


def _is_missing(level: Level) -> bool:
    """Return True for missing bounds that the headline does not mention."""
    return bool(level.missing) and level.name != "sample"


def _without_certificate(model: FittedModel) -> Verdict:
    sentences = [
        "Only models that are based on a reduced set have certificates. To check this model, fit "
        "it again with more centers and compare the plots."
    ]
    points, kernel = model.reduced_set, model.kernel
    if points.displacement is not None and isinstance(kernel, RadialKernel):
        scale = kernel.scale
        mean = float(points.displacement.sum()) / points.n_samples / scale
        radius = points.radius
        most = "" if radius is None else f"; no row is farther than {radius / scale:.2g}"
        sentences.append(f"On average, a row is {mean:.2g} bandwidths from its center{most}.")
    return Verdict("none", "This model has no error certificate.", tuple(sentences))

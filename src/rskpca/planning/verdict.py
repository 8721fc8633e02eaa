"""The verdict on a fitted model: its certificate in words and as green, amber or red."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .._format import percent
from ..certificate import Certificate
from ..model import FittedModel

GREEN, AMBER = 0.1, 0.5  # largest relative errors of green and amber eigenvalues
_ROUNDING = 1e-8  # smaller relative errors are reported as rounding error
_SMALLEST_ANGLE = 0.01  # degrees; bounds are never rounded to zero
_FEW_STEPS = 3  # a radius below this many grid steps displaces all rows alike


@dataclass(frozen=True)
class Component:
    """Bounds on one eigenvalue, all divided by n.

    Attributes
    ----------
    value : float
        The eigenvalue of the model.
    low, high : float
        Interval for the exact eigenvalue at the confidence level of the certificate.
    certain_low, certain_high : float
        The guaranteed interval.
    error : float
        The largest relative error between ``low`` and ``high``.
    angle : float
        Upper bound on the angle between the leading spaces in degrees, or NaN if the eigengap is
        too small.
    color : str
        "green", "amber" or "red".
    """

    value: float
    low: float
    high: float
    certain_low: float
    certain_high: float
    error: float
    angle: float
    color: str


@dataclass(frozen=True)
class Verdict:
    """Assessment of a model's accuracy.

    Attributes
    ----------
    color : str
        "green" if every eigenvalue is known to within 10%, "red" if the first is not known to
        within 50%, "amber" in between, and "none" without a certificate.
    headline : str
        A summary in one sentence.
    sentences : tuple of str
        The basis of the headline, and its limitations.
    components : tuple of Component
        One entry per eigenvalue, or empty without a certificate.
    """

    color: str
    headline: str
    sentences: tuple[str, ...]
    components: tuple[Component, ...] = ()


def judge(model: FittedModel) -> Verdict:
    """Assess the accuracy of a fitted model.

    Parameters
    ----------
    model : FittedModel
        The model, whose cached certificate is used.

    Returns
    -------
    Verdict
        The color and its explanation.
    """
    certificate = model.certificate
    if certificate is None:
        return _without_certificate(model)
    components = tuple(_component(certificate, k) for k in range(len(certificate.eigenvalues)))
    color = _overall(components)
    sentences = [
        _basis(model, certificate, components[0]),
        *_limits(color),
        _angle(certificate),
        *_ties(components),
        *_grid(model, certificate),
        *(f"There is no {c.name} bound: {c.missing}." for c in certificate.levels if c.missing),
    ]
    return Verdict(color, _headline(color, components), tuple(sentences), components)


def error_in_words(error: float) -> str:
    """Format a relative error as a percentage with two digits."""
    if error < _ROUNDING:
        return "rounding error"
    return f"{100 * error:.2g}%" if error < 0.995 else "100% or more"


def angle_in_words(angle: float) -> str:
    """Format an upper bound on an angle in degrees."""
    return f"{max(angle, _SMALLEST_ANGLE):.2g}°"


def _component(c: Certificate, k: int) -> Component:
    value = float(c.eigenvalues[k]) / c.n_samples
    low, high = (float(end) / c.n_samples for end in c.likely[k])
    certain_low, certain_high = (float(end) / c.n_samples for end in c.certain[k])
    error = max(high - value, value - low) / value
    color = "green" if error <= GREEN else "amber" if error <= AMBER else "red"
    angle = float(c.likely_angles[k])
    return Component(value, low, high, certain_low, certain_high, error, angle, color)


def _overall(components: tuple[Component, ...]) -> str:
    if all(c.color == "green" for c in components):
        return "green"
    return "red" if components[0].color == "red" else "amber"


def _headline(color: str, components: tuple[Component, ...]) -> str:
    n, worst = len(components), max(c.error for c in components)
    first = error_in_words(components[0].error)
    known = f"known to within {error_in_words(GREEN)}"
    if color == "green":
        which = "The eigenvalue" if n == 1 else f"All {n} eigenvalues"
        if worst < _ROUNDING:
            return f"{which} {'equals that' if n == 1 else 'equal those'} of exact kernel PCA."
        verb = "is" if n == 1 else "are"
        return f"{which} {verb} within {error_in_words(worst)} of exact kernel PCA."
    if color == "red":
        return f"Even the first eigenvalue may be off by {first}: do not rely on this model yet."
    if n == 1:
        return f"The eigenvalue is not {known}: it may be off by {first}."
    good, off = sum(c.color == "green" for c in components), error_in_words(worst)
    if not good:
        return f"No eigenvalue is {known}: the first may be off by {first}, the worst by {off}."
    verb = "is" if good == 1 else "are"
    return f"{good} of {n} eigenvalues {verb} {known}; the worst may be off by {off}."


def _basis(model: FittedModel, c: Certificate, first: Component) -> str:
    """Return a sentence on the basis of the intervals."""
    if model.system.exact:
        return (
            "This is guaranteed: the eigenproblem uses the data themselves, and only their part "
            "outside the span of the basis is missing."
        )
    if not _is_estimated(c):
        return "This is guaranteed: it follows from how far the rows are from their centers."
    certain = max(first.certain_high - first.value, first.value - first.certain_low) / first.value
    guaranteed = (
        f"shows only that the first eigenvalue is off by at most {error_in_words(certain)}"
        if certain < 1
        else "is too weak to be useful"
    )
    return (
        f"This is valid with {percent(c.confidence)} confidence, as estimated during the pass over "
        f"the data. The guaranteed bound {guaranteed}."
    )


def _is_estimated(c: Certificate) -> bool:
    given = any(level.confidence < 1 and level.operator is not None for level in c.levels)
    return given and not np.array_equal(c.likely, c.certain)


def _limits(color: str) -> list[str]:
    if color == "green":
        return []
    return [
        "This is an upper bound; the actual error is often much smaller. The plots may well be "
        "correct, but do not rely on the values of amber or red components."
    ]


def _angle(c: Certificate) -> str:
    known = np.flatnonzero(~np.isnan(c.likely_angles))
    if not len(known):
        return "The directions are unknown, because the eigengaps are too small for this error."
    last = int(known[-1])
    space = "first component" if last == 0 else f"space of the first {last + 1} components"
    bound = angle_in_words(float(c.likely_angles[last]))
    return f"The {space} is rotated by at most {bound} from the exact one."


def _ties(components: tuple[Component, ...]) -> list[str]:
    """Name neighboring components that cannot be separated although their joint space is known."""
    tied = [
        f"{k + 1} and {k + 2}"
        for k, (one, two) in enumerate(pairwise(components))
        if math.isnan(one.angle) and not math.isnan(two.angle)
    ]
    if not tied:
        return []
    return [f"Components {', '.join(tied)} are too close to separate; interpret them together."]


def _grid(model: FittedModel, c: Certificate) -> list[str]:
    """Warn about integer data, for which the estimate is invalid if the grid is coarse."""
    if c.radius is None or c.radius >= _FEW_STEPS or not _is_estimated(c):
        return []
    centers = model.reduced_set.centers
    if not (centers == np.round(centers)).all():
        return []
    return [
        f"Caution: all values are integers, and the radius {c.radius:.3g} is only a few grid "
        "steps. The estimate is invalid for such data; rely on the guaranteed bound instead."
    ]


def _without_certificate(model: FittedModel) -> Verdict:
    sentences = [
        "Certificates exist only for kernel PCA on a reduced set. To check this model, fit it "
        "again with more centers and compare the plots."
    ]
    points, scale = model.reduced_set, model.kernel.scale
    if points.displacement is not None:
        mean = float(points.displacement.sum()) / points.n_samples / scale
        most = "" if points.radius is None else f", and at most {points.radius / scale:.2g}"
        sentences.append(f"On average, a row is {mean:.2g} bandwidths from its center{most}.")
    return Verdict("none", "This model has no error certificate.", tuple(sentences))

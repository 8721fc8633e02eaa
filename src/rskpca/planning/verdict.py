"""The verdict on a fitted model: its certificate in plain words and in green, amber or red."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .._format import percent
from ..certificate import Certificate
from ..model import FittedModel

GREEN, AMBER = 0.1, 0.5  # largest relative errors of a green and of an amber eigenvalue
_ROUNDING = 1e-8  # relative errors below this are called rounding error
_SMALLEST_ANGLE = 0.01  # degrees; a bound is never rounded to zero
_FEW_STEPS = 3  # a radius below this many grid steps moves all rows alike


@dataclass(frozen=True)
class Component:
    """The bounds on one eigenvalue, all divided by n.

    Attributes
    ----------
    value : float
        The eigenvalue of the model.
    low, high : float
        The interval of the exact eigenvalue, at the confidence of the certificate.
    certain_low, certain_high : float
        The guaranteed interval.
    error : float
        The largest relative error within ``low`` and ``high``.
    angle : float
        Upper bound on the angle between the leading spaces, in degrees. NaN if the eigengap is
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
    """How far a model can be trusted.

    Attributes
    ----------
    color : str
        "green" if every eigenvalue is known to within 10%, "red" if the first is not known to
        within 50%, "amber" in between, and "none" without a certificate.
    headline : str
        One sentence.
    sentences : tuple of str
        What the headline is based on, and its limits.
    components : tuple of Component
        One per eigenvalue; empty without a certificate.
    """

    color: str
    headline: str
    sentences: tuple[str, ...]
    components: tuple[Component, ...] = ()


def judge(model: FittedModel) -> Verdict:
    """Return the verdict on a fitted model.

    Parameters
    ----------
    model : FittedModel
        The model; its cached certificate is used.

    Returns
    -------
    Verdict
        Its color and its sentences.
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
        *(f"No {c.name} bound: {c.missing}." for c in certificate.levels if c.missing),
    ]
    return Verdict(color, _headline(color, components), tuple(sentences), components)


def error_in_words(error: float) -> str:
    """Return a relative error as a percentage of two digits."""
    if error < _ROUNDING:
        return "rounding error"
    return f"{100 * error:.2g}%" if error < 0.995 else "100% or more"


def angle_in_words(angle: float) -> str:
    """Return a bound on an angle in degrees."""
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
    """Return what the intervals are based on."""
    if model.system.exact:
        return (
            "This is guaranteed: the eigenproblem uses the data themselves, and only their part "
            "outside the span of the basis is missing."
        )
    if not _is_estimated(c):
        return "This is guaranteed: it follows from how far the rows are from their centers."
    certain = max(first.certain_high - first.value, first.value - first.certain_low) / first.value
    guaranteed = (
        f"says only that the first eigenvalue is off by at most {error_in_words(certain)}"
        if certain < 1
        else "is too weak to be useful"
    )
    return (
        f"This holds with {percent(c.confidence)} confidence, as estimated during the pass over "
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
        "right, but do not rely on the values of amber or red components."
    ]


def _angle(c: Certificate) -> str:
    known = np.flatnonzero(~np.isnan(c.likely_angles))
    if not len(known):
        return "Nothing is known about directions: the eigengaps are too small for this error."
    last = int(known[-1])
    space = "first component" if last == 0 else f"space of the first {last + 1} components"
    bound = angle_in_words(float(c.likely_angles[last]))
    return f"The {space} is rotated by at most {bound} from the exact one."


def _ties(components: tuple[Component, ...]) -> list[str]:
    """Name neighbors that cannot be ordered although their common space is known."""
    tied = [
        f"{k + 1} and {k + 2}"
        for k, (one, two) in enumerate(pairwise(components))
        if math.isnan(one.angle) and not math.isnan(two.angle)
    ]
    if not tied:
        return []
    return [f"Components {', '.join(tied)} are too close to separate: interpret them together."]


def _grid(model: FittedModel, c: Certificate) -> list[str]:
    """Warn of whole numbers, for which the estimate is not valid if the grid is coarse."""
    if c.radius is None or c.radius >= _FEW_STEPS or not _is_estimated(c):
        return []
    centers = model.reduced_set.centers
    if not (centers == np.round(centers)).all():
        return []
    return [
        f"Caution: all values are whole numbers, and the radius {c.radius:.3g} is only a few steps "
        "of that grid. The estimate is not valid for such data; rely on the guaranteed bound."
    ]


def _without_certificate(model: FittedModel) -> Verdict:
    sentences = [
        "Certificates exist for kernel PCA on a reduced set. To see how far to trust this model, "
        "fit it again with more centers and compare the plots."
    ]
    points, scale = model.reduced_set, model.kernel.scale
    if points.displacement is not None:
        mean = float(points.displacement.sum()) / points.n_samples / scale
        most = "" if points.radius is None else f", and at most {points.radius / scale:.2g}"
        sentences.append(f"On average, a row is {mean:.2g} bandwidths from its center{most}.")
    return Verdict("none", "This model has no error certificate.", tuple(sentences))

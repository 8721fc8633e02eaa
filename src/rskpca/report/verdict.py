"""The certificate in plain words, and in green, amber or red."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .._format import percent
from ..certificate import Certificate
from .subject import Subject

GREEN, AMBER = 0.1, 0.5  # how far off an eigenvalue may be, relative to itself
_ROUNDING = 1e-8  # a share that is none in practice
_LEAST_ANGLE = 0.01
_FEW_STEPS = 3  # a radius of less than this many steps of a grid moves all rows alike


@dataclass(frozen=True)
class Component:
    """One eigenvalue, divided by n, and what is known of it.

    Attributes
    ----------
    value, low, high : float
        The eigenvalue, and the interval that holds the exact one at the confidence.
    certain_low, certain_high : float
        The interval that always holds it.
    off : float
        How far off it may be at the confidence, relative to itself.
    angle : float
        Bounds the angle of the leading spaces, in degrees; NaN where nothing is known.
    colour : str
        "green", "amber" or "red".
    """

    value: float
    low: float
    high: float
    certain_low: float
    certain_high: float
    off: float
    angle: float
    colour: str


@dataclass(frozen=True)
class Verdict:
    """What the certificate comes to.

    Attributes
    ----------
    colour : str
        Green where every eigenvalue is known to within a tenth; red where the first is not
        known to within a half; "none" without a certificate; amber in between.
    headline : str
        One sentence.
    sentences : tuple of str
        What it rests on, and how far it goes.
    components : tuple of Component
        One for each eigenvalue.
    """

    colour: str
    headline: str
    sentences: tuple[str, ...]
    components: tuple[Component, ...] = ()


def judge(subject: Subject) -> Verdict:
    """What is known of the error of a model, in words."""
    certificate = subject.certificate
    if certificate is None:
        return _without_certificate(subject)
    components = tuple(_component(certificate, k) for k in range(len(certificate.eigenvalues)))
    colour = _worst(components)
    return Verdict(
        colour,
        _headline(colour, components),
        (
            *_ground(certificate, components),
            *_use(colour),
            *_angles(certificate),
            *_ties(components),
            *_grid(subject, certificate),
            *_missing(certificate),
        ),
        components,
    )


def _component(c: Certificate, k: int) -> Component:
    value = float(c.eigenvalues[k]) / c.n_samples
    low, high, certain_low, certain_high = (
        float(end) / c.n_samples for end in (*c.likely[k], *c.certain[k])
    )
    off = max(high - value, value - low) / value
    colour = "green" if off <= GREEN else "amber" if off <= AMBER else "red"
    angle = float(c.likely_angles[k])
    return Component(value, low, high, certain_low, certain_high, off, angle, colour)


def _worst(components: tuple[Component, ...]) -> str:
    if all(c.colour == "green" for c in components):
        return "green"
    return "red" if components[0].colour == "red" else "amber"


def _headline(colour: str, components: tuple[Component, ...]) -> str:
    count, first, worst = len(components), components[0].off, max(c.off for c in components)
    if colour == "green":
        which = "The eigenvalue is" if count == 1 else f"All {count} eigenvalues are"
        return f"{which} {_within(worst)} exact kernel PCA."
    if colour == "red":
        return (
            f"Even the first eigenvalue may be off by {at_most(first)}: do not rely on this "
            "model yet."
        )
    good = sum(c.colour == "green" for c in components)
    known = f"known to within {at_most(GREEN)}"
    if count == 1:
        return f"The eigenvalue is not {known}: it may be off by {at_most(first)}."
    if not good:
        return (
            f"No eigenvalue is {known}: the first may be off by {at_most(first)}, the worst by "
            f"{at_most(worst)}."
        )
    return f"{good} of {count} eigenvalues are {known}; the worst may be off by {at_most(worst)}."


def _within(off: float) -> str:
    return "those of" if off < _ROUNDING else f"within {at_most(off)} of"


def at_most(off: float) -> str:
    """How far off an eigenvalue may be, in words."""
    if off < _ROUNDING:
        return "rounding"
    return f"{100 * off:.2g}%" if off < 0.995 else "all of its size"


def _ground(c: Certificate, components: tuple[Component, ...]) -> list[str]:
    """What the intervals rest on."""
    if any(level.name == "exact" for level in c.levels):
        return [
            "This always holds: the data themselves are in the operator, and only what the "
            "basis cannot hold is missing."
        ]
    if not _is_estimated(c):
        return ["This always holds: it follows from how far rows were moved to their centers."]
    first = components[0]
    certain = max(first.certain_high - first.value, first.value - first.certain_low) / first.value
    sure = f"says only that the first eigenvalue is off by at most {at_most(certain)}"
    return [
        f"This holds at {percent(c.confidence)} confidence, estimated at random frequencies in "
        "the pass over the data. What holds without any estimate "
        f"{sure if certain < 1 else 'is too weak to be of use'}.",
    ]


def _use(colour: str) -> list[str]:
    """What a colour that is not green means in practice."""
    if colour == "green":
        return []
    return [
        "This is what can be shown; the error itself is often much smaller. The pictures may be "
        "right all the same, but do not rely on the size of what is amber or red."
    ]


def _is_estimated(c: Certificate) -> bool:
    given = any(level.confidence < 1 and level.operator is not None for level in c.levels)
    return given and not np.array_equal(c.likely, c.certain)


def _angles(c: Certificate) -> list[str]:
    known = np.flatnonzero(~np.isnan(c.likely_angles))
    if not len(known):
        return [
            "Of directions nothing can be said: the gaps between eigenvalues are too small "
            "against the error."
        ]
    last = int(known[-1])
    space = "first component" if last == 0 else f"space of the first {last + 1} components"
    turned = degrees(float(c.likely_angles[last]))
    return [f"The {space} is turned by at most {turned} from the exact one."]


def degrees(angle: float) -> str:
    """An angle that bounds another: never rounded to nothing."""
    return f"{max(angle, _LEAST_ANGLE):.2g}°"


def _ties(components: tuple[Component, ...]) -> list[str]:
    """Neighbours whose order is not known, where their common space is."""
    tied = [
        f"{k + 1} and {k + 2}"
        for k, (one, two) in enumerate(pairwise(components))
        if math.isnan(one.angle) and not math.isnan(two.angle)
    ]
    if not tied:
        return []
    return [f"Components {', '.join(tied)} are too close to tell apart: read them together."]


def _grid(subject: Subject, c: Certificate) -> list[str]:
    """The estimate is not for rows on a coarse grid."""
    rows, radius = subject.rows, c.radius
    if radius is None or radius >= _FEW_STEPS or not _is_estimated(c):
        return []
    if not (rows == np.round(rows)).all():
        return []
    return [
        f"Caution: the rows hold whole numbers, and the radius {radius:.3g} is only a few steps "
        "of that grid. The estimate is not made for such data; rely on what always holds."
    ]


def _missing(c: Certificate) -> list[str]:
    return [f"No {level.name} statement: {level.missing}." for level in c.levels if level.missing]


def _without_certificate(subject: Subject) -> Verdict:
    name = subject.kind
    sentences = [
        "Certificates are for kernel PCA on a reduced set. To see how much to trust this "
        "model, fit it again with more centers and compare the pictures."
    ]
    found = getattr(subject.embedding, "reduced_set_", None)
    if found is not None and found.displacement is not None:
        moved = float(found.displacement.sum()) / found.n_samples / subject.embedding.kernel_.scale
        sentences.append(
            f"On average a row was moved by {moved:.2g} bandwidths to its center"
            + (
                f", and none by more than {found.radius / subject.embedding.kernel_.scale:.2g}."
                if found.radius is not None
                else "."
            )
        )
    return Verdict("none", f"No certificate: {name} has none.", tuple(sentences))

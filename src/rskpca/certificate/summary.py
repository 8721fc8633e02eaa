"""Summarizing a certificate in one or two sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._format import percent
from .sampled import MOST_COMPONENTS

if TYPE_CHECKING:
    from .certificate import Certificate

Array = NDArray[np.floating]

# The squared error is one minus a share of variance, whose rounding error is about 1e-15.
ROUNDING = 1e-7
_SMALLEST = 1e-4  # smaller errors are reported only as "less than" this
_UNKNOWN = 0.995  # larger limits are rounded to 100%, which excludes nothing


def summarize(c: Certificate) -> str:
    """Describe the coordinate error or, if it is unknown, the eigenvalue bounds."""
    if c.embedding is None:
        return f"{_missing(c)} {_eigenvalues(c)}"
    return " ".join([_coordinates(c), *_labels(c), *_tie(c)])


def eigenvalue_errors(c: Certificate, intervals: Array) -> Array:
    """Return the largest relative error that each eigenvalue's interval allows."""
    ends = np.abs(intervals - c.eigenvalues[:, None]).max(axis=1)
    return np.asarray(ends / c.eigenvalues)


def _coordinates(c: Certificate) -> str:
    assert c.embedding is not None
    value, limit = c.embedding
    confidence = "" if c.all_rows else f", with {percent(c.confidence)} confidence"
    if limit < ROUNDING:
        return f"Coordinates equal those of exact {c.method} up to rounding{confidence}."
    differ = f"Coordinates differ from those of exact {c.method} by"
    if limit < _SMALLEST:
        return f"{differ} less than {percent(_SMALLEST)}{confidence}."
    if c.all_rows:
        most = "" if percent(value) == percent(limit) else f" (at most {percent(limit)})"
        return f"{differ} {percent(value)}{most}, measured on all rows."
    if limit > _UNKNOWN:
        return f"{differ} an estimated {percent(value)}, and possibly by 100%."
    return f"{differ} an estimated {percent(value)} (at most {percent(limit)}{confidence})."


def _labels(c: Certificate) -> list[str]:
    """Describe the share of rows whose cluster is uncertain."""
    if c.labels is None:
        return []
    value, limit = c.labels
    most = "" if percent(value) == percent(limit) else f" (at most {percent(limit)})"
    return [f"The label could change for {percent(value)} of the rows{most}."]


def _tie(c: Certificate) -> list[str]:
    if c.better_components is None:
        return []
    r = len(c.eigenvalues)
    return [
        f"Components {r} and {r + 1} have nearly equal eigenvalues, so the choice between them is "
        f"arbitrary; n_components={c.better_components} avoids this."
    ]


def _missing(c: Certificate) -> str:
    """Explain why the coordinate error is not known, and how to estimate it."""
    unknown = "The error of the coordinates is not estimated"
    if len(c.eigenvalues) > MOST_COMPONENTS:
        return f"{unknown} for more than {MOST_COMPONENTS} components."
    reason = c.level("sample").missing.partition(" (")[0]  # without the possible causes
    hint = "; use the default, ShadowDensity(sample_size=2000)" if "row sample" in reason else ""
    return f"{unknown}, because {reason}{hint}."


def _eigenvalues(c: Certificate) -> str:
    """Describe the intervals of the eigenvalues."""
    errors = eigenvalue_errors(c, c.likely)
    guaranteed = np.array_equal(c.likely, c.certain)
    how = "guaranteed" if guaranteed else f"with {percent(c.confidence)} confidence"
    if errors.max() < ROUNDING:
        return f"But the model equals exact {c.method} up to rounding ({how})."
    if errors[0] >= 1:
        return "The bounds on the eigenvalues are too wide to be useful."
    first = f"The first eigenvalue is within {_at_most(errors[0])} of that of exact {c.method}"
    if len(errors) == 1:
        return f"{first} ({how})."
    last = f"the last within {_at_most(errors[-1])}" if errors[-1] < 1 else "the last is unknown"
    return f"{first}, {last} ({how})."


def _at_most(error: float) -> str:
    return percent(max(error, _SMALLEST))

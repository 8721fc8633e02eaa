"""Descriptions of a certificate: a summary of one or two sentences, and tables as text or HTML."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._format import percent
from .sampled import MOST_COMPONENTS

if TYPE_CHECKING:
    from .certificate import Certificate
    from .levels import Level

Array = NDArray[np.floating]
Rows = list[tuple[str, ...]]

# The squared error is one minus a share of variance, whose rounding error is about 1e-15.
ROUNDING = 1e-7
SMALLEST = 1e-4  # smaller errors are reported only as "less than" this
_SEPARATE = 1e-6  # clusters are separate if a walk needs more than 1 / _SEPARATE steps to leave one
_UNKNOWN = 0.995  # larger limits are rounded to 100%, which is not informative
_MAX_COMPONENTS = 20  # largest number of rows in the table


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
    if limit < SMALLEST:
        return f"{differ} less than {percent(SMALLEST)}{confidence}."
    if c.all_rows:
        most = "" if percent(value) == percent(limit) else f" (at most {percent(limit)})"
        return f"{differ} {percent(value)}{most}, measured on all rows."
    if limit > _UNKNOWN:
        return _no_limit(c)
    return f"{differ} an estimated {percent(value)} (at most {percent(limit)}{confidence})."


def _no_limit(c: Certificate) -> str:
    """Describe a coordinate error whose upper limit is not informative."""
    assert c.embedding is not None
    if not _unlimited_walk(c):
        return (
            f"Coordinates may be unrelated to those of exact {c.method}: the estimated error is "
            f"{percent(c.embedding.estimate)}, and the row sample does not exclude 100%."
        )
    labels = "" if c.labels is None else " and of the labels"
    unknown = f"The error of the coordinates{labels} is unknown, because"
    if _has_separate_clusters(c):
        return (
            f"{unknown} the data consist of separate clusters at this bandwidth, whose eigenvalues "
            "equal 1 up to rounding. If you expect these clusters, the bandwidth is suitable."
        )
    # A kernel that is narrow for all rows connects too few of the sampled ones.
    return f"{unknown} the bandwidth is too small for the row sample; a larger one may help."


def _has_separate_clusters(c: Certificate) -> bool:
    """Return True if the walk has more eigenvalues of 1 than connected data have."""
    n_constant = 0 if c.labels is None else 1  # of the eigenfunctions in the certificate
    return int(np.sum(c.eigenvalues > 1 - _SEPARATE)) > n_constant


def _unlimited_walk(c: Certificate) -> bool:
    unlimited = c.embedding is not None and c.embedding.limit > _UNKNOWN
    return unlimited and not c.all_rows and c.method != "kernel PCA"


def _labels(c: Certificate) -> list[str]:
    """Describe the share of rows whose cluster is uncertain."""
    if c.labels is None or _unlimited_walk(c):
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
    last = (
        f"the last within {_at_most(errors[-1])}"
        if errors[-1] < 1
        else "the error of the last is unknown"
    )
    return f"{first}, and {last} ({how})."


def _at_most(error: float) -> str:
    return percent(max(error, SMALLEST))


# ------------------------------------------------------------------ tables


def to_text(c: Certificate) -> str:
    """Return the summary, the size of the model, two aligned tables and notes as text."""
    tables = _align(_level_rows(c)), _align(_component_rows(c))
    return "\n\n".join([c.summary, _size(c), *tables, *_notes(c)])


def to_html(c: Certificate) -> str:
    """Return the certificate as HTML, for notebooks, with the same content as :func:`to_text`."""
    tables = _html_table(_level_rows(c)) + _html_table(_component_rows(c))
    notes = "".join(f"<p>{escape(note)}</p>" for note in _notes(c))
    return f"<p><strong>{escape(c.summary)}</strong></p><p>{escape(_size(c))}</p>{tables}{notes}"


def _size(c: Certificate) -> str:
    radius = "with unknown radius" if c.radius is None else f"with radius {c.radius:.4g}"
    ell = "" if c.ell is None else f" (ell = {c.ell:.3g})"
    kind = ("centered " if c.centered else "plain ") if c.method == "kernel PCA" else ""
    return (
        f"Certificate of {kind}{c.method}: {c.n_centers:,} centers {radius}{ell} for "
        f"{c.n_samples:,.10g} rows"
    )


def _level_rows(c: Certificate) -> Rows:
    header = ("upper bound", "MMD", "operator", "eigenvalue / n", "validity", "source")
    return [header, *map(_level_row, c.levels)]


def _level_row(level: Level) -> tuple[str, ...]:
    validity = "guaranteed" if level.confidence == 1 else f"{_percent(level.confidence)} confidence"
    validity = "these rows" if level.name == "measured" else validity
    numbers = (level.mmd, level.operator, level.eigenvalue)
    return level.name, *map(_number, numbers), validity, level.meaning


def _component_rows(c: Certificate) -> Rows:
    confidence = _percent(c.confidence)
    header = (
        "component", "eigenvalue", "guaranteed interval", f"{confidence} interval",
        "guaranteed angle", f"{confidence} angle",
    )  # fmt: skip
    values = zip(c.eigenvalues, c.certain, c.likely, c.certain_angles, c.likely_angles, strict=True)
    rows = [
        (str(i), _number(value), _interval(*certain), _interval(*likely), *map(_angle, angles))
        for i, (value, certain, likely, *angles) in enumerate(values, 1)
    ][:_MAX_COMPONENTS]
    if c.rayleigh is None:
        return [header, *rows]
    lower = ["lower bound on these rows", *map(_number, c.rayleigh)]
    return [(*row, bound) for row, bound in zip([header, *rows], lower, strict=False)]


def _notes(c: Certificate) -> list[str]:
    notes = [f"{level.name}: {level.missing}." for level in c.levels if level.missing]
    if c.cut is not None:
        notes.append(f"Normalized cut of the reduced set: {c.cut:.4g}.")
    more = len(c.eigenvalues) - _MAX_COMPONENTS
    return [*notes, f"{more} more components; to_dict() lists all."] if more > 0 else notes


def _percent(confidence: float) -> str:
    return f"{100 * confidence:.4g}%"


def _number(value: float | None) -> str:
    return "-" if value is None or not math.isfinite(value) else f"{value:.3g}"


def _interval(low: float, high: float) -> str:
    return f"[{low:.4g}, {high:.4g}]"


def _angle(value: float) -> str:
    return "n/a (eigengap too small)" if math.isnan(value) else f"{value:.2g} deg"


def _align(rows: Rows) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _html_table(rows: Rows) -> str:
    head = _html_row(rows[0], "th")
    body = "".join(_html_row(row, "td") for row in rows[1:])
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def _html_row(row: tuple[str, ...], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) + "</tr>"

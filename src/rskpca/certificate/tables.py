"""Formatting a certificate as text and as HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .certificate import Certificate
    from .levels import Level

_MAX_COMPONENTS = 20
TOO_SMALL = "n/a (eigengap too small)"


def text(certificate: Certificate) -> str:
    """Return the summary, the size of the model, two aligned tables and notes."""
    parts = [
        certificate.summary,
        _size(certificate),
        _align(_level_rows(certificate)),
        _align(_component_rows(certificate)),
        *_notes(certificate),
    ]
    return "\n\n".join(parts)


def html(certificate: Certificate) -> str:
    """Return the same as HTML, for notebooks."""
    tables = (_level_rows(certificate), _component_rows(certificate))
    notes = "".join(f"<p>{escape(note)}</p>" for note in _notes(certificate))
    summary = f"<p><strong>{escape(certificate.summary)}</strong></p>"
    size = f"<p>{escape(_size(certificate))}</p>"
    return summary + size + "".join(map(_table, tables)) + notes


def _size(c: Certificate) -> str:
    radius = "with unknown radius" if c.radius is None else f"with radius {c.radius:.4g}"
    ell = "" if c.ell is None else f" (ell = {c.ell:.3g})"
    kind = ("centered " if c.centered else "plain ") if c.method == "kernel PCA" else ""
    return (
        f"Certificate of {kind}{c.method}: {c.n_centers:,} centers {radius}{ell} for "
        f"{c.n_samples:,.10g} rows"
    )


def _level_rows(c: Certificate) -> list[tuple[str, ...]]:
    header = ("upper bound", "MMD", "operator", "eigenvalue / n", "validity", "source")
    return [header, *(_level_row(level) for level in c.levels)]


def _level_row(level: Level) -> tuple[str, ...]:
    validity = "guaranteed" if level.confidence == 1 else f"{_percent(level.confidence)} confidence"
    validity = "these rows" if level.name == "measured" else validity
    numbers = (level.mmd, level.operator, level.eigenvalue)
    return level.name, *map(_number, numbers), validity, level.meaning


def _component_rows(c: Certificate) -> list[tuple[str, ...]]:
    confidence = _percent(c.confidence)
    header = (
        "component", "eigenvalue", "guaranteed interval", f"{confidence} interval",
        "guaranteed angle", f"{confidence} angle",
    )  # fmt: skip
    values = zip(c.eigenvalues, c.certain, c.likely, c.certain_angles, c.likely_angles, strict=True)
    rows = [
        (str(i), _number(value), _interval(*certain), _interval(*likely), *map(_angle, angles))
        for i, (value, certain, likely, *angles) in enumerate(islice(values, _MAX_COMPONENTS), 1)
    ]
    if c.rayleigh is None:
        return [header, *rows]
    lower = ["lower bound on these rows", *map(_number, c.rayleigh)]
    return [(*row, bound) for row, bound in zip([header, *rows], lower, strict=False)]


def _notes(c: Certificate) -> list[str]:
    notes = [f"{level.name}: {level.missing}." for level in c.levels if level.missing]
    if c.cut is not None:
        notes.append(f"Normalized cut of the reduced set: {c.cut:.4g}.")
    if len(c.eigenvalues) > _MAX_COMPONENTS:
        notes.append(
            f"{len(c.eigenvalues) - _MAX_COMPONENTS} more components; to_dict() contains all."
        )
    return notes


def _percent(confidence: float) -> str:
    return f"{100 * confidence:.4g}%"


def _number(value: float | None) -> str:
    return "-" if value is None or not math.isfinite(value) else f"{value:.3g}"


def _interval(low: float, high: float) -> str:
    return f"[{low:.4g}, {high:.4g}]"


def _angle(value: float) -> str:
    return TOO_SMALL if math.isnan(value) else f"{value:.2g} deg"


def _align(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join(lines)


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:]
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

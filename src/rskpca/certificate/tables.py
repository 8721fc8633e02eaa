"""A certificate as text and as HTML: the same rows, twice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .certificate import Certificate
    from .levels import Level

_SHOWN = 20
TOO_SMALL = "the gap is too small to say"


def text(certificate: Certificate) -> str:
    """Headline and two aligned tables."""
    parts = [
        _headline(certificate),
        _aligned(_level_rows(certificate)),
        _aligned(_component_rows(certificate)),
        *_notes(certificate),
    ]
    return "\n\n".join(parts)


def html(certificate: Certificate) -> str:
    """The same for a notebook."""
    tables = (_level_rows(certificate), _component_rows(certificate))
    notes = "".join(f"<p>{escape(note)}</p>" for note in _notes(certificate))
    return f"<p>{escape(_headline(certificate))}</p>" + "".join(map(_table, tables)) + notes


def _headline(c: Certificate) -> str:
    radius = "of unknown radius" if c.radius is None else f"of radius {c.radius:.4g}"
    ell = "" if c.ell is None else f" (ell {c.ell:.3g})"
    kind = "centered" if c.centered else "plain"
    return (
        f"Certificate: {c.n_centers:,} centers {radius}{ell} for {c.n_samples:,.10g} points, "
        f"{kind} kernel PCA"
    )


def _level_rows(c: Certificate) -> list[tuple[str, ...]]:
    header = ("error at most", "MMD", "operator", "eigenvalue / n", "holds", "from")
    return [header, *(_level_row(level) for level in c.levels)]


def _level_row(level: Level) -> tuple[str, ...]:
    holds = "always" if level.confidence == 1 else f"at {level.confidence:.3g}"
    holds = "on these rows" if level.name == "measured" else holds
    numbers = (level.mmd, level.operator, level.eigenvalue)
    return level.name, *map(_number, numbers), holds, level.meaning


def _component_rows(c: Certificate) -> list[tuple[str, ...]]:
    at = f"at {c.confidence:.3g}"
    header = (
        "component", "eigenvalue", "always in", f"{at} in", "angle, always", f"angle, {at}",
    )  # fmt: skip
    rows = zip(c.eigenvalues, c.certain, c.likely, c.certain_angles, c.likely_angles, strict=True)
    shown = [
        (str(i + 1), _number(value), _interval(*certain), _interval(*likely), *map(_angle, angles))
        for i, (value, certain, likely, *angles) in enumerate(rows)
        if i < _SHOWN
    ]
    if c.rayleigh is None:
        return [header, *shown]
    seen = ["on these rows at least", *map(_number, c.rayleigh)]
    return [(*row, at_least) for row, at_least in zip([header, *shown], seen, strict=False)]


def _notes(c: Certificate) -> list[str]:
    notes = [f"{level.name}: {level.missing}." for level in c.levels if level.missing]
    if len(c.eigenvalues) > _SHOWN:
        notes.append(f"{len(c.eigenvalues) - _SHOWN} more components: to_dict() has all.")
    return notes


def _number(value: float | None) -> str:
    return "-" if value is None or not math.isfinite(value) else f"{value:.3g}"


def _interval(low: float, high: float) -> str:
    return f"[{low:.4g}, {high:.4g}]"


def _angle(value: float) -> str:
    return TOO_SMALL if math.isnan(value) else f"{value:.2g} deg"


def _aligned(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join(lines)


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:]
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

"""Rows as a plain-text table."""

from __future__ import annotations

from collections.abc import Sequence

from .rows import Row

HEADER = ("case", "seen", "wanted", "", "made from", "note")


def table(rows: Sequence[Row], *, judged: bool) -> str:
    """Aligned columns; ``judged`` marks each row that has a wanted value."""
    lines = [HEADER, *(_cells(row, judged) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def _cells(row: Row, judged: bool) -> tuple[str, ...]:
    wanted = "" if row.wanted is None else f"{row.wanted.sign} {row.wanted.value:g} {row.unit}"
    mark = {None: "", True: "pass", False: "MISS"}[row.met if judged else None]
    parts = ", ".join(f"{name} {_number(v)} {row.parts_unit}" for name, v in row.parts.items())
    note = "; ".join(filter(None, (row.note, row.stand_in)))
    return row.case, f"{_number(row.seen)} {row.unit}", wanted, mark, parts, note


def _number(value: float) -> str:
    """Three digits."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:#.3g}"

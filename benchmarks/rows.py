"""Result rows with their targets, and the plain-text table that shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .timing import Timed


class Wanted(NamedTuple):
    """Target for a measured value; ``sign`` is ">=" for at least or "<" for below."""

    sign: str
    value: float

    def met(self, seen: float) -> bool:
        return bool(seen >= self.value if self.sign == ">=" else seen < self.value)


@dataclass(frozen=True)
class Row:
    """One measured value; ``parts`` are the numbers from which ``seen`` is computed.

    ``stand_in`` is empty, or a note that the data set is missing and was replaced by other data.
    """

    case: str
    seen: float
    unit: str
    wanted: Wanted | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    parts_unit: str = "s"
    note: str = ""
    stand_in: str = ""

    @property
    def met(self) -> bool | None:
        """True if the target is met; None if there is no target or the data set is missing."""
        return None if self.wanted is None or self.stand_in else self.wanted.met(self.seen)


def ratio(
    case: str,
    timed: Mapping[str, Timed],
    fast: str,
    slow: str,
    *,
    at_least: float | None = None,
    note: str = "",
    stand_in: str = "",
) -> Row:
    """Return the time of ``slow`` divided by the time of ``fast``."""
    parts = {name: timed[name].seconds for name in (fast, slow)}
    wanted = None if at_least is None else Wanted(">=", at_least)
    return Row(case, parts[slow] / parts[fast], "x", wanted, parts, note=note, stand_in=stand_in)


HEADER = ("case", "measured", "target", "", "parts", "note")


def format_table(rows: Sequence[Row], *, with_targets: bool) -> str:
    """Return a table with aligned columns; ``with_targets`` marks targets as met or missed."""
    lines = [HEADER, *(_cells(row, with_targets) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def _cells(row: Row, with_targets: bool) -> tuple[str, ...]:
    wanted = "" if row.wanted is None else f"{row.wanted.sign} {row.wanted.value:g} {row.unit}"
    mark = {None: "", True: "pass", False: "MISS"}[row.met if with_targets else None]
    parts = ", ".join(f"{name} {_format(v)} {row.parts_unit}" for name, v in row.parts.items())
    note = "; ".join(filter(None, (row.note, row.stand_in)))
    return row.case, f"{_format(row.seen)} {row.unit}", wanted, mark, parts, note


def _format(value: float) -> str:
    """Format a value with three significant digits."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:#.3g}"

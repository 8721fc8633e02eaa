"""What a benchmark returns: rows that know what was wanted and what was seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from .timing import Timed


class Wanted(NamedTuple):
    """A bound on what is seen: at least, or below."""

    sign: str
    value: float

    def met(self, seen: float) -> bool:
        return bool(seen >= self.value if self.sign == ">=" else seen < self.value)


@dataclass(frozen=True)
class Row:
    """One line of a table. ``parts`` are the numbers that ``seen`` was made from."""

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
        """None where nothing is wanted, or where other data stand in for the wanted ones."""
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
    """How many times the time of ``fast`` is that of ``slow``."""
    parts = {name: timed[name].seconds for name in (fast, slow)}
    wanted = None if at_least is None else Wanted(">=", at_least)
    return Row(case, parts[slow] / parts[fast], "x", wanted, parts, note=note, stand_in=stand_in)

"""What ``frontier`` has measured as a Markdown table: who gets to an error first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .frontier import Unit, cheapest, label, of, title
from .frontier_settings import OURS, PEERS

ERRORS = (0.1, 0.03, 0.01, 0.003, 0.001)
HEADER = (
    "data", "error at most", "rskpca, fit", "scikit-learn, fit", "times as fast",
    "rskpca, transform 1,000", "scikit-learn, transform 1,000", "times as fast",
)  # fmt: skip


def markdown(units: Sequence[Unit]) -> str:
    """A line for each data set and error that both sides reach, or one of them."""
    lines = [HEADER, ("---",) * len(HEADER), *(line for unit in units for line in _lines(unit))]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _lines(unit: Unit) -> Iterator[tuple[str, ...]]:
    name = title(unit)
    for limit in ERRORS:
        cells = _cells(unit, limit, "fit"), _cells(unit, limit, "transform")
        if any(cell != "-" for cell in cells[0]):
            yield name, f"{limit:.1%}", *cells[0], *cells[1]
            name = ""


def _cells(unit: Unit, limit: float, cost: str) -> tuple[str, str, str]:
    """The cheapest of each side, and how many times ours is as fast."""
    ours, theirs = (cheapest(of(unit, families), limit, cost) for families in (OURS, PEERS))
    if ours is None or theirs is None:
        return _cell(ours, cost), _cell(theirs, cost), "-"
    times = theirs[cost] / ours[cost]
    return (
        _cell(ours, cost),
        _cell(theirs, cost),
        f"**{times:.2g}**" if times < 1 else f"{times:.2g}",
    )


def _cell(point: dict[str, Any] | None, cost: str) -> str:
    return "-" if point is None else f"{seconds(point[cost])} ({label(point)})"


def seconds(value: float) -> str:
    """Two digits, with a unit."""
    number, unit = (value, "s") if value >= 1 else (value * 1e3, "ms")
    return f"{float(f'{number:.2g}'):g} {unit}"

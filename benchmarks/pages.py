"""``python -m benchmarks.pages``: update the tables in the docs from ``results/*.json``.

A table in a page is enclosed by ``<!-- table: NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from experiments.results import markdown_table

from . import results

DOCS = results.FOLDER.parents[1] / "docs"
_TABLE = re.compile(r"(<!-- table: (\S+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)

Row = dict[str, Any]


def render_methods(rows: list[Row]) -> str:
    """Return one row per method with its error and its fit and transform times in seconds."""

    def cell(row: Row) -> str:
        fit, transform = (f"{row['parts'][part]:.2g}" for part in ("fit", "transform"))
        return f"{row['seen']:.1e}, {fit}, {transform}"

    return _pivot(rows, "method", cell, missing="not run")


def render_weights(rows: list[Row]) -> str:
    """Return one row per choice of weights with its error and its fit time."""

    def cell(row: Row) -> str:
        parts = row["parts"]
        if "fit" in parts:
            milliseconds = float(f"{1000 * parts['fit']:.2g}")
            return f"{row['seen']:.2%}, {milliseconds:g} ms"
        return f"{parts['unchanged']:.2%}, corrected {parts['corrected']:.2%}"

    return _pivot(rows, "weights", cell)


def render_means(rows: list[Row]) -> str:
    """Return one row per data set with the error of each kind of landmark, by size."""

    def cell(row: Row) -> str:
        *others, means = (f"{100 * error:.2g}%" for error in row["parts"].values())
        return " / ".join([*others, f"**{means}**"])

    return _pivot(rows, "data", cell)


def render_means_speed(rows: list[Row]) -> str:
    """Return one row per data set with the ratio of the times, the times, sizes and errors."""

    def cell(row: Row) -> str:
        times = ", ".join(f"{name} {s:.2g} s" for name, s in row["parts"].items())
        return f"**{row['seen']:.2g}** ({'; '.join(filter(None, (times, row['note'])))})"

    return _pivot(rows, "data", cell)


def render_coverage(rows: list[Row]) -> str:
    """Return one row per data set with the coverage of the limits, and limits / true errors."""

    def cell(row: Row) -> str:
        parts = row["parts"].values() or [row["seen"]]
        return " / ".join(f"{x:.2f}" if row["unit"] == "x" else f"{100 * x:.0f}%" for x in parts)

    return _pivot(rows, "data", cell)


def render_autopilot(rows: list[Row]) -> str:
    """Return one row per data set with the share of errors below ``max_error``, and the times."""
    titles = [
        "data", "errors below `max_error`", "time / time by hand, median", "largest",
        "`Nystroem` time / time, median", "",
    ]  # fmt: skip
    lines = []
    for row in (row for row in rows if row["parts"]):
        met = f"{row['parts']['met']:.0%}"
        times = row["seen"], row["parts"]["largest"], row["parts"]["peer"]
        lines.append([row["case"], met, *(f"{time:.2g}" for time in times), row["note"]])
    return markdown_table(titles, lines)


def _pivot(rows: list[Row], corner: str, cell: Callable[[Row], str], missing: str = "") -> str:
    """Arrange rows named "case: title" with one row per title and one column per case."""
    cells: dict[str, dict[str, str]] = {}
    for row in rows:
        case, _, title = row["case"].partition(": ")
        cells.setdefault(title, {})[case] = cell(row)
    cases = list(next(iter(cells.values())))
    lines = [
        [title, *(by_case.get(case, missing) for case in cases)] for title, by_case in cells.items()
    ]
    return markdown_table([corner, *cases], lines)


TABLES: dict[str, Callable[[list[Row]], str]] = {
    "methods": render_methods,
    "weights": render_weights,
    "coverage": render_coverage,
    "means": render_means,
    "means_speed": render_means_speed,
    "autopilot": render_autopilot,
}


def update_tables(text: str) -> str:
    """Return the text of a page with its tables updated to the current results."""

    def table(match: re.Match[str]) -> str:
        return match.group(1) + _render(match.group(2)) + match.group(3)

    return _TABLE.sub(table, text)


def _render(name: str) -> str:
    """Return a table, or a note if its benchmark has not been run."""
    path = results.FOLDER / f"{name}.json"
    if not path.exists():
        return f"Run `python -m benchmarks {name}` to measure this table.\n"
    return TABLES[name](json.loads(path.read_text())["rows"])


def find_pages() -> list[Path]:
    """Return the pages that have tables."""
    return [path for path in sorted(DOCS.glob("*.md")) if _TABLE.search(path.read_text())]


if __name__ == "__main__":
    for page in find_pages():
        page.write_text(update_tables(page.read_text()))
        print(page.name)

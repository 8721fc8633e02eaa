"""``python -m benchmarks.pages``: write the tables of the docs from ``results/*.json``.

A table stands in a page between ``<!-- table: NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import results

DOCS = results.FOLDER.parents[1] / "docs"
_TABLE = re.compile(r"(<!-- table: (\S+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)

Row = dict[str, Any]


def methods(rows: list[Row]) -> str:
    """A row a method, and for each data set its error and its seconds of fit and transform."""

    def cell(row: Row) -> str:
        fit, transform = (f"{row['parts'][part]:.2g}" for part in ("fit", "transform"))
        return f"{row['seen']:.1e}, {fit}, {transform}"

    return _by_case(rows, "method", cell)


def weights(rows: list[Row]) -> str:
    """A row a choice of weights, and for each data set its error and its milliseconds of fit."""

    def cell(row: Row) -> str:
        parts = row["parts"]
        if "fit" in parts:
            milliseconds = float(f"{1000 * parts['fit']:.2g}")
            return f"{row['seen']:.2%}, {milliseconds:g} ms"
        return f"{parts['as they are']:.2%}, then {parts['corrected']:.2%}"

    return _by_case(rows, "weights", cell)


def _by_case(rows: list[Row], corner: str, cell: Callable[[Row], str]) -> str:
    """A row a title, a column a case, of rows "case: title"."""
    cells: dict[str, dict[str, str]] = {}
    for row in rows:
        case, _, title = row["case"].partition(": ")
        cells.setdefault(title, {})[case] = cell(row)
    cases = list(next(iter(cells.values())))
    lines = [[corner, *cases], ["---"] * (1 + len(cases))]
    lines += [
        [title, *(by_case.get(case, "minutes") for case in cases)]
        for title, by_case in cells.items()
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


TABLES: dict[str, Callable[[list[Row]], str]] = {"methods": methods, "weights": weights}


def rendered(text: str) -> str:
    """A page with its tables as the results have them now."""

    def table(match: re.Match[str]) -> str:
        name = match.group(2)
        content = json.loads((results.FOLDER / f"{name}.json").read_text())
        return match.group(1) + TABLES[name](content["rows"]) + match.group(3)

    return _TABLE.sub(table, text)


def pages() -> list[Path]:
    """The pages that have tables."""
    return [path for path in sorted(DOCS.glob("*.md")) if _TABLE.search(path.read_text())]


if __name__ == "__main__":
    for page in pages():
        page.write_text(rendered(page.read_text()))
        print(page.name)

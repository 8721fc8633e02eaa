"""A comparison as a table, as a picture, and in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from rich.table import Table
from rich.text import Text

from .._style import INK, PALE, dress, new_axes, pyplot
from ..planning.report import percent, seconds_in_words
from .contenders import Result

_ROUNDING = 1e-9


class Column(NamedTuple):
    """A number of a result, and how it is written."""

    title: str
    value: Callable[[Result], float | None]
    written: Callable[[float], str]


def _megabytes(value: float) -> str:
    return f"{value:,.0f} MB" if value < 9950 else f"{value / 1000:,.1f} GB"


def _error(value: float) -> str:
    return percent(value) if value > _ROUNDING else "rounding"


COLUMNS = (
    Column("points", lambda result: result.points, lambda value: f"{value:,.0f}"),
    Column("error", lambda result: result.error, _error),
    Column("fit", lambda result: median(result.fits), seconds_in_words),
    Column("embed 1,000 rows", lambda result: median(result.embeds), seconds_in_words),
    Column("memory of the fit", lambda result: result.memory, _megabytes),
)


def table(title: str, results: Sequence[Result]) -> Table:
    """A line for each; the best of each column stands out."""
    shown = [column for column in COLUMNS if column.value(results[0]) is not None]
    made = Table(title=Text(title), title_justify="left", title_style="bold", box=None)
    made.add_column("")
    for column in shown:
        made.add_column(column.title, justify="right")
    best = [min(column.value(result) or 0.0 for result in results) for column in shown]
    for result in results:
        cells = [_cell(column, result, least) for column, least in zip(shown, best, strict=True)]
        made.add_row(Text(result.contender.title, "bold" if result.contender.ours else ""), *cells)
    return made


def _cell(column: Column, result: Result, least: float) -> Text:
    value = column.value(result) or 0.0
    return Text(column.written(value), "bold green" if value == least else "")


def remarks(sampled: Sequence[Result], everything: Sequence[Result]) -> list[str]:
    """How the numbers came about, and what cannot be run."""
    said = [
        f"error: of {len(sampled[0].errors)} runs the median, of rows that nobody was fitted to, "
        "against exact kernel PCA of the same rows, after the best linear alignment.",
        "times are medians of warm runs in turns, on the same threads; memory is that of a fresh "
        "process, above the data. The best of each column is green.",
    ]
    if everything:
        n = everything[0].n_rows
        said.append(f"KernelPCA of {n:,} rows would need a matrix of {_megabytes(8 * n**2 / 1e6)}.")
    return said


def drawn(name: str, sampled: Sequence[Result], everything: Sequence[Result], path: Path) -> None:
    """Bars: the error on the sample, and what it costs on all rows."""
    panels = [(column, sampled) for column in COLUMNS[1:2]]
    panels += [(column, everything or sampled) for column in COLUMNS[2:]]
    axes = new_axes(len(panels), (4.6, 2.9), n_columns=2)
    for ax, (column, results) in zip(axes, panels, strict=True):
        _bars(ax, column, results)
    rest = f", the rest for {everything[0].n_rows:,}" if everything else ""
    title = f"{name}: errors for {sampled[0].n_rows:,} rows{rest}; scales are logarithmic"
    axes[0].figure.suptitle(title, fontweight="bold", color=INK)
    axes[0].figure.savefig(path, dpi=150)
    pyplot().close(axes[0].figure)


def _bars(ax: Any, column: Column, results: Sequence[Result]) -> None:
    names = [result.contender.title for result in results]
    values = [column.value(result) or 0.0 for result in results]
    colours = [INK if result.contender.ours else PALE for result in results]
    ax.set_xscale("log")
    least = min(value for value in values if value > _ROUNDING) / 3
    bars = ax.barh(names, [max(value, least) for value in values], color=colours, height=0.62)
    ax.bar_label(bars, [column.written(value) for value in values], padding=4)
    ax.set_xlim(least, max(values) * 12)
    ax.invert_yaxis()
    dress(ax, "", "", column.title)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.xaxis.set_visible(False)
    ax.spines["bottom"].set_visible(False)

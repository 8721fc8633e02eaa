"""A comparison as a table, as a picture, and in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from textwrap import wrap
from typing import Any, NamedTuple

from rich.table import Table
from rich.text import Text

from .._format import percent, seconds_in_words
from .._style import BAND, INK, PALE, import_pyplot, style_axes
from .contenders import MOST_LANDMARKS, Result

_ROUNDING = 1e-9


class Column(NamedTuple):
    """A number of a result, and how it is written."""

    title: str
    value: Callable[[Result], float | None]
    written: Callable[[float], str]


class Terms(NamedTuple):
    """What is the same for all."""

    bandwidth: float
    n_components: int
    n_held_out: int


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


def remarks(same: Terms, sampled: Sequence[Result], everything: Sequence[Result]) -> list[str]:
    """How the numbers came about, and what was not run."""
    said = [
        f"the same for all: rows, Gaussian kernel of bandwidth {same.bandwidth:.4g}, "
        f"{same.n_components} components about the mean in feature space, threads.",
        f"error: of {same.n_held_out:,} rows that nobody was fitted to, against exact kernel PCA "
        "of the same rows, after the best linear alignment. Nystroem draws its points at random: "
        "the median of the runs.",
        "times are medians of warm runs in turns; memory is the peak of a fit in a process of its "
        "own, warm too, above the data. The best of each column is green.",
    ]
    most = max(result.points for result in (*sampled, *everything) if result.contender.ours)
    if most > MOST_LANDMARKS:
        said.append(
            f"Nystroem was run with {MOST_LANDMARKS:,} points where rskpca has {most:,} centers: "
            "its singular value decomposition grows with their cube."
        )
    return [*said, *_left_out(everything)]


def _left_out(everything: Sequence[Result]) -> list[str]:
    if not everything:
        return []
    n = everything[0].n_rows
    needed = _megabytes(8 * n**2 / 1e6)
    return [f"KernelPCA was not run on {n:,} rows: its matrix alone would take {needed}."]


def drawn(name: str, sampled: Sequence[Result], everything: Sequence[Result], path: Path) -> None:
    """A dot for each, a row of panels for each number of rows, a panel for each column."""
    groups = [group for group in (sampled, everything) if group]
    lines = [len(group) for group in groups]
    figure, panels = import_pyplot().subplots(
        len(groups), len(COLUMNS), figsize=(14.0, 0.42 * sum(lines) + 1.1 * len(groups)),
        height_ratios=lines, sharey="row", squeeze=False, layout="constrained",
    )  # fmt: skip
    for group, axes in zip(groups, panels, strict=True):
        for ax, column in zip(axes, COLUMNS, strict=True):
            _dots(ax, column, group)
        axes[0].invert_yaxis()
        axes[0].set_ylabel(f"{group[0].n_rows:,} rows", fontweight="bold", color=INK)
    title = f"{name}: rskpca (dark) and scikit-learn; left is better, scales are logarithmic"
    figure.suptitle(title, fontweight="bold", color=INK)
    figure.savefig(path, dpi=150)
    import_pyplot().close(figure)


def _dots(ax: Any, column: Column, results: Sequence[Result]) -> None:
    style_axes(ax, "", "", column.title)
    ax.tick_params(axis="y", length=0)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.xaxis.set_visible(False)
    names = [result.contender.title for result in results]
    values = [column.value(result) for result in results]
    if None in values:  # the error, for which exact kernel PCA is needed
        said = "\n".join(wrap(_left_out(results)[0], 26))
        ax.text(0.0, 0.5, said, transform=ax.transAxes, va="center", fontsize="small", color=INK)
        return
    told = [float(value) for value in values if value is not None]
    least = min((value for value in told if value > _ROUNDING), default=1.0)
    places = [max(value, least / 4) for value in told]
    colours = [INK if result.contender.ours else BAND for result in results]
    ax.set_xscale("log")
    ax.hlines(names, min(places), max(places), color=PALE, linewidth=0.8, zorder=1)
    ax.scatter(places, names, c=colours, s=64, zorder=2)
    for name, place, value in zip(names, places, told, strict=True):
        ax.annotate(
            column.written(value), (place, name), (0, 7), textcoords="offset points", ha="center",
            fontsize="small", color=INK,
        )  # fmt: skip
    room = (max(places) / min(places)) ** 0.2 * 1.1
    ax.set_xlim(min(places) / room, max(places) * room)
    ax.margins(y=0.12)

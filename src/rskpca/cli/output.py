"""Command output: text or JSON results, notes and a progress bar."""

from __future__ import annotations

import json
import math
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment
from rich.text import Text

from .errors import print_line, printable

if TYPE_CHECKING:
    from ..data import Source

_MAX_WIDTH = 100
_DELAY = 1.0  # seconds until the bar appears
_HEAD = 1 << 18  # bytes of a .csv file used to estimate its number of lines


def _remember(ctx: typer.Context, param: typer.CallbackParam, value: bool) -> bool:
    """Store the value, so that it takes effect even if a later option is invalid."""
    ctx.meta[str(param.name)] = value
    return value


@dataclass(frozen=True)
class Display:  # numpydoc ignore=PR01
    """Output options that all commands have."""

    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", callback=_remember, is_eager=True, help="Print only errors."),
    ] = False
    debug: Annotated[
        bool,
        typer.Option("--debug", callback=_remember, is_eager=True, help="Show tracebacks."),
    ] = False

    def show(self, numbers: Mapping[str, Any], *parts: RenderableType) -> None:
        """Print the result as text (``parts``), or ``numbers`` with --json."""
        if self.json:
            print(json.dumps(to_plain(numbers), indent=1, allow_nan=False))
        elif not self.quiet:
            console = Console(highlight=False, markup=False)
            console.width = min(console.width, _MAX_WIDTH) if console.is_terminal else _MAX_WIDTH
            for part in parts:
                # do not wrap commands that users copy
                soft_wrap = isinstance(part, Text) and bool(part.no_wrap)
                console.print(_Printable(part), soft_wrap=soft_wrap)

    def note(self, text: str) -> None:
        """Print a note to stderr, unless it is empty."""
        if text and not (self.quiet or self.json):
            print_line(f"note: {text}", "yellow")

    @contextmanager
    def progress(
        self, source: Source, data: Path, skipped: str = "skipped {} with {}."
    ) -> Iterator[ProgressBar]:
        """Show the progress of reading, and finally note how many rows were skipped."""
        bar = ProgressBar(source, data, visible=sys.stderr.isatty() and not self.quiet)
        source.watch = bar.rows_read
        try:
            yield bar
        finally:
            bar.close()
        if source.n_skipped:
            rows = "1 row" if source.n_skipped == 1 else f"{source.n_skipped:,} rows"
            self.note(skipped.format(rows, "missing or infinite values"))


@dataclass(frozen=True)
class _Printable:
    """A part of the output whose text comes from files and is escaped."""

    part: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for segment in console.render(self.part, options):
            yield segment._replace(text=printable(segment.text))


def to_plain(value: Any) -> Any:
    """Convert a value to JSON types, replacing non-finite numbers with None."""
    import numpy as np

    if isinstance(value, Mapping):
        return {str(name): to_plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return to_plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


class ProgressBar:
    """Progress bar on stderr; shown on terminals only, after one second."""

    def __init__(self, source: Source, data: Path, visible: bool) -> None:
        self.verb, self.next_stage = "fitting", "solving"
        self._source, self._estimate, self._visible = source, _estimate_rows(data), visible
        self._last_row, self._name = 0, ""
        self._counting = False  # True once a fit or transform reports its own progress
        self._progress = Progress(
            SpinnerColumn(), TextColumn("{task.description}"), BarColumn(10), _RowsColumn(),
            TextColumn("{task.fields[centers]}"), TimeRemainingColumn(),
            console=Console(stderr=True), transient=True,
        )  # fmt: skip
        self._task = self._progress.add_task("reading", total=None, centers="", about="")
        self._timer = threading.Timer(_DELAY, self._progress.start)
        self._timer.daemon = True
        if visible:
            self._timer.start()

    def rows_read(self, row: int) -> None:
        """Show the number of rows read, unless a fit or transform reports its own progress."""
        if not self._counting:
            self._update("reading", row)

    def rows_done(self, rows: int, n_centers: int) -> None:
        """Show the number of rows that a fit or transform has processed."""
        self._counting = rows != self._source.n_rows
        self._update(self.verb, rows, f"{n_centers:,} centers" if n_centers else "")
        if not self._counting:
            self.stage(self.next_stage)

    def stage(self, name: str) -> None:
        """Show the name of a stage of unknown duration."""
        self._counting, self._name = False, name
        self._progress.reset(self._task, description=name, centers="", about="")
        self._progress.tasks[0].total = None  # reset() cannot set it to None

    def close(self) -> None:
        """Remove the bar."""
        self._timer.cancel()
        if self._visible:
            self._progress.stop()

    def _update(self, name: str, row: int, centers: str = "") -> None:
        if row < self._last_row or name != self._name:  # a new pass
            self._name = name
            self._progress.reset(self._task, description=name)
        self._last_row, exact = row, self._source.n_rows
        total, about = (self._estimate, "~") if exact is None else (exact, "")
        self._progress.update(self._task, completed=row, total=total, centers=centers, about=about)


class _RowsColumn(ProgressColumn):
    """Column with the number of rows and rows per second."""

    def render(self, task: Task) -> Text:
        if not task.completed:
            return Text("")
        of = "" if task.total is None else f" of {task.fields['about']}{_short(task.total)}"
        rate = "" if not task.speed else f", {_short(task.speed)}/s"
        return Text(f"{_short(task.completed)}{of} rows{rate}", style="cyan", no_wrap=True)


def _short(number: float) -> str:
    """Write a large number in few characters, so that the bar fits 80 columns."""
    if number < 1e6:
        return f"{number:,.0f}"
    return f"{number / 1e6:.3g} M" if number < 1e9 else f"{number / 1e9:.3g} G"


def _estimate_rows(data: Path) -> int | None:
    """Estimate the number of lines in .csv files from the start of the first file."""
    files = [data] if data.is_file() else list(data.glob("*.csv"))
    if not files or files[0].suffix.lower() != ".csv":
        return None
    with files[0].open("rb") as file:
        head = file.read(_HEAD)
    lines = max(head.count(b"\n"), 1)
    return round(sum(file.stat().st_size for file in files) * lines / max(len(head), 1))

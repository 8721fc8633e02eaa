"""Progress bar for the command line."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from .._format import seconds_in_words
from ..data import Source

_DELAY = 1.0  # seconds until the bar appears
_HEAD = 1 << 18  # bytes of a .csv file used to estimate its number of lines
_PAUSE = 1.0  # seconds without new rows after which reading counts as paused
_ALMOST = 0.99  # a bar based on an estimated time stops here until the stage ends


class ProgressBar:
    """Progress bar on stderr; shown on terminals only, after one second."""

    def __init__(self, source: Source, data: Path, visible: bool) -> None:
        self.verb, self.next_stage = "fitting", "solving"
        self.idle = "computing"  # shown if reading pauses before the rows are processed
        self._source, self._estimate, self._visible = source, _estimate_rows(data), visible
        self._last_row, self._name, self._updated = 0, "", time.monotonic()
        self._counting = False  # True once a fit or transform reports its own progress
        self._progress = _Bar(
            SpinnerColumn(), TextColumn("{task.description}"), BarColumn(10), _RowsColumn(),
            TextColumn("{task.fields[centers]}"), TimeRemainingColumn(),
            console=Console(stderr=True), transient=True,
        )  # fmt: skip
        self._progress.before_refresh = self._notice_pause
        self._task = self._progress.add_task(
            "reading", total=None, centers="", about="", seconds=None
        )
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

    def stage(self, name: str, seconds: float | None = None) -> None:
        """Show the name of a stage that does not read rows, and its estimated duration."""
        self._counting, self._name = False, name
        self._reset(name, seconds)
        self._progress.tasks[0].total = seconds  # reset() cannot set it to None

    def _reset(self, name: str, seconds: float | None = None) -> None:
        # reset() replaces all fields, and draws the bar if it is visible.
        self._progress.reset(self._task, description=name, centers="", about="", seconds=seconds)

    def _notice_pause(self) -> None:
        """Show that reading has paused."""
        if self._name == "reading" and time.monotonic() - self._updated > _PAUSE:
            self.stage(self.idle)

    def close(self) -> None:
        """Remove the bar."""
        self._timer.cancel()
        if self._visible:
            self._progress.stop()

    def _update(self, name: str, row: int, centers: str = "") -> None:
        if row < self._last_row or name != self._name:  # a new pass
            self._name = name
            self._reset(name)
        self._last_row, exact = row, self._source.n_rows
        self._updated = time.monotonic()
        total, about = (self._estimate, "~") if exact is None else (exact, "")
        self._progress.update(self._task, completed=row, total=total, centers=centers, about=about)


class _Bar(Progress):
    """A progress bar that follows the clock during stages with an estimated duration."""

    before_refresh: Callable[[], None] = staticmethod(lambda: None)

    def get_renderables(self) -> Iterable[RenderableType]:
        """Advance the stage, and return the bar."""
        self.before_refresh()
        for task in self.tasks:
            seconds = task.fields["seconds"]
            if seconds is not None and task.elapsed is not None:
                task.completed = min(task.elapsed, _ALMOST * seconds)
        return super().get_renderables()


class _RowsColumn(ProgressColumn):
    """Column with the number of rows and rows per second, or with the estimated duration."""

    def render(self, task: Task) -> Text:
        if task.fields["seconds"] is not None:
            return Text(f"about {seconds_in_words(task.fields['seconds'])}", style="cyan")
        if not task.completed:
            return Text("")
        of = "" if task.total is None else f" of {task.fields['about']}{_short(task.total)}"
        rate = "" if not task.speed else f", {_short(task.speed)}/s"
        return Text(f"{_short(task.completed)}{of} rows{rate}", style="cyan", no_wrap=True)


def _short(number: float) -> str:
    """Format a large number in few characters, so that the bar fits into 80 columns."""
    if number < 1e6:
        return f"{number:,.0f}"
    return f"{number / 1e6:.3g} M" if number < 1e9 else f"{number / 1e9:.3g} G"


def _estimate_rows(data: Path) -> int | None:
    """Estimate the number of lines in .csv and .tsv files from the start of the first file."""
    files = [data] if data.is_file() else [*data.glob("*.csv"), *data.glob("*.tsv")]
    if not files or files[0].suffix.lower() not in (".csv", ".tsv"):
        return None
    with files[0].open("rb") as file:
        head = file.read(_HEAD)
    lines = max(head.count(b"\n"), 1)
    return round(sum(file.stat().st_size for file in files) * lines / max(len(head), 1))

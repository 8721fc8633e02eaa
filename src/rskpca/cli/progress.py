"""How far a pass is: rows, rate and time left."""

from __future__ import annotations

import threading
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

_PATIENCE = 1.0  # seconds without a bar


class Bar:
    """A bar on standard error, from the second second on, that goes when it ends.

    Parameters
    ----------
    total : int or None
        Rows of a pass, where something is known of them.
    exact : bool
        Whether there are exactly so many.
    shown : bool
        Whether anybody looks.
    """

    def __init__(self, total: int | None, exact: bool, shown: bool) -> None:
        self.total, self._exact, self._shown = total, exact, shown
        self._driven = False  # by a pass that says what it has counted
        self._last, self._name = 0, ""
        self.verb, self.after = "counting", "solving"
        self._progress = Progress(
            SpinnerColumn(), TextColumn("{task.description}"), BarColumn(24), _Rows(),
            TextColumn("{task.fields[beside]}"), TimeElapsedColumn(), TimeRemainingColumn(),
            console=Console(stderr=True), transient=True,
        )  # fmt: skip
        self._task = self._progress.add_task("reading", total=total, beside="", about="")
        self._timer = threading.Timer(_PATIENCE, self._progress.start)
        self._timer.daemon = True
        if shown:
            self._timer.start()

    def read(self, row: int) -> None:
        """Rows of a source that were read, by whoever reads it."""
        if not self._driven:
            self._update("reading", row)

    def counted(self, rows: int, n_centers: int) -> None:
        """Rows that a fit or a transform is through with."""
        self._driven = not self._exact or rows < (self.total or 0)
        self._update(self.verb, rows, f"{n_centers:,} centers" if n_centers else "")
        if not self._driven:
            self.stage(self.after)

    def stage(self, name: str) -> None:
        """Something whose length is not known."""
        self._driven = False
        self._begin(name, None)

    def _begin(self, name: str, total: int | None) -> None:
        self._name = name
        self._progress.reset(self._task, description=name, beside="", about="")
        self._progress.tasks[0].total = total  # which reset cannot make None

    def _update(self, name: str, row: int, beside: str = "") -> None:
        anew = row < self._last or name != self._name
        if anew and name == self._name == "reading" and not self._exact:
            self.total, self._exact = self._last, True  # the first pass read all of them
        if anew:
            self._begin(name, self.total)
        self._last = row
        about = "" if self._exact else "about "
        self._progress.update(self._task, completed=row, beside=beside, about=about)

    def end(self) -> None:
        """Take it away."""
        self._timer.cancel()
        if self._shown:
            self._progress.stop()


class _Rows(ProgressColumn):
    """Rows, and rows a second."""

    def render(self, task: Task) -> Any:
        if not task.completed:
            return Text("")
        of = "" if task.total is None else f" of {task.fields['about']}{task.total:,.0f}"
        rate = "" if not task.speed else f", {task.speed:,.0f}/s"
        return Text(f"{task.completed:,.0f}{of} rows{rate}", style="cyan")

"""Progress reporting for long fits."""

from __future__ import annotations

import sys
import time


class ProgressLine:
    """Progress line on stderr with the rows, centers, rate and remaining time.

    Nothing is printed during the first second. ``n_rows`` is the total number of rows, or None if
    unknown; ``before`` is the number of rows processed in an earlier run.
    """

    def __init__(self, n_rows: int | None, name: str, before: int = 0) -> None:
        self.n_rows, self.name, self._before = n_rows, name, before
        self._start = self._printed = time.monotonic()
        self._open = False

    def __call__(self, rows: int, n_centers: int) -> None:
        """Update the line and, after the last row, end it."""
        now = time.monotonic()
        done = self.n_rows is not None and rows >= self.n_rows
        if now - self._start < 1 or (now - self._printed < 0.2 and not done):
            return
        self._printed = now
        rate = (rows - self._before) / (now - self._start)
        state, left = f"{rows:,} rows", ""
        if self.n_rows is not None:
            state = f"{rows:,} of {self.n_rows:,} rows ({rows / self.n_rows:.0%})"
            left = ", done" if done else f", {(self.n_rows - rows) / rate:,.0f} s left"
        line = f"\r{self.name}: {state}, {n_centers:,} centers, {rate:,.0f} rows/s{left}"
        print(f"{line:<100}", end="", file=sys.stderr, flush=True)
        self._open = True
        if done:
            self.end()

    def end(self) -> None:
        """End the line if one was printed."""
        if self._open:
            print(file=sys.stderr, flush=True)
        self._open = False

"""A progress line for long fits."""

from __future__ import annotations

import sys
import time


class ProgressLine:
    """Rows done, centers so far, rate and time left, on one line of standard error.

    Silent for the first second, so that short fits print nothing. ``n_rows`` is None where
    nobody knows it; ``before`` are rows of an earlier run.
    """

    def __init__(self, n_rows: int | None, name: str, before: int = 0) -> None:
        self.n_rows, self.name, self._before = n_rows, name, before
        self._start = self._printed = time.monotonic()
        self._open = False

    def __call__(self, rows: int, n_centers: int) -> None:
        """Print the state; the last call ends the line."""
        now = time.monotonic()
        done = self.n_rows is not None and rows >= self.n_rows
        if now - self._start < 1 or (now - self._printed < 0.2 and not done):
            return
        self._printed = now
        rate = (rows - self._before) / (now - self._start)
        of, left = f"{rows:,} rows", ""
        if self.n_rows is not None:
            of = f"{rows:,} of {self.n_rows:,} rows ({rows / self.n_rows:.0%})"
            left = ", done" if done else f", {(self.n_rows - rows) / rate:,.0f} s left"
        line = f"\r{self.name}: {of}, {n_centers:,} centers, {rate:,.0f} rows/s{left}"
        print(f"{line:<100}", end="", file=sys.stderr, flush=True)
        self._open = True
        if done:
            self.end()

    def end(self) -> None:
        """End the line, if there is one."""
        if self._open:
            print(file=sys.stderr, flush=True)
        self._open = False

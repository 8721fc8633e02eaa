"""A progress line for long fits."""

from __future__ import annotations

import sys
import time


class ProgressLine:
    """Rows done, centers so far, rate and time left, on one line of standard error.

    Silent for the first second, so that short fits print nothing.
    """

    def __init__(self, n_rows: int, name: str) -> None:
        self.n_rows, self.name = n_rows, name
        self._start = self._printed = time.monotonic()

    def __call__(self, rows: int, n_centers: int) -> None:
        """Print the state; the last call ends the line."""
        now = time.monotonic()
        done = rows >= self.n_rows
        if now - self._start < 1 or (now - self._printed < 0.2 and not done):
            return
        self._printed = now
        rate = rows / (now - self._start)
        left = "done" if done else f"{(self.n_rows - rows) / rate:,.0f} s left"
        line = (
            f"\r{self.name}: {rows:,} of {self.n_rows:,} rows ({rows / self.n_rows:.0%}), "
            f"{n_centers:,} centers, {rate:,.0f} rows/s, {left}"
        )
        print(f"{line:<100}", end="\n" if done else "", file=sys.stderr, flush=True)

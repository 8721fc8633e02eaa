"""What a command says: to people, to machines, or nothing."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console, RenderableType
from rich.text import Text

from ..data import Source
from .errors import note
from .progress import Bar
from .reading import expected_rows

_WIDEST = 100


@dataclass(frozen=True)
class Voice:  # numpydoc ignore=PR01
    """The options of every command that say how it speaks."""

    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False

    def tell(self, numbers: Mapping[str, Any], *shown: RenderableType) -> None:
        """The result: numbers for machines, or what people look at."""
        if self.json:
            print(json.dumps(plain(numbers), indent=1, allow_nan=False))
        elif not self.quiet:
            console = screen()
            for item in shown:
                whole = isinstance(item, Text) and bool(item.no_wrap)
                console.print(item, soft_wrap=whole)

    @contextmanager
    def progress(self, source: Source, data: Path, skipped: str = "left out") -> Iterator[Bar]:
        """A bar on standard error, if somebody looks, from the second second on.

        Parameters
        ----------
        source : Source
            What is read.
        data : Path
            Where it is.
        skipped : str, default="left out"
            What becomes of rows that lack a number, which is noted at the end.

        Yields
        ------
        Bar
            To tell how far it is.
        """
        exact = source.n_rows is not None
        total = source.n_rows if exact else expected_rows(data)
        bar = Bar(total, exact, shown=sys.stderr.isatty() and not self.quiet)
        source.watch = bar.read
        try:
            yield bar
        finally:
            bar.end()
        if source.n_skipped:
            rows = "row is" if source.n_skipped == 1 else "rows are"
            self.note(f"{source.n_skipped:,} {rows} {skipped}: a value is missing or infinite.")

    def note(self, text: str) -> None:
        """A line on standard error, for people."""
        if not (self.quiet or self.json):
            note(text)


def screen() -> Console:
    """Standard output, not wider than is read with ease."""
    console = Console(highlight=False)
    console.width = min(console.width, _WIDEST) if console.is_terminal else _WIDEST
    return console


def plain(value: Any) -> Any:
    """What JSON can hold; None for what is not finite."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)

"""Command output: text or JSON results, notes and a progress bar."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .program import print_line, printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    from ..data import Source
    from .progress import ProgressBar

_MAX_WIDTH = 100


def _remember(ctx: typer.Context, param: typer.CallbackParam, value: bool) -> bool:
    """Store the value, so that it takes effect even if a later option is invalid."""
    ctx.meta[str(param.name)] = value
    return value


@dataclass(frozen=True)
class Display:  # numpydoc ignore=PR01
    """Output options shared by all commands."""

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
        """Print ``parts`` as text, or ``numbers`` as JSON if --json is given."""
        if self.json:
            print(json.dumps(to_plain(numbers), indent=1, allow_nan=False))
        elif not self.quiet:
            from rich.console import Console
            from rich.text import Text

            console = Console(highlight=False, markup=False)
            console.width = min(console.width, _MAX_WIDTH) if console.is_terminal else _MAX_WIDTH
            for part in parts:
                # do not wrap commands that users copy
                soft_wrap = isinstance(part, Text) and bool(part.no_wrap)
                console.print(_Printable(part), soft_wrap=soft_wrap)

    def note(self, *texts: str) -> None:
        """Print notes to stderr."""
        for text in () if self.quiet or self.json else texts:
            print_line(f"note: {text}", "yellow")

    @contextmanager
    def progress(
        self, source: Source, data: Path, skipped: str = "skipped {} with {}."
    ) -> Iterator[ProgressBar]:
        """Show reading progress, then report how many rows were skipped."""
        from .progress import ProgressBar

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
    """A part of the output, whose text may come from files and is therefore escaped."""

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

"""``rskpca report``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from .._format import seconds_in_words
from .models import ModelFile, loaded
from .paths import size_in_words, writable
from .reading import DataFile, Reading
from .reporting import Colour, write_report
from .voice import Voice

EXAMPLES = """
  rskpca report model.rskpca data.parquet -o report.html
  rskpca report model.rskpca data.csv --color class --title "Last week"
"""


def report(
    *,
    model: ModelFile,
    data: DataFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The page.")
    ] = Path("report.html"),
    color: Colour = None,
    title: Annotated[str | None, typer.Option(help="Of the page; else DATA's name.")] = None,
    reading: Reading,
    voice: Voice,
) -> None:
    """Write a report of a model as one HTML file, which needs no network."""
    writable(output, [model, data], (".html", ".htm"))
    fitted = loaded(model)
    source = reading.open_for(fitted, data, color=color)
    start = time.perf_counter()
    with voice.progress(source, data):
        write_report(fitted, source, output, color=color, title=title or data.stem)
    seconds = time.perf_counter() - start
    line = Text.assemble(
        ("✓ ", "green"), (str(output), "bold"),
        (f"  {size_in_words(output)}, {seconds_in_words(seconds)}", "dim"),
    )  # fmt: skip
    skipped = source.n_skipped
    voice.tell({"report": str(output), "seconds": seconds, "skipped_rows": skipped}, line)

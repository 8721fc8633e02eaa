"""``rskpca transform``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from .. import scaling
from .._format import seconds_in_words
from .models import ModelFile, loaded
from .paths import size_in_words, writable
from .reading import DataFile, Reading
from .voice import Voice

ENDINGS = (".npy", ".parquet", ".csv")
EXAMPLES = """
  rskpca transform model.rskpca data.parquet --id customer -o embedded.parquet
  rskpca transform model.rskpca data.npy -o embedded.npy
  rskpca transform clusters.rskpca data.csv --labels -o labels.csv
"""


def transform(
    *,
    model: ModelFile,
    data: DataFile,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Ends in .npy, .parquet or .csv."),
    ] = None,
    ids: Annotated[
        list[str] | None,
        typer.Option("--id", metavar="NAME", help="Column to carry through; repeat for more."),
    ] = None,
    labels: Annotated[
        bool, typer.Option("--labels", help="Write the cluster of each row instead.")
    ] = False,
    reading: Reading,
    voice: Voice,
) -> None:
    """Embed the rows of a file with a fitted model, into another file."""
    out = writable(output or Path(f"{data.stem}-embedded.parquet"), [model, data], ENDINGS)
    fitted = loaded(model)
    verb = "predict" if labels else "transform"
    if not hasattr(fitted, verb):
        hint = "leave out --labels" if labels else "try --labels"
        name = type(fitted).__name__
        raise TypeError(f"{str(model)!r} holds a {name}, which cannot {verb}; {hint}.")
    source = reading.open_for(fitted, data, ids=ids or ())
    start = time.perf_counter()
    with voice.progress(source, data, skipped="empty in the output") as bar:
        bar.verb, bar.after = "embedding", "writing"
        getattr(scaling, verb)(fitted, source, out, progress=bar.counted)
    seconds = time.perf_counter() - start
    skipped = source.n_skipped or 0
    rows = source.counted() + skipped
    voice.tell(
        {"output": str(out), "rows": rows, "skipped_rows": skipped, "seconds": seconds},
        _line(out, rows, seconds),
    )


def _line(out: Path, n_rows: int, seconds: float) -> Text:
    rate = f"{n_rows / seconds:,.0f} rows/s"
    return Text.assemble(
        ("✓ ", "green"), (f"{n_rows:,} rows", "bold"), " in ", (str(out), "bold"),
        (f"  {size_in_words(out)}, {seconds_in_words(seconds)}, {rate}", "dim"),
    )  # fmt: skip

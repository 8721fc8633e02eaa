"""``rskpca plan``."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from .. import Gaussian, scaling
from .._core.atomic import atomic_write
from .._style import import_pyplot
from ..planning import Plan
from ..planning import plan as make_plan
from ..planning.result import HEADER
from .modelling import Bandwidth, Components, Standardize
from .paths import named, writable
from .reading import DataFile, Reading
from .summary import next_lines
from .voice import Voice

EXAMPLES = """
  rskpca plan data.parquet
  rskpca plan data.csv --exclude name --standardize --ell 5 --plot plan.png
"""


def plan(
    *,
    data: DataFile,
    ell: Annotated[float, typer.Option(help="The one that the advice is about.")] = 4.0,
    components: Components = 5,
    bandwidth: Bandwidth = None,
    standardize: Standardize = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw it too: .png, .svg or .pdf.")
    ] = None,
    reading: Reading,
    voice: Voice,
) -> None:
    """Say what a fit will cost and gain, from a small sample."""
    if plot is not None:
        writable(plot, [data], (".png", ".svg", ".pdf"))
    source = reading.open(data)
    with voice.progress(source, data):
        rows = scaling.standardized(source)[1] if standardize else source
        kernel = Gaussian("median" if bandwidth is None else bandwidth)
        found = make_plan(rows, kernel, ell=ell, n_components=components)
        if plot is not None:
            _draw(found, plot)
    numbers = {**found.to_dict(), "plot": plot, "skipped_rows": source.n_skipped}
    voice.tell(numbers, "", *_shown(found), "", _next(data, reading, standardize))


def _shown(found: Plan) -> list[Any]:
    table = Table(*HEADER, title=found.title, title_justify="left", title_style="bold", box=None)
    for column in table.columns:
        column.justify = "right"
    for fit, cells in zip(found.fits, found.cells(), strict=True):
        table.add_row(*cells, style="bold cyan" if fit.ell == found.ell else "")
    return [table, "", *(Text(f"• {sentence}") for sentence in found.advice)]


def _draw(found: Plan, path: Path) -> None:
    figure = found.plot().figure
    with named(path), atomic_write(path) as unfinished:
        figure.savefig(unfinished, dpi=150)
    import_pyplot().close(figure)


def _next(data: Path, reading: Reading, standardize: bool) -> Text:
    scaled = " --standardize" if standardize else ""
    command = f"rskpca fit {quote(str(data))}{reading.as_options()}{scaled} --report report.html"
    return next_lines({"next": command})

"""``rskpca certify``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ..certificate import Certificate
from ..plotting.models import numbers, split
from .models import ModelFile, loaded
from .reading import Reading, some_rows
from .summary import Summary, judged
from .voice import Voice

EXAMPLES = """
  rskpca certify model.rskpca
  rskpca certify model.rskpca data.parquet --rows 5000    # also measured, on a sample
"""
_HOLDS = {"measured": "on these rows"}


def certify(
    *,
    model: ModelFile,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DATA]",
            help="The fitted data, to measure on a sample.",
            readable=False,
        ),
    ] = None,
    rows: Annotated[int, typer.Option(min=2, help="How many are measured, in O(rows²).")] = 2000,
    confidence: Annotated[float, typer.Option(help="Of what is not certain.")] = 0.95,
    reading: Reading,
    voice: Voice,
) -> None:
    """Say how far a model can be from exact kernel PCA."""
    fitted = loaded(model)
    embedding = split(fitted)[1]
    if not hasattr(embedding, "certify"):
        raise TypeError(f"{type(embedding).__name__} has no certificate; kernel-pca has one.")
    found, chance = embedding.certify(confidence=confidence), None
    if data is not None:
        found, chance = _measured(reading, data, rows, fitted, confidence, voice)
    verdict = Summary(fitted, model.name, {}, {}).verdict
    shown: list[RenderableType] = [judged(verdict), "", _levels(found)]
    if chance is not None:
        shown += ["", chance]
    voice.tell(found.to_dict(), *shown, "", _components(found))


def _measured(
    reading: Reading, data: Path, rows: int, fitted: Any, confidence: float, voice: Voice
) -> tuple[Certificate, Text | None]:
    """The certificate with a level for some rows; what the draw adds to it, unless it is of all."""
    before, embedding = split(fitted)
    source = reading.open_for(fitted, data)
    with voice.progress(source, data) as bar:
        block = some_rows(source, rows)
        bar.stage("measuring")
        seen = numbers(before, block.rows)
        found = embedding.certify(seen, block.weights, confidence=confidence)
    drawn, total = len(block.rows), source.counted()
    return found, None if drawn == total else _chance(embedding.kernel_.kappa, drawn, total)


def _chance(kappa: float, drawn: int, total: int) -> Text:
    """Of a draw, E MMD^2 = (k(x, x) - E k(x, y)) / drawn, to the mean over all rows."""
    by_chance = math.sqrt(kappa / drawn)
    return Text(
        f"Measured on {drawn:,} of {total:,} rows. The draw alone makes up to about "
        f"{by_chance:.2g} of it: what is measured can be above what is certified, which is about "
        f"all rows. --rows {total} measures all, if memory allows."
    )


def _levels(found: Certificate) -> Table:
    """Where it is known from, and the errors of operators divided by n."""
    table = Table("known from", "MMD", "operator", "eigenvalue / n", "holds", box=None)
    for level in found.levels:
        holds = "always" if level.confidence == 1 else f"at {level.confidence:.3g}"
        values = [_number(v) for v in (level.mmd, level.operator, level.eigenvalue)]
        table.add_row(level.name, *values, _HOLDS.get(level.name, holds))
    return table


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _components(found: Certificate) -> Table:
    likely = f"at {found.confidence:.3g} in"
    table = Table("component", "eigenvalue", "always in", likely, "angle of the space", box=None)
    rows = zip(found.eigenvalues, found.certain, found.likely, found.likely_angles, strict=True)
    for k, (value, certain, interval, angle) in enumerate(rows):
        known = Text("not known", "dim") if angle != angle else Text(f"{angle:.2g}°")
        table.add_row(f"{k + 1}", f"{value:.4g}", _interval(certain), _interval(interval), known)
    return table


def _interval(ends: Any) -> str:
    return f"{ends[0]:.4g} to {ends[1]:.4g}"

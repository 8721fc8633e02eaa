"""``rskpca fit``: the main job."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from .. import scaling
from .._format import percent
from ..data import Source
from ..io import save
from .modelling import Modelling
from .models import known_features, last_step, loaded
from .paths import named, writable
from .progress import Bar
from .reading import DataFile, Reading
from .reporting import Colour, write_report
from .summary import Summary, next_lines
from .voice import Voice

EXAMPLES = """
  rskpca fit data.parquet --report report.html
  rskpca fit data.csv --exclude 'name,town' --standardize --color class --report report.html
  rskpca fit parts/ --columns 'x*' --ell 5 -o model.rskpca --checkpoint parts.note
"""

_DOMINANT = 0.95  # share of the variance


def fit(
    *,
    data: DataFile,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The model; else DATA's name.rskpca."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write an HTML report.")
    ] = None,
    color: Colour = None,
    modelling: Modelling,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Note the state; go on from it.")
    ] = None,
    reading: Reading,
    voice: Voice,
) -> None:
    """Fit a model to a file of any size, and say how wrong it can be."""
    read = [path for path in (data, checkpoint, modelling.like) if path is not None]
    model_path = writable(output or Path(f"{data.stem}.rskpca"), read)
    if report is not None:
        writable(report, [data, model_path], (".html", ".htm"))
    estimator = modelling.estimator()
    known = None if modelling.like is None else known_features(loaded(modelling.like))
    source = reading.open(data, color=color, known=known)
    with voice.progress(source, data) as bar:
        summary = fitted(estimator, source, model_path, bar, data.name, checkpoint=checkpoint)
        if report is not None:
            summary = reported(summary, source, report, color, bar)
    _warn_of_scales(summary, voice)
    numbers = {**summary.to_dict(), "skipped_rows": source.n_skipped}
    voice.tell(numbers, summary, next_lines(_next(summary, data, reading)))


def fitted(
    estimator: Any, source: Source, path: Path, bar: Bar, name: str, checkpoint: Path | None = None
) -> Summary:
    """Fit, and write the model."""
    start = time.perf_counter()
    model = scaling.fit(estimator, source, checkpoint=checkpoint, progress=bar.counted)
    bar.stage("solving")
    _ = last_step(model).eigenvalues_  # solved when it is first asked for
    seconds = {"read and fit": time.perf_counter() - start}
    bar.stage("writing the model")
    with named(path):
        save(model, path)
    return Summary(model, name, seconds, {"model": path})


def reported(summary: Summary, source: Source, path: Path, color: str | None, bar: Bar) -> Summary:
    """The summary with a report beside the model."""
    bar.stage("writing the report")
    start = time.perf_counter()
    title = Path(summary.name).stem
    write_report(summary.model, source, path, color=color, title=title, seconds=summary.seconds)
    seconds = {**summary.seconds, "report": time.perf_counter() - start}
    return replace(summary, seconds=seconds, files={**summary.files, "report": path})


def _warn_of_scales(summary: Summary, voice: Voice) -> None:
    """Distances within a row number, or in one unit of many, are hardly ever meant."""
    j, share = summary.dominant
    if share > _DOMINANT and summary.embedding.n_features_in_ > 1:
        names = known_features(summary.model)
        name = f"column {j}" if names is None else f"column {names[j]!r}"
        other = ", or give --standardize" if summary.embedding is summary.model else ""
        voice.note(
            f"{name} has {percent(share)} of the variance of all features, and so decides alone "
            f"what is near. Leave it out with --exclude{other}."
        )


def _next(summary: Summary, data: Path, reading: Reading) -> dict[str, str]:
    named = known_features(summary.model) is not None  # then they need not be named again
    options = reading.as_options(("columns", "exclude", "weight") if named else ("weight",))
    of = f"{quote(str(summary.files['model']))} {quote(str(data))}{options}"
    out = quote(f"{data.stem}-embedded.parquet")
    found = {"embed the rows": f"rskpca transform {of} -o {out}"}
    if "report" not in summary.files:
        found["look at it"] = f"rskpca report {of} -o {quote(f'{data.stem}.html')}"
    if summary.verdict.colour in ("amber", "red") and not _is_refined(summary.embedding):
        found["a smaller error"] = "the same with --refine, or with a larger --ell"
        found["measure the error"] = f"rskpca certify {of}"
    return found


def _is_refined(embedding: Any) -> bool:
    return getattr(embedding, "refine", None) is not None

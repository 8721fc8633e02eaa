"""``rskpca fit``: the main job."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import scaling
from ..io import save
from .modelling import Modelling
from .models import known_features, loaded
from .paths import writable
from .reading import DataFile, Reading
from .reporting import Colour, write_report
from .summary import Summary, next_lines
from .voice import Voice

EXAMPLES = """
  rskpca fit data.parquet --report report.html
  rskpca fit data.csv --exclude 'name,town' --standardize --color class --report report.html
  rskpca fit parts/ --columns 'x*' --ell 5 -o model.rskpca --checkpoint parts.note
"""


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
    model_path = writable(output or Path(f"{data.stem}.rskpca"), [data])
    if report is not None:
        writable(report, [data, model_path], (".html", ".htm"))
    estimator = modelling.estimator()
    known = None if modelling.like is None else known_features(loaded(modelling.like))
    source = reading.open(data, ids=[] if color is None else [color], known=known)
    seconds: dict[str, float] = {}
    with voice.progress(source.n_rows) as bar:
        source.watch = bar.read
        model = _fitted(estimator, source, checkpoint, bar, seconds)
        bar.stage("writing the model")
        save(model, model_path)
        files = {"model": model_path}
        if report is not None:
            bar.stage("writing the report")
            start = time.perf_counter()
            write_report(model, source, report, color=color, title=data.stem, seconds=seconds)
            seconds["report"] = time.perf_counter() - start
            files["report"] = report
    summary = Summary(model, data.name, seconds, files)
    voice.tell(summary.to_dict(), summary, next_lines(_next(summary, data)))


def _fitted(
    estimator: Any, source: Any, checkpoint: Path | None, bar: Any, seconds: dict[str, float]
) -> Any:
    start = time.perf_counter()
    model = scaling.fit(estimator, source, checkpoint=checkpoint, progress=bar.counted)
    bar.stage("solving")
    _ = model[-1].eigenvalues_ if hasattr(model, "steps") else model.eigenvalues_
    seconds["read and fit"] = time.perf_counter() - start
    return model


def _next(summary: Summary, data: Path) -> dict[str, str]:
    model = summary.files["model"]
    out = f"{data.stem}-embedded.parquet"
    found = {"embed the rows": f"rskpca transform {model} {data} -o {out}"}
    if "report" not in summary.files:
        found["look at it"] = f"rskpca report {model} {data} -o {data.stem}.html"
    if summary.verdict.colour in ("amber", "red") and not _is_refined(summary.embedding):
        found["a smaller error"] = "the same with --refine, or with a larger --ell"
    return found


def _is_refined(embedding: Any) -> bool:
    return getattr(embedding, "refine", None) is not None

"""The program and its nine commands, in order of typical use.

Libraries are imported inside the commands, so that ``--help`` responds immediately.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from . import options as opt
from .files import PAGES, PICTURES, TABLES, atomic_write, check_output, shell_path, stem_of
from .output import Display
from .program import Command, Program

app = typer.Typer(
    cls=Program,
    help="Kernel PCA for files of any size, with an error estimate.",
    add_completion=False,
    add_help_option=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _command(*examples: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a command, with examples at the end of its help."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        lines = "\n  ".join(("Examples:", *examples))
        app.command(cls=Command, epilog=lines)(opt.expand(function))
        return function

    return register


@app.callback(
    epilog="Examples:\n  rskpca demo\n  rskpca fit data.parquet --report report.html\n\n"
    "Exit codes: 0 success, 1 a problem with the data, a model or a file,\n"
    "2 invalid options, 70 a bug, 130 interrupted."
)
def _program() -> None:
    """Define the command group, which has no options of its own."""


@_command("rskpca demo", "rskpca demo --folder somewhere")
def demo(
    *,
    folder: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Output folder; created if it does not exist.")
    ] = Path("rskpca-demo"),
    display: Display,
) -> None:
    """Fit a model to handwritten digits, write a report and suggest next steps."""
    from ..data import open_source
    from ..embedding import ReducedSetKernelPCA
    from . import modeling, rows, summary

    folder.mkdir(exist_ok=True)
    data, model, page = (folder / f"digits.{ending}" for ending in ("parquet", "rskpca", "html"))
    with atomic_write(check_output(data)) as temporary:
        rows.write_digits(temporary)
    source = open_source(data, ids="digit")
    estimator = ReducedSetKernelPCA(3, bandwidth=80.0, refine="nystrom")
    with display.progress(source, data) as bar:
        result = modeling.fit(estimator, source, model, bar, data.name)
        bar.stage("writing the report")
        wanted = modeling.Report(
            page,
            "Handwritten digits",
            fit=f"rskpca fit {data} --exclude digit --bandwidth 80 -r 3",
            transform=result.transform_command(model, data, opt.Reading()),
            color="digit",
        )
        result = modeling.add_report(result, source, wanted)
    commands = [
        ("read the report", f"open {page} in a browser"),
        ("predict the cost", f"rskpca plan {data} --exclude digit"),
        ("use fewer centers", f"rskpca fit {data} --exclude digit --bandwidth 120 -r 3"),
        ("check the error", f"rskpca certify {model} {data}"),
        ("compare", f"rskpca compare {data} --exclude digit"),
        ("fit your own data", "rskpca fit yours.parquet --report report.html"),
    ]
    intro = "scikit-learn's 1,797 handwritten digits, 8 x 8 pixels each"
    display.show(result.to_dict(), intro, result, summary.show_commands(commands))


@_command(
    "rskpca plan data.parquet",
    "rskpca plan data.csv --exclude id --standardize --max-error 0.01",
    "rskpca plan data.csv --exclude id --ell 4 --plot plan.png",
)
def plan(
    *,
    data: opt.DataPath,
    plot: Annotated[Path | None, opt.File(help="Also write a figure: .png, .svg or .pdf.")] = None,
    components: opt.Components = 5,
    max_error: opt.MaxError = None,
    ell: opt.PlannedEll = None,
    bandwidth: opt.Bandwidth = None,
    standardize: opt.Standardize = False,
    reading: opt.Reading,
    display: Display,
) -> None:
    """Recommend a command, and predict its time, size and error from a sample."""
    from .. import scaling
    from . import modeling, rows, summary

    if plot is not None:
        check_output(plot, [data], PICTURES)
    settings = opt.Settings(
        components, max_error, ell, bandwidth=bandwidth, standardize=standardize
    )
    source = rows.open_rows(reading, data)
    review = rows.review(source, standardize=standardize)
    display.note(*review.notes)
    if review.should_standardize and bandwidth is None:  # a given bandwidth is in original units
        standardize = True
        settings = replace(settings, standardize=True)
    with display.progress(source, data) as bar:
        seen = scaling.standardized(source)[1] if standardize else source
        if ell is None and plot is None:
            bar.stage("choosing landmarks")
            landmarks = modeling.build_automatic(settings)._as_landmark_model(seen.n_features)
            result: Any = modeling.expect(landmarks, seen, standardized=standardize)
            numbers = asdict(result)
        else:
            settings = replace(settings, ell=ell or 4.0, max_error=None)
            result = _plan_reduced_set(settings, seen, plot)
            numbers = {**result.to_dict(), "plot": plot}
            result = str(result)
    options = f"{reading.as_options()}{settings.as_options()}"
    page = shell_path(f"{stem_of(data)}.html")
    command = f"rskpca fit {shell_path(data)}{options} --report {page}"
    numbers |= {"command": command, "left_out": source.left_out, "skipped_rows": source.n_skipped}
    report_time = "The predicted time does not include the time for the report."
    display.show(
        numbers, "", result, report_time, "", summary.show_commands([("recommended", command)])
    )


def _plan_reduced_set(settings: opt.Settings, source: Any, plot: Path | None) -> Any:
    """Predict reduced-set fits for several values of ell, and plot them if requested."""
    from .. import Gaussian
    from .. import plan as make_plan

    kernel = Gaussian(settings.bandwidth or "median")
    result = make_plan(source, kernel, ell=settings.ell or 4.0, n_components=settings.components)
    if plot is not None:
        with atomic_write(plot) as temporary:
            result.plot().figure.savefig(temporary, dpi=150)
    return result


@_command(
    "rskpca fit data.parquet --report report.html",
    "rskpca fit data.csv --exclude id --standardize --max-error 0.01",
    "rskpca fit parts/ --columns 'x*' --method reduced-set -o model.rskpca",
)
def fit(
    *,
    data: opt.DataPath,
    output: Annotated[
        Path | None, opt.OutputFile(help="Model file; DATA.rskpca by default.")
    ] = None,
    report: Annotated[Path | None, opt.File(help="Also write an HTML report.")] = None,
    color: opt.Color = None,
    id_name: opt.ReportId = None,
    checkpoint: Annotated[
        Path | None, opt.File(help="File for saving and resuming the fit.")
    ] = None,
    settings: opt.Settings,
    reading: opt.Reading,
    display: Display,
) -> None:
    """Fit a model to a file of any size and estimate its error."""
    from . import modeling, rows, summary

    model = output or Path(f"{stem_of(data)}.rskpca")
    check_output(model, [data, checkpoint, settings.like])
    if report is not None:
        check_output(report, [data, model], PAGES)
    like = None if settings.like is None else modeling.load_model(settings.like).fitted
    estimator = modeling.build(settings, like)
    source = rows.open_rows(reading, data, like, ids=[id_name] if id_name else (), color=color)
    if like is None:
        display.note(*rows.review(source, standardize=settings.standardize).notes)
    with display.progress(source, data) as bar:
        result = modeling.fit(
            estimator, source, model, bar, data.name, checkpoint, small=settings.small
        )
        if report is not None:
            bar.stage("writing the report")
            wanted = modeling.Report(
                report,
                stem_of(data),
                fit=shlex.join(["rskpca", *sys.argv[1:]]),
                transform=result.transform_command(model, data, reading, id_name),
                color=color,
                id=id_name,
            )
            result = modeling.add_report(result, source, wanted)
    numbers = {**result.to_dict(), "left_out": source.left_out, "skipped_rows": source.n_skipped}
    commands = result.next_commands(data, reading, id_name)
    display.show(numbers, result, summary.show_commands(commands))


@_command(
    "rskpca transform model.rskpca data.parquet --id customer",
    "rskpca transform model.rskpca data.npy -o embedded.npy",
    "rskpca transform clusters.rskpca data.csv --labels -o labels.csv",
)
def transform(
    *,
    model: opt.ModelPath,
    data: opt.DataPath,
    output: Annotated[Path | None, opt.OutputFile(help="A .npy, .parquet or .csv file.")] = None,
    ids: Annotated[
        list[str] | None,
        opt.Output("--id", metavar="NAME", help="Column to copy to the output; can be repeated."),
    ] = None,
    labels: Annotated[
        bool,
        opt.Output(
            "--labels",
            help="Write cluster labels, or the outliers of a detector fitted in Python.",
        ),
    ] = False,
    reading: opt.Reading,
    display: Display,
) -> None:
    """Embed the rows of a file with a fitted model."""
    from .. import scaling
    from . import modeling, rows, summary

    path = output or Path(f"{stem_of(data)}-embedded.parquet")
    check_output(path, [model, data], TABLES)
    loaded = modeling.load_model(model)
    modeling.check_can_apply(loaded.fitted, labels=labels)
    source = rows.open_rows(reading, data, loaded.fitted, ids=ids or ())
    apply = scaling.predict if labels else scaling.transform
    start = time.perf_counter()
    with display.progress(source, data, skipped="left the output empty for {} with {}.") as bar:
        bar.verb, bar.next_stage = "embedding", "writing"
        apply(loaded.estimator, source, path, progress=bar.rows_done)
    seconds = time.perf_counter() - start
    skipped = source.n_skipped or 0
    n_rows = source.counted() + skipped
    numbers = {"output": path, "rows": n_rows, "skipped_rows": skipped, "seconds": seconds}
    display.show(numbers, summary.show_file(path, seconds, n_rows))


@_command("rskpca inspect model.rskpca", "rskpca inspect model.rskpca --json | jq .centers")
def inspect(*, model: opt.ModelPath, display: Display) -> None:
    """Show the contents of a model file and estimate its error."""
    from ..io import describe
    from . import modeling, summary

    header, loaded = describe(model), modeling.load_model(model)
    numbers: dict[str, Any] = {"file": asdict(header)}
    lines = summary.show_header(header)
    if loaded.fitted.has_model:
        display.show({**numbers, **loaded.to_dict()}, loaded, lines)
    else:  # a density
        display.show(numbers, lines)


@_command(
    "rskpca certify model.rskpca",
    "rskpca certify model.rskpca data.parquet --rows 5000",
)
def certify(
    *,
    model: opt.ModelPath,
    data: opt.FittedData = None,
    n_rows: Annotated[
        int,
        typer.Option(
            "--rows",
            min=2,
            metavar="N",
            help="Number of rows to measure; time and memory grow as N².",
        ),
    ] = 2000,
    confidence: opt.Confidence = 0.95,
    reading: opt.Reading,
    display: Display,
) -> None:
    """Estimate the difference between a model and exact kernel PCA."""
    from ..planning.verdict import judge
    from . import modeling, rows, summary

    loaded = modeling.load_model(model)
    fitted = loaded.fitted
    modeling.check_certified(fitted)
    found, note = fitted.model.certify(confidence), []
    if data is not None:
        source = rows.open_rows(reading, data, fitted)
        with display.progress(source, data) as bar:
            block = rows.sample(source, n_rows)
            bar.stage("measuring")
            measured = fitted.prepare(block.rows)
            found = fitted.model.certify(confidence, measured, block.weights)
        sizes = len(block.rows), source.counted()
        kappa = float(fitted.kernel.diagonal(measured).mean())
        note = summary.sampling_note(found, kappa, *sizes)
    verdict = summary.show_verdict(judge(fitted.model, found))
    display.show(found.to_dict(), verdict, "", *summary.show_certificate(found), *note)


@_command(
    "rskpca report model.rskpca data.parquet",
    'rskpca report model.rskpca data.csv --color class --title "Last week"',
    "rskpca report model.rskpca data.csv --id customer",
)
def report(
    *,
    model: opt.ModelPath,
    data: opt.DataPath,
    output: Annotated[Path, opt.OutputFile(help="HTML file.")] = Path("report.html"),
    color: opt.Color = None,
    id_name: opt.ReportId = None,
    title: Annotated[
        str | None, opt.Output(metavar="TEXT", help="Title; the name of DATA by default.")
    ] = None,
    reading: opt.Reading,
    display: Display,
) -> None:
    """Write a report on a model as a single HTML file that works offline."""
    from . import modeling, rows, summary

    check_output(output, [model, data], PAGES)
    loaded = modeling.load_model(model)
    ids = [id_name] if id_name else ()
    source = rows.open_rows(reading, data, loaded.fitted, ids=ids, color=color)
    wanted = modeling.Report(
        output,
        title or data.stem,
        fit=f"rskpca fit {shell_path(data)}{reading.as_options()}",
        transform=loaded.transform_command(model, data, reading, id_name),
        color=color,
        id=id_name,
    )
    with display.progress(source, data):
        result = modeling.add_report(loaded, source, wanted)
    seconds = result.seconds["report"]
    numbers = {"report": output, "seconds": seconds, "skipped_rows": source.n_skipped}
    line = summary.show_file(output, seconds)
    display.show(numbers, line, *([result.excerpt] if result.excerpt else []))


@_command(
    "rskpca fit monday.parquet",
    "rskpca fit tuesday.parquet --like monday.rskpca",
    "rskpca merge monday.rskpca tuesday.rskpca -o week.rskpca",
)
def merge(
    *,
    models: opt.ModelPaths,
    output: Annotated[Path, opt.OutputFile(help="Merged model file.")] = Path("merged.rskpca"),
    display: Display,
) -> None:
    """Merge models fitted to parts of the data, without reading the data."""
    from . import modeling

    check_output(output, models)
    result = modeling.merge_models(models, output)
    display.show(result.to_dict(), result)


@_command(
    "rskpca compare data.parquet",
    "rskpca compare data.csv --exclude name --standardize --rows 500000",
)
def compare(
    *,
    data: opt.DataPath,
    output: Annotated[Path, opt.OutputFile(help="Figure: .png, .svg or .pdf.")] = Path(
        "compare.png"
    ),
    n_rows: Annotated[
        int, opt.Input("--rows", min=100, metavar="N", help="Number of rows to load into memory.")
    ] = 100_000,
    components: opt.Components = 5,
    ell: opt.Ell = 4.0,
    bandwidth: opt.Bandwidth = None,
    standardize: opt.Standardize = False,
    reading: opt.Reading,
    display: Display,
) -> None:
    """Compare rskpca with scikit-learn on your data: time, memory, size and error."""
    from sklearn.preprocessing import StandardScaler

    from .. import Gaussian
    from . import comparison, rows

    check_output(output, [data], PICTURES)
    source = rows.open_rows(reading, data)
    display.note(*rows.review(source, standardize=standardize).notes)
    with display.progress(source, data) as bar:
        table = rows.sample(source, n_rows).rows
        if standardize:
            table = StandardScaler().fit_transform(table)
        kernel = Gaussian(bandwidth or "median").resolve(table, None, 0)
        task = comparison.Task(components, kernel)
        result = comparison.compare(table, task, ell, bar.stage)
        bar.stage("drawing")
        with atomic_write(output) as temporary:
            comparison.draw(data.name, result, temporary)
    numbers = {**result.to_dict(), "skipped_rows": source.n_skipped, "picture": output}
    display.show(numbers, "", *comparison.show(data.name, result), f"Figure: {output}")

"""Summary of a fitted model for the terminal: size, error, files and next steps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.filesize import decimal
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from .._format import percent, seconds_in_words
from ..certificate import Certificate
from ..embedding import KernelPCA
from ..io import Description
from ..model import FittedEstimator, FittedModel, unwrap
from ..planning.suggestions import suggest
from ..planning.verdict import Verdict, error_in_words, judge
from .files import shell_path, stem_of
from .options import Reading
from .program import printable

_COLORS = {"green": "green", "amber": "yellow", "red": "red", "none": "dim"}
_SIGNS = {"green": "✓", "amber": "!", "red": "✕", "none": "?"}
_MAX_COMPONENTS = 8
_BAR, _NAMES = 30, 62  # characters in the longest bar and in the feature names
_OPTIONS = {  # options of the fit command, by parameter
    "refine": "--refine",
    "basis": "--small",
    "n_components": "--components {}",
    "ell": "--ell {:g}",
    "tol": "--max-error {:g} --method reduced-set",
    "bandwidth": "--bandwidth {:g}",
}


@dataclass(frozen=True)
class Summary:
    """A fitted estimator, the name of its data, and the times and files of a command."""

    estimator: Any
    name: str
    seconds: Mapping[str, float] = field(default_factory=dict)  # by step
    files: Mapping[str, Path] = field(default_factory=dict)  # written files, by kind
    replaced: tuple[Path, ...] = ()  # written files that existed before
    excerpt: str = ""  # the part of the rows and features in the report, unless it has all

    @cached_property
    def fitted(self) -> FittedEstimator:
        """Return the unwrapped estimator."""
        return unwrap(self.estimator)

    @property
    def model(self) -> FittedModel:
        """Return the solved embedding."""
        return self.fitted.model

    @cached_property
    def verdict(self) -> Verdict:
        """Return the verdict on the model's error."""
        return judge(self.model)

    @property
    def n_rows(self) -> float | None:
        """Return the number of fitted rows, or None if the model does not contain it."""
        known = self.model.certified or not self.model.landmarks
        return self.model.reduced_set.n_samples if known else None

    @property
    def method(self) -> str | None:
        """Return the method that KernelPCA chose, or None for other estimators."""
        last = self.fitted.estimator
        return last.method_ if isinstance(last, KernelPCA) else None

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as JSON-serializable data."""
        fitted, model, certificate = self.fitted, self.model, self.model.certificate
        return {
            **{kind: str(path) for kind, path in self.files.items()},
            "method": fitted.name,
            "description": self.method,
            "rows": _whole(self.n_rows),
            "features": fitted.n_features,
            "feature_names": fitted.columns,
            "centers": model.n_centers,
            "kernel": type(model.kernel).__name__,
            "bandwidth": fitted.bandwidth,
            "ell": model.ell,
            "standardized": fitted.preprocessing is not None,
            "eigenvalues": model.eigenvalues,
            "explained_variance_ratio": model.explained_variance_ratio,
            "verdict": {"color": self.verdict.color, "headline": self.verdict.headline},
            "certificate": None if certificate is None else certificate.to_dict(),
            "cluster_sizes": self.cluster_sizes,
            "seconds": dict(self.seconds),
            "replaced": [str(path) for path in self.replaced],
        }

    @property
    def cluster_sizes(self) -> list[float] | None:
        """Return the number of rows in each cluster, or None if there are no clusters."""
        model = self.model
        if model.partition is None:
            return None
        labels, count = model.center_labels, len(model.partition.offsets)
        return np.bincount(labels, model.reduced_set.weights, minlength=count).tolist()

    def __rich__(self) -> RenderableType:
        verdict = self.verdict
        if self.files and verdict.color == "green":  # inspect and certify show the explanation
            verdict = replace(verdict, sentences=())
        parts = [self._sizes(), Text(), show_verdict(verdict), Text(), self._components()]
        if self.cluster_sizes is not None:
            parts += [Text(), self._clusters(self.cluster_sizes)]
        if self.files:
            parts += [Text(), self._files()]
        if self.excerpt:
            parts += [Text(self.excerpt, "dim")]
        times = [f"{name} {seconds_in_words(value)}" for name, value in self.seconds.items()]
        return Panel(
            Group(*parts), title=Text(self.name, "bold"), title_align="left",
            subtitle=", ".join(times) or None, subtitle_align="right", padding=(1, 2),
            border_style=_COLORS[self.verdict.color],
        )  # fmt: skip

    def _sizes(self) -> RenderableType:
        fitted, model, m = self.fitted, self.model, self.model.n_centers
        line = Text("", style="default")
        rows, kept = "", ""
        if self.n_rows is not None:
            rows, kept = f"{self.n_rows:,.10g} rows x ", f" ({percent(m / self.n_rows)})"
        line.append(f"{rows}{fitted.n_features} features", "bold").append(" → ")
        points = "landmarks" if model.landmarks else "centers"
        line.append(f"{m:,} {points}", "bold cyan").append(kept)
        if len(model.basis) != m:
            line.append(" → ").append(f"basis of {len(model.basis):,}", "bold cyan")
        line.append(" → ").append(f"{len(model.eigenvalues)} components", "bold")
        ell = "" if model.ell is None else f", ell {model.ell:.3g}"
        scaled = "" if fitted.preprocessing is None else ", standardized"
        line.append(f"\n{fitted.name}, {fitted.kernel_name}{ell}{scaled}", "dim")
        if self.method is not None:
            line.append(f"\nMethod: {self.method}", "dim")
        names = fitted.columns
        return line if names is None else line.append(f"\nFeatures: {_shorten(names)}", "dim")

    def _components(self) -> RenderableType:
        """Return one line per component, with its share of the variance and its error bound."""
        shares = self.model.explained_variance_ratio
        values = self.model.eigenvalues if shares is None else shares
        if shares is None:
            heading, error = "Eigenvalue of each component", ", and its relative error"
        else:
            heading = "Share of the variance explained by each component"
            error = ", and the relative error of its eigenvalue"
        if not self.verdict.components:
            error = ""
        table = Table.grid(padding=(0, 2))
        for k, value in enumerate(values[:_MAX_COMPONENTS]):
            bar = "━" * max(1, round(_BAR * float(value) / float(values[0])))
            share = f"{value:.3g}" if shares is None else percent(float(value))
            table.add_row(f"{k + 1}", Text(bar, "cyan"), share, self._bound(k), style="default")
        if len(values) > _MAX_COMPONENTS:
            table.add_row("", Text(f"and {len(values) - _MAX_COMPONENTS} more", "dim"))
        return Group(Text(f"{heading}{error}:", "dim"), table)

    def _bound(self, k: int) -> Text:
        if k >= len(self.verdict.components):
            return Text()
        component = self.verdict.components[k]
        text = error_in_words(component.error) if component.error < 1 else "unknown"
        sign = "± " if text[0].isdigit() else ""
        return Text(f"{sign}{text}", _COLORS[component.color])

    def _clusters(self, sizes: Sequence[float]) -> RenderableType:
        shown = [f"{size:,.10g} ({percent(size / sum(sizes))})" for size in sizes]
        return Text(f"Rows per cluster (numbered from 0): {', '.join(shown)}", "default")

    def _files(self) -> RenderableType:
        table = Table.grid(padding=(0, 2))
        for kind, path in self.files.items():
            size = f"{size_of(path)}{', replaced' if path in self.replaced else ''}"
            cells = Text(kind, "dim"), Text(_one_line(path), "bold"), Text(size, "dim")
            table.add_row(*cells, style="default")
        return table

    def next_commands(
        self, data: Path, reading: Reading, id_name: str | None = None
    ) -> list[tuple[str, str]]:
        """Return (purpose, command) pairs to suggest after a fit."""
        model = self.files["model"]
        files = self._inputs(model, data, reading)
        commands = [("embed the rows", self.transform_command(model, data, reading, id_name))]
        if "report" not in self.files:
            page = shell_path(f"{stem_of(data)}.html")
            commands += [("see a report", f"rskpca report {files} -o {page}")]
        if self.verdict.color in ("amber", "red"):
            commands += [("measure the error", f"rskpca certify {files}")]
        for suggestion in suggest(self.fitted):
            options = _as_options(suggestion.changes)
            if options:
                title = suggestion.title[:1].lower() + suggestion.title[1:]
                commands += [("or fit again with", f"{options}  ({title})")]
        return commands

    def transform_command(
        self, model: Path, data: Path, reading: Reading, id_name: str | None = None
    ) -> str:
        """Return the command that embeds the rows."""
        copied = "" if id_name is None else f" --id {quote(id_name)}"
        embedded = shell_path(f"{stem_of(data)}-embedded.parquet")
        return f"rskpca transform {self._inputs(model, data, reading)}{copied} -o {embedded}"

    def _inputs(self, model: Path, data: Path, reading: Reading) -> str:
        """Return the arguments and options that select the model, the data and its columns."""
        named = self.fitted.columns is not None  # if so, columns are selected by name
        options = reading.as_options(
            ("columns", "exclude", "include", "weight") if named else ("weight",)
        )
        return f"{shell_path(model)} {shell_path(data)}{options}"


def _whole(number: float | None) -> float | int | None:
    """Convert whole numbers to integers; return other values unchanged."""
    return number if number is None or not float(number).is_integer() else int(number)


def with_options(command: str, changes: Mapping[str, Any]) -> str:
    """Return a fit command with these parameters changed, or "" if it has no options for them."""
    options = _as_options(changes)
    return f"{command} {options}" if options else ""


def _as_options(changes: Mapping[str, Any]) -> str:
    """Return the options of the fit command for these parameters."""
    given = [_OPTIONS.get(name, "").format(value) for name, value in changes.items() if value]
    return " ".join(filter(None, given))


def _one_line(name: str | Path) -> str:
    """Return a name without line breaks and control characters."""
    return printable(str(name), one_line=True)


def _shorten(names: Sequence[str]) -> str:
    """Return the first names and the number of those omitted."""
    names = list(map(_one_line, names))
    ends = accumulate(len(name) + 2 for name in names)
    shown = [name for name, end in zip(names, ends, strict=True) if end <= _NAMES]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def size_of(path: Path) -> str:
    """Return the size of a file in a human-readable unit."""
    return decimal(path.stat().st_size)


def show_verdict(verdict: Verdict) -> RenderableType:
    """Return the verdict with its symbol and explanation."""
    sign, style = _SIGNS[verdict.color], f"bold {_COLORS[verdict.color]}"
    table = Table.grid(padding=(0, 1))
    table.add_row(Text(sign, style), Text(verdict.headline, style))
    if verdict.sentences:
        table.add_row("", Text(" ".join(verdict.sentences), "default"))
    return table


def show_commands(commands: Sequence[tuple[str, str]]) -> Text:
    """Return suggested commands, unwrapped so that they can be copied."""
    width = max(len(purpose) for purpose, _ in commands)
    lines = [
        Text.assemble((f"  {purpose:{width}}  ", "dim"), (_one_line(command), "bold"))
        for purpose, command in commands
    ]
    return Text("\n", no_wrap=True).join(lines)


def show_file(path: Path, seconds: float, n_rows: int | None = None) -> Text:
    """Return one line describing a written file."""
    what = "" if n_rows is None else f"{n_rows:,} rows in "
    rate = "" if n_rows is None else f", {n_rows / seconds:,.0f} rows/s"
    details = f"  {size_of(path)}, {seconds_in_words(seconds)}{rate}"
    return Text.assemble(("✓ ", "green"), what, (_one_line(path), "bold"), (details, "dim"))


def show_header(header: Description) -> str:
    """Return two lines describing a model file."""
    centers = "" if header.n_centers is None else f", {header.n_centers:,} centers"
    return (
        f"  contents  {header.class_name}, {header.n_features} features{centers}\n"
        f"  written   {header.created:%Y-%m-%d %H:%M} UTC by rskpca {header.rskpca}, "
        f"{decimal(header.n_bytes)}"
    )


def show_certificate(certificate: Certificate) -> list[RenderableType]:
    """Return a table of errors by source, and a table of intervals by component."""
    levels = Table("source", "MMD", "operator", "eigenvalue / n", "valid", box=None)
    for level in certificate.levels:
        values = (level.mmd, level.operator, level.eigenvalue)
        cells = ["-" if value is None else f"{value:.3g}" for value in values]
        always = "always" if level.confidence == 1 else f"at {percent(level.confidence)}"
        levels.add_row(level.name, *cells, "on these rows" if level.name == "measured" else always)
    interval = f"{percent(certificate.confidence)} interval"
    components = Table(
        "component", "eigenvalue", "guaranteed interval", interval, "angle", box=None
    )
    intervals = zip(certificate.certain, certificate.likely, strict=True)
    for k, ends in enumerate(intervals):
        cells = [f"{low:.4g} to {high:.4g}" for low, high in ends]
        angle = float(certificate.likely_angles[k])
        known = Text("n/a", "dim") if math.isnan(angle) else Text(f"{angle:.2g}°")
        components.add_row(f"{k + 1}", f"{certificate.eigenvalues[k]:.4g}", *cells, known)
    return [levels, "", components]


def sampling_note(
    certificate: Certificate, kappa: float, n_rows: int, total: int
) -> list[RenderableType]:
    """Return a note on the sampling error of a measurement, or nothing if it used all rows."""
    measured = any(level.name == "measured" for level in certificate.levels)
    if n_rows == total or not measured:
        return []
    # The expected squared MMD between a sample and all rows is (k(x, x) - E k(x, y)) / n_rows.
    by_chance = math.sqrt(kappa / n_rows)
    return [
        "",
        f"Measured on {n_rows:,} of {total:,} rows. Sampling alone adds up to about "
        f"{by_chance:.2g}, so a measured error can exceed the bounds, which apply to all rows. "
        f"To measure all rows, use --rows {total}.",
    ]

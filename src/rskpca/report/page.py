"""Fill the page templates with a subject and its figures. Jinja escapes all text."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from plotly.io.json import to_json_plotly
from plotly.offline import get_plotlyjs

from .. import __version__ as version
from .._format import percent, seconds_in_words
from .._style import CATEGORIES
from ..certificate import Certificate
from ..density import ShadowDensity
from ..pairs import Estimate
from ..planning.advice import Suggestion
from ..planning.verdict import Verdict
from .figures import error_label, has_visible_intervals
from .style import DARK, LIGHT, TO_DARK
from .subject import ESTIMATED_ERROR, Subject

AsCommand = Callable[[Mapping[str, Any]], str]
Step = tuple[str, str, str]  # a title, a sentence, and a shell command or Python code


def render(
    title: str,
    subject: Subject,
    verdict: Verdict,
    suggestions: Sequence[Suggestion],
    steps: Sequence[Step],
    as_command: AsCommand | None,
    figures: dict[str, Any],
    date: str,
) -> str:
    """Render the page as HTML."""
    environment = Environment(
        loader=PackageLoader(__package__, "templates"), autoescape=True,
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template("page.html").render(
        title=title,
        subtitle=_subtitle(subject),
        verdict=verdict,
        steps=[*steps, *(_step(suggestion, as_command) for suggestion in suggestions)],
        tiles=_tiles(subject),
        facts=_facts(subject),
        captions={
            "retention": _retention_caption(subject),
            "embedding": _embedding_caption(subject),
            "spectrum": _spectrum_caption(subject),
            "certificate": _certificate_caption(subject, verdict),
        },
        table=figures["embedding"],
        pictures=list(figures),
        footer=f"rskpca {version}, {date}",
        colors={"light": LIGHT, "dark": DARK, "to_dark": TO_DARK, "categories": CATEGORIES},
        data=_pack(to_json_plotly(figures)),
        plotly=_packed_plotly(),
    )


def _pack(text: str) -> str:
    """Compress text for the page, which decompresses it."""
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()


@cache
def _packed_plotly() -> str:
    return _pack(get_plotlyjs())


def _step(suggestion: Suggestion, as_command: AsCommand | None) -> Step:
    """Return the title and reason of a suggestion, and a shell command or Python code."""
    command = "" if as_command is None else as_command(suggestion.changes)
    return suggestion.title, suggestion.reason, command or suggestion.code


def _subtitle(subject: Subject) -> str:
    fitted = subject.fitted
    scaled = "" if fitted.preprocessing is None else ", standardized"
    rows = f"{subject.n_rows:,.10g} rows, {_features(subject)}"
    return f"{fitted.name}, {rows}, {fitted.kernel_name}{scaled}"


def _features(subject: Subject) -> str:
    count = len(subject.names)
    return "1 feature" if count == 1 else f"{count:,} features"


def _tiles(subject: Subject) -> list[tuple[str, str, str]]:
    """Return the key numbers, each with a unit and a note."""
    model, ratio = subject.model, subject.model.explained_variance_ratio
    points = "points" if model.landmarks else "centers"
    variance = "" if ratio is None else f"{percent(float(ratio.sum()))} of the variance"
    tiles = [
        (f"{subject.n_rows:,.10g}", "rows", _features(subject)),
        (f"{model.n_centers:,}", points, f"{percent(subject.kept)} of the rows"),
        (f"{len(model.eigenvalues):,}", "components", variance),
    ]
    certificate, error = model.certificate, subject.error
    if certificate is not None and error is not None:
        tiles.append(_error_tile(certificate, error))
    if len(subject.seconds) > 1:  # includes more than the time of the report itself
        total = seconds_in_words(sum(subject.seconds.values()))
        parts = [f"{name} {seconds_in_words(value)}" for name, value in subject.seconds.items()]
        tiles.append((total, "in total", ", ".join(parts)))
    return tiles


def _error_tile(c: Certificate, error: Estimate) -> tuple[str, str, str]:
    if c.all_rows:
        return error_label(error.estimate), "error", "of the coordinates, measured on all rows"
    limit = f"at most {error_label(error.limit)} ({percent(c.confidence)} confidence)"
    return error_label(error.estimate), "estimated error", f"of the coordinates; {limit}"


def _facts(subject: Subject) -> list[tuple[str, str]]:
    model = subject.model
    facts = [("model", repr(subject.given))]
    params = subject.fitted.embedding.get_params(deep=False)
    if "density" in params:
        facts.append(("density", type(params["density"] or ShadowDensity()).__name__))
    facts.append(("kernel", subject.fitted.kernel_name))
    if model.ell is not None:
        every = "∞ (every row is a center)"
        facts.append(("ell", every if np.isinf(model.ell) else f"{model.ell:.4g}"))
    if model.reduced_set.radius is not None:
        facts.append(("largest distance to a center", f"{model.reduced_set.radius:.4g}"))
    facts.append(("kernel values per new row", f"{len(model.basis):,}"))
    used, drawn = subject.describe(len(subject.rows)), subject.n_drawn
    some = "" if drawn == len(subject.rows) else f", {drawn:,} of them shown in the plots"
    facts.append(("used in this report", used + some))
    return facts + [(f"time to {k}", seconds_in_words(v)) for k, v in subject.seconds.items()]


def _retention_caption(subject: Subject) -> str:
    curve, m, n = subject.retention, subject.model.n_centers, f"{subject.n_rows:,.10g}"
    if curve is None or curve.ell is None:
        return ""
    covered = len(subject.covered)
    others = f"are predicted from {covered:,} rows"
    if np.array_equal(curve.low, curve.high):
        window = subject.n_given > curve.n_samples  # the end of a longer stream
        others = f"were counted on {subject.describe(covered)}" if window else "were also counted"
    return (
        f"{m:,} centers represent {n} rows: {percent(subject.kept)} of the rows are kept. A larger "
        f"ell keeps more centers and is more accurate; the counts for other values of ell {others}."
    )


def _embedding_caption(subject: Subject) -> str:
    names = {column.name for column in subject.columns}
    some = subject.n_features_drawn < len(subject.names)
    features = (
        f" Of {len(subject.names):,} features, the {subject.n_features_drawn:,} with the largest "
        "spread are included."
    )
    errors = (
        f" The {ESTIMATED_ERROR} of a row is its distance from its position in exact kernel PCA, "
        "in the units of the axes."
    )
    return (
        f"The plot shows {subject.describe(subject.n_drawn)}.{features if some else ''}"
        f"{errors if ESTIMATED_ERROR in names else ''}"
    )


def _certificate_caption(subject: Subject, verdict: Verdict) -> str:
    """Return the caption for the figure of the certificate."""
    found, error = subject.model.certificate, subject.error
    if found is None or error is None:
        return _spectrum_caption(subject)
    limit = f" The bar ends at the upper limit with {percent(found.confidence)} confidence."
    shown = error_label(error.limit) != error_label(error.estimate)
    return f"{verdict.sentences[0]}{limit if shown else ''}"


def _spectrum_caption(subject: Subject) -> str:
    display = subject.spectrum
    if display.walk:
        return (
            "These are the eigenvalues of a random walk between the rows: the closer to 1, the "
            "more slowly the walk moves along the coordinate."
        )
    intervals = display.intervals()
    if not intervals:
        return "This model has no certificate, and therefore no intervals."
    divided = " Eigenvalues are divided by the number of rows."
    if not has_visible_intervals(display):
        return f"The intervals for the exact eigenvalues are hidden by the dots.{divided}"
    bars = "The bars are guaranteed to contain the eigenvalues of exact kernel PCA."
    if len(intervals) > 1:
        bars = (
            "The bars contain the eigenvalues of exact kernel PCA: the thin bars always, each wide "
            f"bar with {percent(display.confidence or 1)} confidence."
        )
    return f"{bars} A bar that reaches the bottom extends to zero.{divided}"

"""The page: words, tables and scripts in one file. All words of the user are escaped here."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

from .. import __version__ as version
from .._format import percent, seconds_in_words
from .advice import Advice
from .look import variables
from .subject import Subject
from .verdict import Component, Verdict, at_most, degrees

_ROWS = 50  # of the table of components
_SIGNS = {"green": "✓", "amber": "!", "red": "✕", "none": "?"}
_SAID = {"green": "Green", "amber": "Amber", "red": "Red", "none": "No statement"}


def page(
    title: str,
    subject: Subject,
    verdict: Verdict,
    advice: list[Advice],
    numbers: dict[str, Any],
    date: str,
) -> str:
    """Everything in its place."""
    return Template(asset("page.html")).substitute(
        title=escape(title),
        subtitle=escape(_subtitle(subject)),
        style=variables() + asset("page.css"),
        colour=verdict.colour,
        verdict=_verdict(verdict),
        tiles="".join(_tile(*tile) for tile in _tiles(subject)),
        facts=_table((), _facts(subject)),
        certificate=_certificate(subject, verdict),
        advice="".join(map(_advice, advice)) or "<p>Nothing stands out.</p>",
        footer=escape(f"rskpca {version}, {date}"),
        numbers=script_json(numbers),
        plotly=plotly_script(),
        script=asset("figures.js") + asset("page.js"),
    )


def asset(name: str) -> str:
    """A file of the page."""
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def plotly_script() -> str:
    """plotly.js as its Python package brings it along."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError('a report needs plotly: pip install "rskpca[report]".') from error
    return str(get_plotlyjs()).replace("</script", "<\\/script")


def script_json(value: Any) -> str:
    """JSON that cannot end the script element that it stands in."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _subtitle(subject: Subject) -> str:
    kernel = subject.embedding.kernel_
    return (
        f"{subject.kind} of {subject.n_rows:,.10g} rows with "
        f"{_features(subject)}, {type(kernel).__name__} kernel of bandwidth {kernel.scale:.4g}"
    )


def _features(subject: Subject) -> str:
    count = len(subject.names)
    return "1 feature" if count == 1 else f"{count:,} features"


def _verdict(verdict: Verdict) -> str:
    sentences = "".join(f"<p>{escape(sentence)}</p>" for sentence in verdict.sentences)
    return (
        f'<span class="sign" role="img" aria-label="{_SAID[verdict.colour]}">'
        f"{_SIGNS[verdict.colour]}</span>"
        f"<div><h2>{escape(verdict.headline)}</h2>{sentences}</div>"
    )


def _tiles(subject: Subject) -> list[tuple[str, str, str]]:
    """A large number, what it is, and a word beside it."""
    word = "centers" if hasattr(subject.embedding, "reduced_set_") else "points"
    tiles = [
        (f"{subject.n_rows:,.10g}", "rows", _features(subject)),
        (f"{subject.n_centers:,}", word, f"{percent(subject.kept)} of the rows"),
        (f"{len(subject.embedding.eigenvalues_):,}", "components", _held(subject)),
    ]
    if len(subject.seconds) > 1:  # more than the time of the report itself
        total = seconds_in_words(sum(subject.seconds.values()))
        parts = [f"{name} {seconds_in_words(value)}" for name, value in subject.seconds.items()]
        tiles.append((total, "in all", ", ".join(parts)))
    return tiles


def _held(subject: Subject) -> str:
    ratio = getattr(subject.embedding, "explained_variance_ratio_", None)
    return "" if ratio is None else f"{percent(float(ratio.sum()))} of the variance"


def _tile(number: str, what: str, beside: str) -> str:
    return (
        f'<div class="tile"><strong>{escape(number)}</strong><span>{escape(what)}</span>'
        f"<small>{escape(beside)}</small></div>"
    )


def _facts(subject: Subject) -> list[tuple[str, ...]]:
    embedding = subject.embedding
    facts: list[tuple[str, ...]] = [("model", repr(subject.model))]
    if hasattr(embedding, "density_"):
        facts.append(("density", type(embedding.density_).__name__))
    kernel = embedding.kernel_
    facts.append(("kernel", f"{type(kernel).__name__} of bandwidth {kernel.scale:.6g}"))
    if subject.ell is not None:
        facts.append(("ell", "∞: every row" if np.isinf(subject.ell) else f"{subject.ell:.4g}"))
    radius = getattr(getattr(embedding, "reduced_set_", None), "radius", None)
    if radius is not None:
        facts.append(("no row moved further than", f"{radius:.4g}"))
    facts.append(("a new row costs", f"{len(embedding.basis_):,} kernel values"))
    facts.append(("looked at in this report", _sampled(subject)))
    facts += [(f"time to {name}", seconds_in_words(s)) for name, s in subject.seconds.items()]
    return facts


def _sampled(subject: Subject) -> str:
    looked_at, drawn = len(subject.rows), len(subject.drawn)
    whole = looked_at >= max(subject.n_rows, subject.n_given)
    which = f"all {looked_at:,} rows" if whole else f"{looked_at:,} rows"
    if looked_at < subject.n_given:
        which += ", chosen at random"
    return which if drawn == looked_at else f"{which}; {drawn:,} of them in the pictures"


def _certificate(subject: Subject, verdict: Verdict) -> str:
    certificate = subject.certificate
    if certificate is None:
        return ""
    sure = np.array_equal(certificate.likely, certificate.certain)
    at = "" if sure else f", at {percent(certificate.confidence)} confidence"
    head = [
        "component", "off by at most", "eigenvalue / n", f"exact one in{at}",
        f"leading space turned by at most{at}", "exact one always in",
    ]  # fmt: skip
    shown = verdict.components[:_ROWS]
    rows = [_component(k + 1, component) for k, component in enumerate(shown)]
    if sure:  # the same interval again
        head, rows = head[:-1], [row[:-1] for row in rows]
    marks = [component.colour for component in shown]
    more = len(verdict.components) - len(shown)
    tail = f"<p>{more:,} more components are not listed.</p>" if more else ""
    return _table(tuple(head), rows, marks) + tail


def _component(k: int, c: Component) -> tuple[str, ...]:
    return (
        str(k),
        at_most(c.off),
        f"{c.value:.3g}",
        f"{c.low:.3g} to {c.high:.3g}",
        "gap too small to say" if np.isnan(c.angle) else degrees(c.angle),
        f"{c.certain_low:.3g} to {c.certain_high:.3g}",
    )


def _table(
    head: tuple[str, ...], rows: list[tuple[str, ...]], marks: list[str] | None = None
) -> str:
    """A table that scrolls by itself where the screen is narrow."""
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    top = f"<thead><tr>{top}</tr></thead>" if head else ""
    body = "".join(
        f'<tr><th scope="row">{_dot(marks[i]) if marks else ""}{escape(row[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for i, row in enumerate(rows)
    )
    return f'<div class="wide"><table>{top}<tbody>{body}</tbody></table></div>'


def _dot(colour: str) -> str:
    return f'<span class="dot {colour}" role="img" aria-label="{colour}">{_SIGNS[colour]}</span>'


def _advice(advice: Advice) -> str:
    code = f"<pre><code>{escape(advice.code)}</code></pre>" if advice.code else ""
    return f"<article><h3>{escape(advice.title)}</h3><p>{escape(advice.why)}</p>{code}</article>"

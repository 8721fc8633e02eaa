"""Verdicts on the claims of the paper, computed from the results and written to ``CLAIMS.md``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from .. import results
from ..experiment import MODULES, Experiment, Results, Settings
from . import classification, embedding, generic, speed, theory
from .claim import Claim, Finding, ResultsByName, Verdict, combine
from .page import render

SECTIONS = (
    "Abstract",
    "Introduction",
    "Section 3",
    "Section 6, eigenembedding",
    "Section 6, classification",
    "Section 6, other RSDE schemes",
    "Section 5",
    "Table 2",
    "Section 6, in the text",
    "Conclusion",
)
SOURCES = [name for name in MODULES if name != "claims"]

COMPARISONS = (
    *embedding.BETTER,
    *embedding.NO_WORSE,
    classification.COMPETITIVE,
    speed.FASTER_THAN_NYSTROM,
    speed.FASTER_THAN_WNYSTROM,
)
# scikit-learn has no weighted Nystrom method.
COMPARISONS_TODAY = (
    *embedding.BETTER,
    classification.COMPETITIVE,
    speed.FASTER_THAN_NYSTROM,
)


def _summarize(results: ResultsByName) -> Finding:
    return _combine_findings([claim.find(results) for claim in COMPARISONS])


def _summarize_today(results: ResultsByName) -> Finding:
    return _combine_findings([claim.find(results, today=True) for claim in COMPARISONS_TODAY])


def _combine_findings(findings: Sequence[Finding | None]) -> Finding:
    verdicts = [finding.verdict for finding in findings if finding is not None]
    kinds = (Verdict.REPRODUCED, Verdict.PARTLY, Verdict.NOT)
    counts = ", ".join(f"{verdicts.count(kind)} {kind}" for kind in kinds)
    if Verdict.NOT_RUN in verdicts:
        return Finding(f"{counts}; requires two runs", Verdict.NOT_RUN)
    return Finding(f"of the {len(verdicts)} comparisons below: {counts}", combine(verdicts))


SUMMARY = Claim(
    "Abstract",
    "RSKPCA compares favorably to the Nystrom and density-weighted Nystrom methods",
    "favorably",
    "combines the claims below: (a) embedding error and accuracy compared with Nystrom and "
    "WNystrom, and training time compared with Nystrom (for classification) and WNystrom; (b) the "
    "same comparisons with scikit-learn's Nystroem + PCA, which replaces Nystrom; scikit-learn "
    "has no counterpart to WNystrom. For the embedding alone, the paper itself claims slower "
    "training than Nystrom, so this comparison is not included. Reproduced: all of them are; not "
    "reproduced: none of them is; partly: otherwise",
    ("fig02", "fig03", "fig04", "fig05"),
    _summarize,
    _summarize_today,
)
CLAIMS: list[Claim] = sorted(
    chain(
        [SUMMARY],
        embedding.CLAIMS,
        speed.CLAIMS,
        classification.CLAIMS,
        generic.CLAIMS,
        theory.CLAIMS,
    ),
    key=lambda claim: SECTIONS.index(claim.where),
)


def compute(settings: Settings) -> Results:
    """Judge every claim; the verdict is "not run" if the required results are missing."""
    files = {name: results.read(settings.result(name)) for name in SOURCES}
    found = {name: file["numbers"] for name, file in files.items() if file is not None}
    return {
        "claims": [_row(claim, found) for claim in CLAIMS],
        "sources": {name: _describe_source(file) for name, file in files.items()},
        "machines": _unique([file["environment"] for file in files.values() if file]),
    }


def _unique(items: list[Results]) -> list[Results]:
    return [item for i, item in enumerate(items) if item not in items[:i]]


def _row(claim: Claim, found: ResultsByName) -> Results:
    return {
        "where": claim.where,
        "text": claim.text,
        "paper": claim.paper,
        "rule": claim.rule,
        "a": _to_dict(claim.find(found)),
        "b": _to_dict(claim.find(found, today=True)),
    }


def _to_dict(finding: Finding | None) -> Results | None:
    return None if finding is None else finding._asdict()


def _describe_source(file: dict[str, Any] | None) -> Results | None:
    if file is None:
        return None
    fields = {name: file[name] for name in ("command", "date", "seconds")}
    return fields | file["key"] | {"note": file["numbers"].get("note", "")}


def draw(numbers: Results, path: Path) -> None:
    """Write the Markdown page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render(numbers), encoding="utf-8")


EXPERIMENTS = {
    "claims": Experiment("verdicts on all claims", compute, draw, "CLAIMS.md", derived=True)
}

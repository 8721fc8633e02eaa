"""``CLAIMS.md``: each claim of the paper with our number and a verdict, from the results alone."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

from .. import registry, results
from ..registry import Experiment, Results
from ..settings import Settings
from . import abstract, classification, embedding, speed, theory
from .claim import Claim, Finding, Found, judged
from .page import page

ORDER = (
    "Abstract",
    "Section 6, eigenembedding",
    "Section 6, classification",
    "Section 6, other RSDE schemes",
    "Section 5",
    "Table 2",
    "Section 6, in the text",
)
CLAIMS: list[Claim] = sorted(
    chain(abstract.CLAIMS, embedding.CLAIMS, speed.CLAIMS, classification.CLAIMS, theory.CLAIMS),
    key=lambda claim: ORDER.index(claim.where),
)
SOURCES = [name for name in registry.MODULES if name != "claims"]


def compute(settings: Settings) -> Results:
    """A verdict a claim; "not run" where the results that it needs are missing."""
    files = {name: results.read(settings.result(name)) for name in SOURCES}
    found = {name: file["numbers"] for name, file in files.items() if file is not None}
    return {
        "claims": [_row(claim, found) for claim in CLAIMS],
        "sources": {name: _source(file) for name, file in files.items()},
        "machines": _distinct([file["environment"] for file in files.values() if file]),
    }


def _distinct(items: list[Results]) -> list[Results]:
    return [item for i, item in enumerate(items) if item not in items[:i]]


def _row(claim: Claim, found: Found) -> Results:
    return {
        "where": claim.where,
        "text": claim.text,
        "paper": claim.paper,
        "rule": claim.rule,
        "a": _plain(judged(claim.judge, claim, found)),
        "b": _plain(judged(claim.today, claim, found)),
    }


def _plain(finding: Finding | None) -> Results | None:
    return None if finding is None else finding._asdict()


def _source(file: dict[str, Any] | None) -> Results | None:
    if file is None:
        return None
    kept = {name: file[name] for name in ("command", "date", "seconds")}
    return kept | file["key"] | {"note": file["numbers"].get("note", "")}


def draw(numbers: Results, path: Path) -> None:
    """Write the page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(numbers), encoding="utf-8")


EXPERIMENTS = {
    "claims": Experiment("every claim with a verdict", compute, draw, "CLAIMS.md", derived=True)
}

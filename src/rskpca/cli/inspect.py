"""``rskpca inspect``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from ..io import Description, describe
from .models import ModelFile, last_step, loaded
from .paths import existing, size_in_words
from .summary import Summary
from .voice import Voice

EXAMPLES = """
  rskpca inspect model.rskpca
  rskpca inspect model.rskpca --json | jq .centers
"""


def inspect(*, model: ModelFile, voice: Voice) -> None:
    """Say what is in a model file, and how wrong the model can be."""
    said = describe(existing(model, "model"))
    fitted = loaded(model)
    numbers: dict[str, Any] = {"file": asdict(said)}
    shown: list[RenderableType] = [_about(said, size_in_words(model))]
    if _is_embedding(fitted):
        summary = Summary(fitted, model.name, {}, {})
        numbers, shown = {**numbers, **summary.to_dict()}, [summary, *shown]
    voice.tell(numbers, *shown)


def _is_embedding(fitted: Any) -> bool:
    """Whether it has components: densities and scalers have none."""
    last = last_step(fitted)
    return hasattr(last, "eigenvalues_") or hasattr(last, "embedding_")


def _about(said: Description, size: str) -> Text:
    centers = "" if said.n_centers is None else f", {said.n_centers:,} centers"
    what = f"{said.class_name}, {said.n_features} features{centers}"
    when = f"{said.created:%Y-%m-%d %H:%M} UTC by rskpca {said.rskpca}, {size}"
    return Text.assemble(("  holds    ", "dim"), what, ("\n  written  ", "dim"), when)

"""``rskpca inspect``."""

from __future__ import annotations

from dataclasses import asdict

from rich.text import Text

from ..io import Description, describe
from .models import ModelFile, loaded
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
    summary = Summary(fitted, model.name, {}, {})
    numbers = {"file": asdict(said), **summary.to_dict()}
    voice.tell(numbers, summary, _about(said, size_in_words(model)))


def _about(said: Description, size: str) -> Text:
    when = f"{said.created:%Y-%m-%d %H:%M} UTC by rskpca {said.rskpca}, {size}"
    return Text.assemble(("  written  ", "dim"), when)

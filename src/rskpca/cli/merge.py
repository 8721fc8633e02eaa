"""``rskpca merge``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.pipeline import Pipeline

from .. import merge as merge_models
from ..io import save
from .models import last_step, loaded
from .paths import named, writable
from .summary import Summary
from .voice import Voice

EXAMPLES = """
  rskpca fit monday.parquet -o monday.rskpca
  rskpca fit tuesday.parquet -o tuesday.rskpca --like monday.rskpca
  rskpca merge monday.rskpca tuesday.rskpca -o week.rskpca
"""


def merge(
    *,
    models: Annotated[
        list[Path],
        typer.Argument(
            metavar="MODELS...", help="Two or more model files.", show_default=False, readable=False
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The merged model.")
    ] = Path("merged.rskpca"),
    voice: Voice,
) -> None:
    """Make one model of the data of several, from the models alone."""
    writable(output, models)
    if len(models) < 2:
        raise typer.BadParameter("give at least two models.", param_hint="MODELS")
    merged = _merged([loaded(path) for path in models], models)
    with named(output):
        save(merged, output)
    summary = Summary(merged, " + ".join(path.stem for path in models), {}, {"model": output})
    voice.tell(summary.to_dict(), summary)


def _merged(fitted: list[Any], paths: list[Path]) -> Any:
    """Merged behind the scaler that all share, if there is one."""
    for model, path in zip(fitted, paths, strict=True):
        if not _same_scale(fitted[0], model):
            raise ValueError(
                f"{str(path)!r} is standardized otherwise than {str(paths[0])!r}; fit it with "
                f"--like {paths[0]}."
            )
    merged = merge_models(*map(last_step, fitted))
    first = fitted[0]
    if not isinstance(first, Pipeline):
        return merged
    return Pipeline([*first.steps[:-1], (first.steps[-1][0], merged)])


def _same_scale(first: Any, other: Any) -> bool:
    scaled = [isinstance(model, Pipeline) for model in (first, other)]
    if not all(scaled):
        return not any(scaled)
    pairs = [(getattr(first[0], name), getattr(other[0], name)) for name in ("mean_", "scale_")]
    return all(np.array_equal(one, two) for one, two in pairs)

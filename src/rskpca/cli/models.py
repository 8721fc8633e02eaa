"""Model files, and what is in them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from sklearn.pipeline import Pipeline

from ..io import ModelFileError, load
from .paths import existing

ModelFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", help="A model file of rskpca fit.", show_default=False, readable=False
    ),
]


def loaded(path: Path) -> Any:
    """The fitted model of a file."""
    model = load(existing(path, "model"))
    if not hasattr(model, "n_features_in_"):
        raise ModelFileError(f"{path}: it holds a {type(model).__name__}, which is not fitted.")
    return model


def last_step(model: Any) -> Any:
    """The estimator behind a scaler, or the model itself."""
    return model[-1] if isinstance(model, Pipeline) else model


def known_features(model: Any) -> list[str] | None:
    """Names of the columns that the model was fitted to, where it knows them."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]

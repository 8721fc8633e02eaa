"""Shared by all passes over a source: the check of its columns, and progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .. import _validation as check
from .._core.progress import ProgressLine
from ..data import Source
from ..model import FittedEstimator, unwrap

Progress = bool | Callable[[int, int], object] | None


def check_columns(model: Any, source: Source) -> None:
    """Raise unless the source has the columns that the model was fitted to, in their order."""
    if source.n_features != model.n_features_in_:
        raise ValueError(
            f"{source.name} has {source.n_features} features, but the model was fitted to "
            f"{model.n_features_in_}; select them with open_source(..., columns=...)."
        )
    fitted = getattr(model, "feature_names_in_", None)
    if fitted is None or source.feature_names is None:
        return
    for name, expected in zip(source.feature_names, fitted, strict=True):
        if name != expected:
            raise ValueError(
                f"{source.name} has the column {name!r} where the model was fitted to "
                f"{expected!r}; pass open_source(..., columns=model.feature_names_in_)."
            )


@contextmanager
def show_progress(
    progress: Progress, source: Source, name: str, before: int = 0
) -> Iterator[Callable[[int, int], object]]:
    """Yield the function to call with the numbers of rows and centers so far."""
    if callable(progress):
        yield progress
        return
    if progress is not None:
        check.boolean("progress", progress)
    if progress or (progress is None and sys.stderr.isatty()):
        line = ProgressLine(source.n_rows, name, before)
        try:
            yield line
        finally:
            line.end()
    else:
        yield lambda rows, n_centers: None


def unwrap_known(model: Any) -> FittedEstimator | None:
    """Take a fitted model apart; return None for models of other packages."""
    try:
        return unwrap(model)
    except TypeError:
        return None

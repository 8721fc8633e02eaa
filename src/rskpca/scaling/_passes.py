"""Checks, feature names and progress reporting, shared by all passes over a source."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import _validation as check
from .._core.progress import ProgressLine
from ..data import Source
from ..model import FittedEstimator, unwrap

Progress = bool | Callable[[int, int], object] | None


def check_columns(model: Any, source: Source) -> None:
    """Raise an error unless the source has the model's columns, in the same order."""
    if source.n_features != model.n_features_in_:
        raise ValueError(
            f"{source.name} has {source.n_features} features, but the model was fitted with "
            f"{model.n_features_in_}; select the same ones with open_source(..., columns=...)."
        )
    fitted = getattr(model, "feature_names_in_", None)
    if fitted is None or source.feature_names is None:
        return
    for name, expected in zip(source.feature_names, fitted, strict=True):
        if name != expected:
            raise ValueError(
                f"{source.name} has the column {name!r} where the model expects {expected!r}; open "
                "the data with open_source(..., columns=model.feature_names_in_)."
            )


def check_readable_again(source: Source, what: str) -> None:
    """Raise an error if the source can be read only once but ``what`` requires two passes."""
    if not source.again:
        raise ValueError(
            f"{what} reads the data twice, but {source.name} can be read only once; pass a "
            "function that returns the iterator."
        )


def name_features(estimator: Any, source: Source) -> None:
    """Store the feature names of the source in a fitted estimator, unless a feature is unnamed."""
    if source.feature_names is not None:
        estimator.feature_names_in_ = np.array(source.feature_names, dtype=object)


@contextmanager
def show_progress(
    progress: Progress, source: Source, name: str, before: int = 0
) -> Iterator[Callable[[int, int], object]]:
    """Yield a callback that takes the number of rows and the number of centers so far."""
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
    """Unwrap a fitted rskpca model, or return None for models from other packages."""
    try:
        return unwrap(model)
    except TypeError:
        return None

"""Scalers of scikit-learn before a model: each is (x - shift) / factor, feature by feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from .kernel_values import Features

Array = NDArray[np.floating]


def steps_of(model: Any) -> tuple[list[Any], Any]:
    """The scalers before a model, and the model."""
    if not isinstance(model, Pipeline):
        return [], model
    steps = [step for _, step in model.steps if step not in (None, "passthrough")]
    return steps[:-1], steps[-1] if steps else model


def features_of(scalers: Sequence[Any], dtype: np.dtype[Any]) -> Features:
    """What they do together to rows of this dtype."""
    features = Features()
    for scaler in scalers:
        features = _features(scaler, dtype).after(features)
    return features


def _features(scaler: Any, dtype: np.dtype[Any]) -> Features:
    if not isinstance(scaler, StandardScaler | RobustScaler | MaxAbsScaler | MinMaxScaler):
        raise TypeError(
            "before the model a pipeline may hold StandardScaler, RobustScaler, MaxAbsScaler and "
            f"MinMaxScaler, but it holds {scaler!r}; export the model alone, "
            "to_onnx(pipeline[-1]), and do that step before."
        )
    check_is_fitted(scaler)
    if isinstance(scaler, MinMaxScaler):
        if scaler.clip:
            raise ValueError("MinMaxScaler(clip=True) is no shift and scale; take clip=False.")
        return Features(-scaler.min_ / scaler.scale_, 1 / scaler.scale_)
    if isinstance(scaler, StandardScaler):
        mean = scaler.mean_ if scaler.with_mean else None
        return Features(_rounded(mean, 0.0, dtype), _rounded(scaler.scale_, 1.0, dtype))
    center = getattr(scaler, "center_", None)
    return Features(_rounded(center, 0.0), _rounded(scaler.scale_, 1.0))


def _rounded(value: Any, otherwise: float, dtype: Any = np.float64) -> Array:
    """As ``StandardScaler`` rounds to the dtype of the data: its model was fitted so."""
    return np.asarray(otherwise if value is None else value, dtype=dtype).astype(np.float64)

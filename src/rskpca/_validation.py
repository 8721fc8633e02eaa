"""One wording for every argument check: the name, the value, and the fix."""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

FLOATS = [np.float64, np.float32]  # what data are kept in: float32 stays, all else is float64


def positive_number(name: str, value: object, *, infinite: bool = False, hint: str = "") -> float:
    """A number above zero; infinity only where it means something."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or math.isnan(value) or value <= 0 or (math.isinf(value) and not infinite):  # type: ignore[arg-type, operator]
        kind = "a positive number or np.inf" if infinite else "a positive, finite number"
        raise ValueError(f"{name} must be {kind}, got {value!r}. {hint}".rstrip())
    return float(value)  # type: ignore[arg-type]


def number_within(name: str, value: object, low: float, high: float, hint: str = "") -> None:
    """A number of at least ``low`` and at most ``high``."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not low <= value <= high or math.isinf(value):  # type: ignore[arg-type, operator]
        limits = f"from {low:g} to {high:g}" if math.isfinite(high) else f"of at least {low:g}"
        raise ValueError(f"{name} must be a number {limits}, got {value!r}. {hint}".rstrip())


def one_of(name: str, value: object, choices: Collection[str]) -> None:
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        words = ", ".join(f'"{choice}"' for choice in choices)
        raise ValueError(f"{name} must be one of {words}, got {value!r}.")


def positive_integer(name: str, value: object) -> None:
    """A whole number of at least one."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}.")


def whole_number(name: str, value: object) -> None:
    """A whole number, which may be zero."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{name} must be a whole number of at least 0, got {value!r}.")


def share(name: str, value: object) -> float:
    """A number between 0 and 1, neither of them."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if not 0 < number < 1:
        raise ValueError(f"{name} must be a number between 0 and 1, such as 0.95, got {value!r}.")
    return number


def boolean(name: str, value: object) -> None:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}.")


def warn(message: str) -> None:
    """A warning at the user's line that led to it."""
    ours = os.path.dirname(__file__), os.path.dirname(sklearn.__file__)
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(ours):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def new_rows(estimator: BaseEstimator, X: Any, at_least: int) -> NDArray[np.floating]:
    """X as finite float32 or float64 rows, with sound names; the estimator is not changed."""
    stand_in = clone(estimator)
    return validate_data(stand_in, X, dtype=FLOATS, ensure_min_samples=at_least)


def block_rows(X: Any, n_features: int) -> NDArray[np.floating]:
    """One part of the data as finite float32 or float64 rows, of which there may be none."""
    rows = check_array(X, dtype=FLOATS, ensure_min_samples=0, ensure_all_finite=False)
    if rows.shape[1] != n_features:
        raise ValueError(f"rows must have {n_features} features as elsewhere, got {rows.shape[1]}.")
    if not np.isfinite(rows).all():
        first = int(np.argmin(np.isfinite(rows).all(axis=1)))
        raise ValueError(f"row {first} holds NaN or infinity; drop or impute such rows.")
    return rows


def sample_weights(
    sample_weight: Any, n_samples: int, *, all_zero: bool = False
) -> NDArray[np.float64]:
    """Weights of the rows in float64: finite, not negative; None is all ones.

    All of them zero only where the rows are a part of the data.
    """
    if sample_weight is None:
        return np.ones(n_samples)
    weights = np.asarray(sample_weight)
    if weights.dtype.kind not in "fiub":
        raise ValueError(f"sample_weight must hold numbers, got dtype {weights.dtype}.")
    weights = weights.astype(np.float64)
    if weights.ndim == 0:
        weights = np.full(n_samples, float(weights))
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have one number a row, shape ({n_samples},), "
            f"got shape {weights.shape}."
        )
    if not np.all(np.isfinite(weights)):
        raise ValueError(
            "sample_weight must be finite, but holds NaN or infinity; drop those rows."
        )
    if np.any(weights < 0):
        raise ValueError(
            f"sample_weight must not be negative, got a minimum of {weights.min()}; "
            "to take points away use forget."
        )
    if not all_zero and not np.any(weights > 0):
        raise ValueError("sample_weight must have a positive sum, but every weight is zero.")
    return weights

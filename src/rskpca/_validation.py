"""One wording for every argument check: the name, the value, and the fix."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray


def positive_number(name: str, value: object, *, infinite: bool = False, hint: str = "") -> float:
    """A number above zero; infinity only where it means something."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or math.isnan(value) or value <= 0 or (math.isinf(value) and not infinite):  # type: ignore[arg-type, operator]
        kind = "a positive number or np.inf" if infinite else "a positive, finite number"
        raise ValueError(f"{name} must be {kind}, got {value!r}.{_spaced(hint)}")
    return float(value)  # type: ignore[arg-type]


def positive_integer(name: str, value: object, *, hint: str = "") -> int:
    """A whole number of at least one."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(
            f"{name} must be a whole number of at least 1, got {value!r}.{_spaced(hint)}"
        )
    return int(value)


def boolean(name: str, value: object) -> None:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}.")


def one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    """A name from a list."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")


def sample_weights(sample_weight: Any, n_samples: int) -> NDArray[np.float64]:
    """Weights of the rows in float64: finite, not negative, not all zero; None is all ones."""
    if sample_weight is None:
        return np.ones(n_samples)
    weights = np.asarray(sample_weight)
    if weights.dtype.kind not in "fiub":
        raise ValueError(f"sample_weight must hold numbers, got {sample_weight!r}.")
    weights = weights.astype(np.float64)
    if weights.ndim == 0:
        weights = np.full(n_samples, float(weights))
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have one number a row, shape ({n_samples},), "
            f"got shape {weights.shape}."
        )
    _check_weights("sample_weight", weights)
    return weights


def _check_weights(name: str, weights: NDArray[np.float64]) -> None:
    if not np.all(np.isfinite(weights)):
        raise ValueError(f"{name} must be finite, but holds NaN or infinity; drop those rows.")
    if np.any(weights < 0):
        raise ValueError(
            f"{name} must not be negative, got a minimum of {weights.min()}; "
            "to take points away use forget."
        )
    if not np.any(weights > 0):
        raise ValueError(f"{name} must have a positive sum, but every weight is zero.")


def _spaced(hint: str) -> str:
    return f" {hint}" if hint else ""

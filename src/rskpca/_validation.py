"""Argument checks with one wording: the name, the value and the fix."""

from __future__ import annotations

import copy
import math
import os
import sys
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

Array = NDArray[np.floating]

FLOATS = [np.float64, np.float32]  # float32 stays float32, everything else becomes float64
_FEW_VALUES = 2**14


class FewComponentsWarning(UserWarning):
    """Warning that fewer components exist than were requested."""


# ------------------------------------------------------------------ shapes


def shapes(owner: object, **axes: str) -> dict[str, int]:
    """Check that the arrays of an object agree; return the sizes of their axes by letter.

    ``shapes(self, centers="md", weights="m")`` checks that there is one weight per center. Digits
    are sizes themselves. Arrays that are None are skipped.
    """
    sizes: dict[str, int] = {}
    for name, letters in axes.items():
        array = getattr(owner, name)
        if array is None:
            continue
        shape = np.shape(array)
        expected = [int(x) if x.isdigit() else sizes.get(x, x) for x in letters]
        pairs = zip(expected, shape, strict=False)
        if len(shape) != len(letters) or any(e != n for e, n in pairs if isinstance(e, int)):
            wanted = ", ".join(map(str, expected)) + "," * (len(expected) == 1)
            raise ValueError(f"{name} must have shape ({wanted}), got {shape}.")
        sizes.update(zip(letters, shape, strict=True))
    return sizes


# ------------------------------------------------------------------ parameters


def positive_number(name: str, value: object, *, infinite: bool = False, hint: str = "") -> float:
    """Return the value as a positive float; infinity only where it is allowed."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or math.isnan(value) or value <= 0 or (math.isinf(value) and not infinite):  # type: ignore[arg-type, operator]
        kind = "a positive number or np.inf" if infinite else "a positive, finite number"
        raise ValueError(f"{name} must be {kind}, got {value!r}. {hint}".rstrip())
    return float(value)  # type: ignore[arg-type]


def number_within(name: str, value: object, low: float, high: float, hint: str = "") -> None:
    """Check for a number between ``low`` and ``high``, both included."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not low <= value <= high or math.isinf(value):  # type: ignore[arg-type, operator]
        limits = f"from {low:g} to {high:g}" if math.isfinite(high) else f"of at least {low:g}"
        raise ValueError(f"{name} must be a number {limits}, got {value!r}. {hint}".rstrip())


def one_of(name: str, value: object, choices: Collection[str]) -> None:
    """Check for one of a few words."""
    if not isinstance(value, str) or value not in choices:
        words = ", ".join(f'"{choice}"' for choice in choices)
        raise ValueError(f"{name} must be one of {words}, got {value!r}.")


def positive_integer(name: str, value: object) -> None:
    """Check for an integer of at least 1."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}.")


def whole_number(name: str, value: object) -> None:
    """Check for an integer of at least 0."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{name} must be an integer of at least 0, got {value!r}.")


def share(name: str, value: object) -> float:
    """Return the value as a float strictly between 0 and 1."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if not 0 < number < 1:
        raise ValueError(f"{name} must be a number between 0 and 1, such as 0.95, got {value!r}.")
    return number


def boolean(name: str, value: object) -> None:
    """Check for True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}.")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's code that led here."""
    ours = os.path.dirname(__file__), os.path.dirname(sklearn.__file__)
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(ours):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


# ------------------------------------------------------------------ rows


@dataclass(frozen=True, eq=False)
class Rows:
    """Validated rows of a fit, with their weights and the names of their features.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Finite float32 or float64 values.
    weights : ndarray of shape (n_samples,)
        Weight of each row, at least one of them positive unless the rows are a later chunk.
    weighted : bool
        False if every row has weight 1 because no weights were given.
    names : ndarray of str or None
        Names of the features.
    """

    X: Array
    weights: Array
    weighted: bool = False
    names: Any = None

    @property
    def given_weights(self) -> Array | None:
        """The weights, or None if none were given."""
        return self.weights if self.weighted else None

    @property
    def positive(self) -> tuple[Array, Array]:
        """The rows of positive weight, and their weights."""
        if not self.weighted:
            return self.X, self.weights
        counted = self.weights > 0
        return (self.X, self.weights) if counted.all() else (self.X[counted], self.weights[counted])

    def labels(self, found: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the labels of the rows of positive weight for all rows; -1 for the others."""
        labels = np.full(len(self.X), -1, dtype=np.intp)
        labels[self.weights > 0] = found
        return labels

    def name_features(self, estimator: BaseEstimator) -> None:
        """Store the number of features, and their names, in an estimator."""
        estimator.n_features_in_ = self.X.shape[1]
        if self.names is not None:
            estimator.feature_names_in_ = self.names
        else:
            estimator.__dict__.pop("feature_names_in_", None)


def validate_rows(
    estimator: BaseEstimator, X: Any, sample_weight: Any = None, *, min_rows: int = 2
) -> Rows:
    """Validate the rows and weights of a new fit; the estimator is not changed."""
    stand_in = copy.copy(estimator)
    checked = validate_data(stand_in, X, dtype=FLOATS, ensure_min_samples=min_rows)
    return Rows(
        checked,
        sample_weights(sample_weight, len(checked)),
        sample_weight is not None,
        stand_in.__dict__.get("feature_names_in_"),
    )


def validate_more_rows(
    estimator: BaseEstimator, X: Any, sample_weight: Any = None, *, all_zero: bool = True
) -> Rows:
    """Validate rows that are added to, or removed from, a fitted estimator."""
    checked = validate_data(estimator, X, dtype=FLOATS, reset=False)
    weights = sample_weights(sample_weight, len(checked), all_zero=all_zero)
    names = estimator.__dict__.get("feature_names_in_")
    return Rows(checked, weights, sample_weight is not None, names)


def validate_points(estimator: BaseEstimator, X: Any) -> Array:
    """Validate points that a fitted estimator is evaluated at.

    A few rows that are valid as they are skip scikit-learn's checks, which take longer than
    embedding one row.
    """
    fitted = estimator.__dict__
    if (
        type(X) is np.ndarray
        and X.ndim == 2
        and 0 < X.size <= _FEW_VALUES
        and X.dtype in FLOATS
        and X.shape[1] == fitted.get("n_features_in_")
        and "feature_names_in_" not in fitted
        and np.isfinite(X).all()
    ):
        return X
    return validate_data(estimator, X, dtype=FLOATS, reset=False)


def block_rows(X: Any, n_features: int) -> Array:
    """Validate one block of a distributed fit, which may be empty."""
    rows = check_array(X, dtype=FLOATS, ensure_min_samples=0, ensure_all_finite=False)
    if rows.shape[1] != n_features:
        raise ValueError(
            f"every block must have {n_features} features, got one with {rows.shape[1]}."
        )
    if not np.isfinite(rows).all():
        first = int(np.argmin(np.isfinite(rows).all(axis=1)))
        raise ValueError(f"row {first} contains NaN or infinity; drop or impute such rows.")
    return rows


def sample_weights(
    sample_weight: Any, n_samples: int, *, all_zero: bool = False
) -> NDArray[np.float64]:
    """Return the weights of the rows as float64; None means a weight of 1 for every row.

    All weights may be zero only where the rows are one chunk of the data (``all_zero``).
    """
    if sample_weight is None:
        return np.ones(n_samples)
    weights = np.asarray(sample_weight)
    if weights.dtype.kind not in "fiub":
        raise ValueError(f"sample_weight must contain numbers, got dtype {weights.dtype}.")
    weights = weights.astype(np.float64)
    if weights.ndim == 0:
        weights = np.full(n_samples, float(weights))
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have one number per row, shape ({n_samples},), "
            f"got shape {weights.shape}."
        )
    if not np.all(np.isfinite(weights)):
        raise ValueError(
            "sample_weight must be finite, but contains NaN or infinity; drop those rows."
        )
    if np.any(weights < 0):
        raise ValueError(
            f"sample_weight must not be negative, got a minimum of {weights.min()}; "
            "use forget to remove rows."
        )
    if not all_zero and not np.any(weights > 0):
        raise ValueError("sample_weight must have a positive sum, but every weight is zero.")
    return weights

"""Argument checks with consistent messages that name the argument, the value and the fix."""

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
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import validate_data

Array = NDArray[np.floating]

FLOATS = [np.float64, np.float32]  # float32 stays float32, everything else becomes float64
_FEW_VALUES = 2**14


class FewComponentsWarning(UserWarning):
    """Warning that fewer components exist than were requested."""


# ------------------------------------------------------------------ shapes


def shapes(owner: object, **axes: str) -> dict[str, int]:
    """Check that the shapes of an object's arrays are consistent; return axis sizes by letter.

    ``shapes(self, centers="md", weights="m")`` checks that there is one weight per center. Digits
    denote fixed sizes. Arrays that are None are skipped.
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
    """Check that the value is a positive number (or infinity, if allowed); return it as a float."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or math.isnan(value) or value <= 0 or (math.isinf(value) and not infinite):  # type: ignore[arg-type, operator]
        kind = "a positive number or np.inf" if infinite else "a positive, finite number"
        raise ValueError(f"{name} must be {kind}, got {value!r}. {hint}".rstrip())
    return float(value)  # type: ignore[arg-type]


def number_within(name: str, value: object, low: float, high: float, hint: str = "") -> None:
    """Check that the value is a finite number from ``low`` to ``high``, inclusive."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not low <= value <= high or math.isinf(value):  # type: ignore[arg-type, operator]
        expected = _describe_range(low, high)
        raise ValueError(f"{name} must be {expected}, got {value!r}. {hint}".rstrip())


def _describe_range(low: float, high: float) -> str:
    """Describe the numbers from ``low`` to ``high``, either of which may be infinite."""
    if math.isfinite(low) and math.isfinite(high):
        return f"a number from {low:g} to {high:g}"
    if math.isfinite(low):
        return f"a number of at least {low:g}"
    return f"a number of at most {high:g}" if math.isfinite(high) else "a finite number"


def one_of(name: str, value: object, choices: Collection[str]) -> None:
    """Check that the value is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        words = ", ".join(f'"{choice}"' for choice in choices)
        raise ValueError(f"{name} must be one of {words}, got {value!r}.")


def positive_integer(name: str, value: object) -> None:
    """Check that the value is an integer of at least 1."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}.")


def whole_number(name: str, value: object) -> None:
    """Check that the value is an integer of at least 0."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{name} must be an integer of at least 0, got {value!r}.")


def share(name: str, value: object, example: float = 0.95) -> float:
    """Check that the value is strictly between 0 and 1, and return it as a float."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if not 0 < number < 1:
        raise ValueError(
            f"{name} must be a number between 0 and 1, such as {example}, got {value!r}."
        )
    return number


def boolean(name: str, value: object) -> None:
    """Check that the value is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}.")


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that points to the calling line in the user's code."""
    ours = os.path.dirname(__file__), os.path.dirname(sklearn.__file__)
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(ours):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


# ------------------------------------------------------------------ rows


@dataclass(frozen=True, eq=False)
class Rows:
    """Validated rows for a fit, with their weights and feature names.

    X contains finite float32 or float64 values, in a CSR array if the data are sparse. At least
    one weight is positive, unless the rows are a later chunk. ``weighted`` is False if no weights
    were given, in which case they are all 1.
    """

    X: Array
    weights: Array
    weighted: bool = False
    names: Any = None

    @property
    def given_weights(self) -> Array | None:
        """The weights, or None if no weights were given."""
        return self.weights if self.weighted else None

    @property
    def positive(self) -> tuple[Array, Array]:
        """The rows with positive weight, and their weights."""
        if not self.weighted:
            return self.X, self.weights
        counted = self.weights > 0
        return (self.X, self.weights) if counted.all() else (self.X[counted], self.weights[counted])

    @property
    def counted(self) -> tuple[Array, Array | None]:
        """The rows with positive weight, and their weights (None if no weights were given)."""
        X, weights = self.positive
        return X, weights if self.weighted else None

    def labels(self, found: NDArray[np.intp]) -> NDArray[np.intp]:
        """Expand labels of the rows with positive weight to all rows, with -1 for the others."""
        labels = np.full(self.X.shape[0], -1, dtype=np.intp)
        labels[self.weights > 0] = found
        return labels

    def name_features(self, estimator: BaseEstimator) -> None:
        """Store the number of features and the feature names in an estimator."""
        estimator.n_features_in_ = self.X.shape[1]
        if self.names is not None:
            estimator.feature_names_in_ = self.names
        else:
            estimator.__dict__.pop("feature_names_in_", None)


def validate_rows(
    estimator: BaseEstimator, X: Any, sample_weight: Any = None, *, min_rows: int = 2
) -> Rows:
    """Validate and return the rows and weights for a new fit; the estimator is not modified."""
    stand_in = copy.copy(estimator)
    checked = validate_values(stand_in, X, ensure_min_samples=min_rows)
    return Rows(
        checked,
        sample_weights(sample_weight, checked.shape[0]),
        sample_weight is not None,
        stand_in.__dict__.get("feature_names_in_"),
    )


def validate_more_rows(
    estimator: BaseEstimator, X: Any, sample_weight: Any = None, *, all_zero: bool = True
) -> Rows:
    """Validate and return rows to be added to or removed from a fitted estimator."""
    checked = validate_values(estimator, X, reset=False)
    weights = sample_weights(sample_weight, checked.shape[0], all_zero=all_zero)
    names = estimator.__dict__.get("feature_names_in_")
    return Rows(checked, weights, sample_weight is not None, names)


def validate_points(estimator: BaseEstimator, X: Any) -> Array:
    """Validate and return points at which a fitted estimator is evaluated.

    Small arrays that are already valid skip scikit-learn's checks, which take longer than embedding
    one row.
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
    return validate_values(estimator, X, reset=False)


def validate_values(estimator: BaseEstimator, X: Any, **options: Any) -> Array:
    """Return X as finite float32 or float64 values in native byte order.

    Sparse rows are returned as a CSR array if the estimator's scikit-learn tags allow sparse input.
    ``options`` are passed to scikit-learn's ``validate_data``.
    """
    X = materialize(X)
    if np.ma.is_masked(X):
        raise ValueError(
            f"X has {np.ma.count_masked(X)} masked values. Fill them in, for example with "
            "X.filled(0.0), or drop the rows that contain them."
        )
    if sparse.issparse(X) and get_tags(estimator).input_tags.sparse:
        options["accept_sparse"] = "csr"
    try:
        X = validate_data(estimator, X, dtype=_working_dtype(X), **options)
    except ValueError as error:
        if str(error).startswith("could not convert string to float"):
            raise ValueError(_describe_text(X)) from error
        raise
    return _canonical(X) if sparse.issparse(X) else X


def _describe_text(X: Any) -> str:
    """Return the error message for data with text in place of numbers."""
    columns = list(getattr(X, "columns", []))
    table = np.asarray(X, dtype=object)
    for j, column in enumerate(table.T):
        for i, value in enumerate(column):
            if isinstance(value, str) and not _is_number(value):
                where = f"column {columns[j]!r}" if columns else f"column {j}"
                return (
                    f"X must contain numbers, but {where} contains text, such as {value!r} in row "
                    f"{i}. Leave out such columns, or encode them, for example with OneHotEncoder."
                )
    return "X must contain numbers, but contains text. Leave out or encode such columns."


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _canonical(X: Any) -> Any:
    """Return a CSR array with sorted indices, no duplicates and no stored zeros."""
    rows = sparse.csr_array(X)
    if not rows.has_canonical_format or not rows.data.all():
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows


def materialize(X: Any) -> Any:
    """Collect a polars LazyFrame, and return anything else unchanged."""
    polars = sys.modules.get("polars")
    lazy = polars is not None and isinstance(X, polars.LazyFrame)
    return X.collect() if lazy else X


def _working_dtype(X: Any) -> Any:
    """Return the dtype to which NumPy promotes X, or FLOATS if it is unknown.

    scikit-learn ignores the dtypes of polars and nullable columns, and it does not convert data to
    native byte order.
    """
    kinds = getattr(X, "dtypes", [getattr(X, "dtype", None)])
    try:  # the names are lowercased because pandas and polars use Float32
        names = [str(getattr(kind, "numpy_dtype", kind)).lower() for kind in kinds]
        common = np.result_type(*map(np.dtype, names))
    except (TypeError, ValueError):
        return FLOATS
    if common.kind not in "fiub":
        return FLOATS
    return np.float32 if common.newbyteorder("=") == np.float32 else np.float64


def block_rows(X: Any, n_features: int) -> Array:
    """Validate and return one block of a distributed fit, which may be empty."""
    rows = check_array(X, dtype=FLOATS, ensure_min_samples=0, ensure_all_finite=False)
    if rows.shape[1] != n_features:
        raise ValueError(
            f"every block must have {n_features} features, got one with {rows.shape[1]}."
        )
    if not np.isfinite(rows).all():
        first = int(np.argmin(np.isfinite(rows).all(axis=1)))
        raise ValueError(f"row {first} contains NaN or infinity. Drop or impute such rows.")
    return rows


def sample_weights(
    sample_weight: Any, n_samples: int, *, all_zero: bool = False
) -> NDArray[np.float64]:
    """Check the weights and return them as float64; None means a weight of 1 for every row.

    ``all_zero`` permits weights that are all zero, which is valid for one chunk of the data.
    """
    if sample_weight is None:
        return np.ones(n_samples)
    if np.ma.is_masked(sample_weight):
        raise ValueError(
            f"sample_weight has {np.ma.count_masked(sample_weight)} masked values. Fill them in, "
            "for example with sample_weight.filled(0.0), which ignores these rows."
        )
    weights = np.asarray(sample_weight)
    if weights.dtype.kind not in "fiub":
        raise ValueError(f"sample_weight must contain numbers, got dtype {weights.dtype}.")
    weights = weights.astype(np.float64)
    if weights.ndim == 0:
        weights = np.full(n_samples, float(weights))
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have one number per row, with shape ({n_samples},), "
            f"got shape {weights.shape}."
        )
    if not np.all(np.isfinite(weights)):
        raise ValueError(
            "sample_weight must be finite, but contains NaN or infinity. Drop those rows."
        )
    if np.any(weights < 0):
        raise ValueError(
            f"sample_weight must be non-negative, got a minimum of {weights.min()}. "
            "Use forget to remove rows."
        )
    if not all_zero and not np.any(weights > 0):
        raise ValueError("sample_weight must have a positive sum, but all weights are zero.")
    return weights

"""The table of rows in a report: one column per component, given column and feature."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..plotting.embedding import are_few_integers

Array = NDArray[np.floating]

_SMALL_CODES, _LARGE_CODES = 2**8, 2**16  # numbers of distinct codes in one and in two bytes
_ROUNDING = 1e-6  # acceptable error in single precision, relative to the range of a column


@dataclass(frozen=True, eq=False)
class Column:
    """One column of the table, stored compactly and without loss up to single precision.

    Attributes
    ----------
    name : str
        The name of the column.
    kind : str
        The origin of the column: "component", "given", "model" or "feature".
    values : ndarray of shape (n_rows,)
        Numbers, or indices into ``levels``.
    levels : list or None
        The distinct values, in ascending order, or None if ``values`` are numbers.
    categorical : bool
        True for text, and for at most ten different integers.
    """

    name: str
    kind: str
    values: NDArray[Any]
    levels: list[Any] | None = None
    categorical: bool = False

    @classmethod
    def of(cls, name: str, kind: str, values: Any) -> Column:
        """Encode a column of numbers, text or booleans."""
        array = np.asarray(values)
        numeric = array.dtype.kind in "fiu"
        levels, codes = np.unique(array if numeric else _as_text(array), return_inverse=True)
        if numeric and not _are_few(len(levels), len(array)):
            return cls(name, kind, _narrow(array))
        categorical = not numeric or are_few_integers(levels)
        return cls(name, kind, _as_codes(codes, len(levels)), levels.tolist(), categorical)

    def head(self, count: int) -> Column:
        """Return the first rows of the column, without unused levels."""
        if self.levels is None or count >= len(self.values):
            return replace(self, values=self.values[:count])
        kept, codes = np.unique(self.values[:count], return_inverse=True)
        levels = [self.levels[k] for k in kept]
        return replace(self, values=_as_codes(codes, len(levels)), levels=levels)

    def to_dict(self) -> dict[str, Any]:
        """Return the column as JSON data for the page."""
        return vars(self) | {"values": to_base64(self.values)}


def row_bytes(columns: Iterable[Column]) -> int:
    """Return the number of bytes that a row of these columns takes."""
    return sum(column.values.itemsize for column in columns)


def to_base64(values: NDArray[Any]) -> dict[str, str]:
    """Encode an array as base64, in plotly's notation."""
    little = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"), copy=False))
    code = f"{values.dtype.kind}{values.dtype.itemsize}"
    return {"dtype": code, "bdata": base64.b64encode(little.tobytes()).decode()}


def _as_text(values: NDArray[Any]) -> NDArray[np.str_]:
    """Return text, with an empty string for missing values."""
    if values.dtype.kind != "O":
        return values.astype(str)
    missing = [value is None or value != value for value in values]
    return np.where(missing, "", values.astype(str))


def _are_few(n_levels: int, n_rows: int) -> bool:
    """Return True if codes take less space than single-precision numbers."""
    return n_levels <= _SMALL_CODES or n_levels <= min(_LARGE_CODES, n_rows / 4)


def _as_codes(codes: NDArray[np.intp], n_levels: int) -> NDArray[Any]:
    """Return the codes as the smallest unsigned integers that can hold them."""
    return codes.ravel().astype(np.min_scalar_type(max(n_levels - 1, 0)))


def _narrow(values: NDArray[Any]) -> Array:
    """Return single-precision numbers, unless rounding would be visible within their range."""
    wide = values.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = wide.astype(np.float32)
        finite = np.isfinite(wide)
        error = np.abs(narrow[finite] - wide[finite]).max(initial=0.0)
        close = error <= _ROUNDING * np.ptp(wide[finite]) if finite.any() else True
    return narrow if close else wide

"""Types of id columns. CSV files contain only text, so the types of their ids are inferred."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

_INTEGER = "^(0|-?[1-9][0-9]{0,18})$"
_BOOLEANS = ("^(True|False)$", "^(true|false)$", "^(TRUE|FALSE)$")
_DECIMAL = "decimal"
_TEXT = "text"


class IdType(NamedTuple):
    """The pyarrow type of an id column, and the decimal mark if its values must be parsed."""

    type: Any
    decimal: str | None = None

    def to_arrow(self, values: Any) -> Any:
        """Convert an id column to a pyarrow array."""
        import pyarrow as pa

        if self.decimal is None:
            return pa.array(values, self.type, from_pandas=True)
        return parse_cells(pa.array(values, pa.string()), self.type, self.decimal)


def parse_cells(cells: Any, kind: Any, decimal: str) -> Any:
    """Parse the cells of a CSV file, in which empty cells and markers such as NA are missing."""
    import pyarrow as pa
    from pyarrow import compute, csv

    cells = compute.utf8_trim_whitespace(cells)
    markers = pa.array(csv.ConvertOptions().null_values)
    cells = compute.if_else(compute.is_in(cells, markers), None, cells)
    if pa.types.is_floating(kind):
        cells = compute.replace_substring(cells, decimal, ".")
    return cells.cast(kind)


class TypeInference:
    """Infer the type of a column of text from all of its cells.

    A type is chosen only if each value can be written as text again without any change: integers
    without leading zeros, Booleans in one spelling, or decimal numbers as Python writes them, such
    as 0.5, 3.0 or 1e-05. Everything else is text, since 1.1 and 1.10 may be different ids.
    """

    def __init__(self) -> None:
        self._form: str | None = None  # a pattern, _DECIMAL, _TEXT, or None before the first value
        self._decimal = "."

    @property
    def is_text(self) -> bool:
        """Return True if further cells cannot change the result."""
        return self._form == _TEXT

    def add(self, cells: Any, decimal: str) -> None:
        """Check that the cells have the form of the first value, ignoring empty cells."""
        from pyarrow import compute

        cells = cells.filter(compute.not_equal(cells, ""))
        if not len(cells) or self.is_text:
            return
        if self._form is None:
            forms = (_INTEGER, *_BOOLEANS, _DECIMAL)
            self._form = next((f for f in forms if _all_have(f, cells[:1], decimal)), _TEXT)
            self._decimal = decimal
        other_mark = self._form == _DECIMAL and decimal != self._decimal
        if other_mark or not _all_have(self._form, cells, decimal):
            self._form = _TEXT

    def result(self) -> IdType:
        """Return the inferred type, which is null if there were no values."""
        import pyarrow as pa

        if self._form is None or self.is_text:
            return IdType(pa.string() if self.is_text else pa.null())
        types = {_INTEGER: pa.int64(), _DECIMAL: pa.float64()}
        return IdType(types.get(self._form, pa.bool_()), self._decimal)


def _all_have(form: str, cells: Any, decimal: str) -> bool:
    """Return True if all cells have this form."""
    import pyarrow as pa
    from pyarrow import compute

    if form == _TEXT:
        return True
    if form == _DECIMAL:
        return all(_is_exact(text, decimal) for text in cells.to_pylist())
    if not compute.all(compute.match_substring_regex(cells, form)).as_py():
        return False
    try:
        cells.cast(pa.int64() if form == _INTEGER else pa.bool_())
    except pa.ArrowInvalid:  # too large for int64
        return False
    return True


def _is_exact(text: str, decimal: str) -> bool:
    """Return True if the text is how Python writes a finite float, with this decimal mark."""
    if decimal != ".":
        text = text.replace(".", " ").replace(decimal, ".")
    try:
        number = float(text)
    except ValueError:
        return False
    return math.isfinite(number) and repr(number) == text

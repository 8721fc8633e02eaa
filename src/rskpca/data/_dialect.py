"""Detection of the delimiter, the decimal mark and the header of a table from its start."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from .. import _validation as check
from ._table import SourceWarning

_DELIMITERS = ",;\t|"
_SAMPLE_ROWS, _SAMPLE_CELLS = 100, 200_000
_MISSING = {"", "na", "n/a", "#n/a", "null", "none"}  # float() accepts nan
_INTEGER = re.compile(r"[+-]?\d+")
_DECIMAL_COMMA = re.compile(r"[+-]?(0,\d+|\d+,(\d{1,2}|\d{4,}))")  # 1,234 may be a thousand
_COMMA_ROW = re.compile(r"[+-]?\d+(,\d+)?")


class Head(NamedTuple):
    """The first row of a file, the number of lines that it spans, and a few rows below it."""

    first: list[str]
    n_lines: int
    below: list[list[str]]


def detect_delimiter(line: str, decimal: str | None) -> str:
    """Return the most frequent candidate in a line, outside quotes and unless it is a decimal."""
    unquoted = re.sub(r'"[^"]*"', "", line)
    for candidate in _DELIMITERS[1:]:  # 1,5;2,5 has as many commas as numbers
        cells = unquoted.split(candidate)
        if len(cells) > 1 and all(_COMMA_ROW.fullmatch(cell.strip()) for cell in cells):
            return candidate
    return max((c for c in _DELIMITERS if c != decimal), key=unquoted.count)


def read_head(lines: Iterable[str], delimiter: str) -> Head | None:
    """Read the first rows, or return None if there are none."""
    reader = csv.reader(lines, delimiter=delimiter)
    rows = (row for row in reader if row)
    first = next(rows, None)
    if first is None:
        return None
    n_lines, below = reader.line_num, []
    for row in rows:
        below.append(row)
        if len(below) == _SAMPLE_ROWS or len(below) * len(first) > _SAMPLE_CELLS:
            break
    return Head(first, n_lines, below)


def detect_decimal(head: Head) -> str:
    """Return a comma if numbers are written with a comma and none with a point, else a point."""
    # If commas also separate the cells, a cell with a comma was quoted.
    cells = [cell.strip() for row in (head.first, *head.below) for cell in row]
    points = any(is_number(cell) and not _INTEGER.fullmatch(cell) for cell in cells)
    commas = any(_DECIMAL_COMMA.fullmatch(cell) for cell in cells)
    return "," if commas and not points else "."


def detect_header(head: Head, decimal: str) -> bool:
    """Return True if the first row contains column names, which may be numbers such as years.

    Names are integers, unlike fractions in a row of data. They are names if a column of numbers
    starts with a text, if they differ and all numbers below are fractions, or if they count the
    columns from 0 or are evenly spaced years while the next row is not evenly spaced.
    """
    first, *below = (_normalize(row, decimal) for row in (head.first, *head.below))
    if not any(map(is_number, first)):
        return True
    if any(is_number(cell) and not _INTEGER.fullmatch(cell) for cell in first):
        return False
    rows = [row for row in below if len(row) == len(first)]
    named = [j for j, cell in enumerate(first) if cell not in _MISSING]
    numeric = [j for j in named if _is_numeric([row[j] for row in rows])]
    names = [first[j] for j in numeric]
    if not all(map(is_number, names)):
        return True
    if not names or len(set(names)) < len(names):
        return False
    if not any(_INTEGER.fullmatch(row[j]) for row in rows for j in numeric):
        return True
    return _counts_columns(names) and not _is_even([rows[0][j] for j in numeric])


def warn_of_numbers(header: bool, names: Sequence[str], file: str) -> None:
    """Issue a warning if the column names are numbers, because they may be a row instead."""
    numbers = [name for name in names if name.strip().isdigit()]
    if header and numbers:
        shown = ", ".join(numbers[:3]) + ", ..." * (len(numbers) > 3)
        problem = f"the first line of {file} was read as column names ({shown})"
        fix = "if it is a row of numbers, pass header=False."
        check.warn(SourceWarning(f"{problem}; {fix}", problem, remedy="header"))


def _normalize(row: Sequence[str], decimal: str) -> list[str]:
    return [cell.strip().replace(decimal, ".").lower() for cell in row]


def is_number(cell: str) -> bool:
    """Return True if a text is a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_numeric(column: Sequence[str]) -> bool:
    """Return True if a column contains numbers and, apart from missing values, nothing else."""
    known = [cell for cell in column if cell not in _MISSING]
    return bool(known) and all(map(is_number, known))


def _counts_columns(names: Sequence[str]) -> bool:
    """Return True for 0, 1, 2 and for evenly spaced years."""
    numbers = [int(name) for name in names]
    years = all(1800 <= number <= 2200 for number in numbers)
    return _is_even(names) and (years or numbers[:2] == [0, 1])


def _is_even(cells: Sequence[str]) -> bool:
    """Return True for at least three increasing, evenly spaced integers."""
    if len(cells) < 3 or not all(map(_INTEGER.fullmatch, cells)):
        return False
    steps = np.diff([int(cell) for cell in cells])
    return bool(steps[0] > 0 and (steps == steps[0]).all())

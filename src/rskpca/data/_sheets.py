"""Tables for CSV files and Excel sheets, whose header and column types are detected."""

from __future__ import annotations

import csv
import io
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, time, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import _validation as check
from .._format import import_optional
from ._frames import ArrowReader, ArrowTable, arrow_fields, arrow_to_numpy
from ._ids import TypeInference, parse_cells
from ._table import (
    Batch,
    Selection,
    SourceError,
    SourceWarning,
    file_errors,
    file_identity,
    pyarrow_for,
    skip_rows,
)

_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}

_CSV_BLOCK = 1 << 22  # bytes
_CSV_ROWS, _LARGEST_CSV_BLOCK = 64, 1 << 26  # blocks of a few wide rows are slow
_SAMPLE_ROWS, _SAMPLE_CELLS = 100, 200_000
_LONGEST_CELL = _CSV_BLOCK  # characters; longer ones are most likely due to an open quote
_limit_lock = threading.Lock()

_DELIMITERS = ",;\t|"
_MISSING = {"", "na", "n/a", "#n/a", "null", "none"}  # "nan" is a valid float
_INTEGER = re.compile(r"[+-]?\d+")
_DECIMAL_COMMA = re.compile(r"[+-]?(0,\d+|\d+,(\d{1,2}|\d{4,}))")  # 1,234 may be 1234
_COMMA_ROW = re.compile(r"[+-]?\d+(,\d+)?")


class Head(NamedTuple):
    """The first row of a file, the number of lines that it spans, and a few rows below it."""

    first: list[str]
    n_lines: int
    below: list[list[str]]


class CsvFile(ArrowReader):
    """A CSV file, with numbers read as float64 and ids read as text (00017 stays 00017).

    Files ending in .gz or .zst are decompressed while they are read. The delimiter, the decimal
    mark and the header are detected unless they are given.
    """

    n_rows = None
    ids_are_text = True

    def __init__(
        self,
        path: Path,
        delimiter: str | None = None,
        header: bool | None = None,
        decimal: str | None = None,
    ) -> None:
        super().__init__(path)
        self._compression = _COMPRESSIONS.get(path.suffix.lower())
        self.delimiter = self._find_delimiter(decimal) if delimiter is None else delimiter
        head = self._read_head()
        self.decimal = detect_decimal(head) if decimal is None else decimal
        header = _has_header(head, header, self.decimal, self.name)
        self._header_lines = head.n_lines if header else 0
        row = len(self.delimiter.join((head.below or [head.first])[0]))
        self._block_size = min(max(_CSV_BLOCK, _CSV_ROWS * row), _LARGEST_CSV_BLOCK)
        self._keys = [str(j) for j in range(len(head.first))]  # unique, unlike the column names
        self._describe(head.first if header else [None] * len(head.first))

    def _find_delimiter(self, decimal: str | None) -> str:
        with self._text() as lines:
            line = next((line for line in lines if line.strip()), "")
        return detect_delimiter(line, decimal)

    def _read_head(self) -> Head:
        with self._numbered_rows() as rows:
            try:
                number, first = next(rows, (0, []))
                if not first:
                    raise ValueError(f"{self.name} is empty.")
                n_below = min(_SAMPLE_ROWS, _SAMPLE_CELLS // len(first) + 1)
                return Head(first, number, [row for _, row in islice(rows, n_below)])
            except csv.Error as error:
                raise ValueError(
                    f"cannot read {self.name}: {error}; check its delimiter and quotes."
                ) from error

    @contextmanager
    def _numbered_rows(self) -> Iterator[Iterator[tuple[int, list[str]]]]:
        """Yield an iterator over the rows that are not empty and the lines on which they end."""
        with self._text() as lines, _long_cells():
            yield _numbered_rows(lines, self.delimiter)

    @contextmanager
    def _text(self) -> Iterator[Any]:
        pa = pyarrow_for("reading a CSV file")
        try:
            with pa.input_stream(self.path, compression=self._compression) as stream:
                yield io.TextIOWrapper(stream, newline="", encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{self.name} is not encoded in UTF-8 ({error}); convert it, for example with "
                "iconv -f latin1 -t utf-8."
            ) from error

    def _describe(self, names: Sequence[str | None]) -> None:
        """Infer the column types from the first block, treating empty columns as numeric."""
        with self._open(self._keys, {}, _CSV_BLOCK) as reader:
            found = list(arrow_fields(reader.schema))
        numbers = np.array([field.empty or field.dtype is not None for field in found])
        # A column with only integers in the first block may have fractions in later blocks.
        self._are_floats = numbers & [field.dtype != np.bool_ for field in found]
        self.fields = tuple(
            field._replace(name=name, dtype=np.dtype(np.float64) if numeric else None)
            for field, name, numeric in zip(found, names, numbers, strict=True)
        )

    def locate(self, number: int) -> str:
        """Return the line on which a row ends, which requires reading the file up to it."""
        with self._numbered_rows() as rows:
            try:
                line, _ = next(islice(rows, number + bool(self._header_lines), None))
            except (csv.Error, StopIteration):  # the lines cannot be counted
                return super().locate(number)
            return f"line {line:,}"

    def batches(self, selection: Selection, start: int, size: int) -> Iterator[Batch]:
        return skip_rows(self._all_batches(selection), start)

    def _all_batches(self, selection: Selection) -> Iterator[Batch]:
        import pyarrow as pa

        keys = list(dict.fromkeys(self._keys[j] for j in selection.positions))
        types = {self._keys[j]: pa.float64() for j in selection.positions if self._are_floats[j]}
        types.update({self._keys[j]: pa.string() for j in selection.ids})
        with file_errors(self.name), self._open(keys, types, self._block_size) as reader:
            yield from self._numbered(reader, selection, 0)

    def _columns(self, record_batch: Any, selection: Selection) -> list[Any]:
        found = dict(zip(record_batch.schema.names, record_batch.columns, strict=True))
        also_ids = {self._keys[j] for j in selection.ids}
        columns = []
        for j, numeric in selection.reads:
            column = found[self._keys[j]]
            if numeric and self._keys[j] in also_ids:
                column = self._parse(column, j)
            columns.append(arrow_to_numpy(column, numeric))
        return columns

    def _parse(self, column: Any, j: int) -> Any:
        """Parse the values of a feature that was read as text because it is also an id."""
        import pyarrow as pa

        kind = pa.float64() if self._are_floats[j] else pa.bool_()
        return parse_cells(column, kind, self.decimal)

    def infer_types(self, columns: Mapping[int, TypeInference]) -> None:
        import pyarrow as pa

        undecided = {self._keys[j]: column for j, column in columns.items() if not column.is_text}
        if not undecided:
            return
        text = dict.fromkeys(undecided, pa.string())
        with file_errors(self.name), self._open(list(text), text, self._block_size) as reader:
            for record_batch in reader:
                for key, column in undecided.items():
                    column.add(record_batch.column(key), self.decimal)
                undecided = {k: column for k, column in undecided.items() if not column.is_text}
                if not undecided:
                    break

    def _open(self, keys: Sequence[str], types: Mapping[str, Any], block_size: int) -> Any:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        with file_errors(self.name):
            return arrow_csv.open_csv(
                pa.input_stream(self.path, compression=self._compression),
                arrow_csv.ReadOptions(
                    use_threads=False, block_size=block_size, column_names=self._keys,
                    skip_rows=self._header_lines,
                ),
                arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
                arrow_csv.ConvertOptions(
                    include_columns=list(keys), column_types=dict(types),
                    decimal_point=self.decimal,
                ),
            )  # fmt: skip


@contextmanager
def _long_cells() -> Iterator[None]:
    """Allow long cells while a file is read. The limit of the csv module is global."""
    with _limit_lock:
        before = csv.field_size_limit(_LONGEST_CELL)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def _numbered_rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, each with the number of the line on which it ends."""
    n_lines = 0

    def count_lines() -> Iterator[str]:
        nonlocal n_lines
        for line in lines:
            n_lines += 1
            yield line
        yield "\n"  # becomes a part of the last cell if its quote is open

    reader = csv.reader(count_lines(), delimiter=delimiter)
    for row in filter(None, reader):
        if reader.line_num > n_lines:
            raise csv.Error("a quote is not closed")
        yield reader.line_num, row


class ExcelFile(ArrowTable):
    """A sheet of a workbook, which is loaded into memory as a whole."""

    def __init__(self, path: Path, dataset: str | None = None, header: bool | None = None) -> None:
        self.path = path
        super().__init__(_read_sheet(path, dataset, header), repr(str(path)))

    def identity(self) -> Any:
        return file_identity(self.path)


def _read_sheet(path: Path, sheet: str | None, header: bool | None) -> Any:
    """Return a sheet as a pyarrow table."""
    reading = "reading an Excel file"
    calamine = import_optional(reading, "python-calamine", "excel", "python_calamine")
    pa, name = pyarrow_for(reading), repr(str(path))
    try:
        book = calamine.CalamineWorkbook.from_path(path)
        sheet = _choose_sheet(book.sheet_names, sheet, name)
        found = book.get_sheet_by_name(sheet).to_python()
    except calamine.CalamineError as error:
        raise ValueError(f"cannot read {name} as an Excel file: {error}") from error
    rows = [row for row in found if any(cell != "" for cell in row)]
    if not rows:
        raise ValueError(f"the sheet {sheet!r} of {name} is empty.")
    head = Head(_as_text(rows[0]), 1, [_as_text(row) for row in rows[1:_SAMPLE_ROWS]])
    header = _has_header(head, header, ".", name)
    names = head.first if header else [str(j) for j in range(len(rows[0]))]
    columns = zip(*rows[int(header) :], strict=True)
    return pa.Table.from_arrays([_column(pa, cells) for cells in columns], names=names)


def _choose_sheet(names: Sequence[str], wanted: str | None, file: str) -> str:
    """Return the requested sheet, defaulting to the first one."""
    if wanted is not None and wanted not in names:
        problem = f"{file} has the sheets {', '.join(names)}, but not {wanted!r}"
        fix = f"choose one, for example with dataset={names[0]!r}."
        raise SourceError(f"{problem}; {fix}", problem, remedy="dataset", example=names[0])
    return names[0] if wanted is None else wanted


def _as_text(row: Sequence[Any]) -> list[str]:
    """Return the cells of a row as a CSV file would contain them."""
    whole = (isinstance(cell, float) and cell.is_integer() for cell in row)
    return [str(int(cell) if is_whole else cell) for cell, is_whole in zip(row, whole, strict=True)]


def _column(pa: Any, cells: Sequence[Any]) -> Any:
    """Return a column of numbers, Booleans or dates, or of text if the cells have mixed types."""
    values = [None if cell == "" else cell for cell in cells]
    known = [value for value in values if value is not None]
    if all(isinstance(value, bool) for value in known):
        return pa.array(values, pa.bool_() if known else pa.null())
    if all(isinstance(value, int | float) for value in known):
        return pa.array(values, pa.float64())
    if all(isinstance(value, date | time | timedelta) for value in known):
        kinds = {type(value) for value in known}
        if len(kinds) == 1:
            return pa.array(values)
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def detect_delimiter(line: str, decimal: str | None) -> str:
    """Return the most frequent candidate outside quotes in a line, except the decimal mark."""
    unquoted = re.sub(r'"[^"]*"', "", line)
    for candidate in _DELIMITERS[1:]:  # 1,5;2,5 has as many commas as numbers
        cells = unquoted.split(candidate)
        if len(cells) > 1 and all(_COMMA_ROW.fullmatch(cell.strip()) for cell in cells):
            return candidate
    return max((c for c in _DELIMITERS if c != decimal), key=unquoted.count)


def detect_decimal(head: Head) -> str:
    """Return a comma if some numbers contain commas and none contain points, else a point."""
    # If commas also separate the cells, a cell with a comma was quoted.
    cells = [cell.strip() for row in (head.first, *head.below) for cell in row]
    points = any(is_number(cell) and not _INTEGER.fullmatch(cell) for cell in cells)
    commas = any(_DECIMAL_COMMA.fullmatch(cell) for cell in cells)
    return "," if commas and not points else "."


def _has_header(head: Head, header: bool | None, decimal: str, file: str) -> bool:
    """Return ``header``, or if it is None, detect a header and warn if its names are numbers."""
    if header is not None:
        return header
    detected = detect_header(head, decimal)
    numbers = [name for name in head.first if name.strip().isdigit()]
    if detected and numbers:  # the line may contain data instead
        shown = ", ".join(numbers[:3]) + ", ..." * (len(numbers) > 3)
        problem = f"the first line of {file} was read as column names ({shown})"
        fix = "if it is a row of numbers, pass header=False."
        check.warn(SourceWarning(f"{problem}; {fix}", problem, remedy="header"))
    return detected


def detect_header(head: Head, decimal: str) -> bool:
    """Return True if the first row contains column names, which may be numbers such as years.

    A row with fractions is data. Otherwise, it contains names if it has no numbers or if a column
    of numbers starts with text. Distinct integers are names in two more cases: if all numbers below
    them are fractions, or if they are 0, 1, 2 and so on, or evenly spaced years, and the numbers in
    the next row are not evenly spaced.
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


def _normalize(row: Sequence[str], decimal: str) -> list[str]:
    return [cell.strip().replace(decimal, ".").lower() for cell in row]


def is_number(cell: str) -> bool:
    """Return True if the text is a number."""
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
    """Return True for 0, 1, 2 and so on, and for evenly spaced years."""
    numbers = [int(name) for name in names]
    years = all(1800 <= number <= 2200 for number in numbers)
    return _is_even(names) and (years or numbers[:2] == [0, 1])


def _is_even(cells: Sequence[str]) -> bool:
    """Return True for at least three increasing, evenly spaced integers."""
    if len(cells) < 3 or not all(map(_INTEGER.fullmatch, cells)):
        return False
    steps = np.diff([int(cell) for cell in cells])
    return bool(steps[0] > 0 and (steps == steps[0]).all())

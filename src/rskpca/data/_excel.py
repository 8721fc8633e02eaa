"""Tables for Excel workbooks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, time, timedelta
from pathlib import Path
from typing import Any

from .._format import import_optional
from ._dialect import Head, detect_header, warn_of_numbers
from ._frames import _ArrowTable
from ._table import SourceError, file_identity, pyarrow_for

_HEAD_ROWS = 100


class ExcelFile(_ArrowTable):
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
    head = Head(_as_text(rows[0]), 1, [_as_text(row) for row in rows[1:_HEAD_ROWS]])
    if header is None:
        header = detect_header(head, ".")
        warn_of_numbers(header, head.first, name)
    names = head.first if header else [str(j) for j in range(len(rows[0]))]
    columns = zip(*rows[int(header) :], strict=True)
    return pa.Table.from_arrays([_column(pa, cells) for cells in columns], names=names)


def _choose_sheet(names: Sequence[str], wanted: str | None, file: str) -> str:
    """Return the requested sheet, defaulting to the first one."""
    if wanted is not None and wanted not in names:
        problem = f"{file} has the sheets {', '.join(names)}, but not {wanted!r}"
        raise SourceError(f"{problem}; choose one with dataset=.", problem, remedy="dataset")
    return names[0] if wanted is None else wanted


def _as_text(row: Sequence[Any]) -> list[str]:
    """Return the cells of a row as a CSV file would contain them."""
    whole = (isinstance(cell, float) and cell.is_integer() for cell in row)
    return [str(int(cell) if is_whole else cell) for cell, is_whole in zip(row, whole, strict=True)]


def _column(pa: Any, cells: Sequence[Any]) -> Any:
    """Return a column of numbers, of truth values, of dates, or of text if they are mixed."""
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

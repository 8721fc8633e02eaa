"""Files that pyarrow reads: Parquet, Arrow (Feather) and CSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ._frames import arrow_column, arrow_fields, carried_type
from ._table import Batch, Field, Picked, Table, dropped, file_identity
from .packages import pyarrow_for

_CSV_BLOCK = 1 << 22  # bytes
_DELIMITERS = ",;\t|"
_PAGES = 1 << 20  # bytes of a column that are read at a time


class _ArrowFile(Table):
    """A file whose batches are record batches."""

    def __init__(self, path: Path) -> None:
        self.path, self.where = path, repr(str(path))

    def identity(self) -> Any:
        """Of the file."""
        return file_identity(self.path)

    def _batch(self, record_batch: Any, picked: Picked, first: int) -> Batch:
        columns = [
            arrow_column(record_batch.column(self.fields[j].name), number)
            for j, number in picked.read
        ]
        return Batch(columns, self.where, range(first, first + record_batch.num_rows))


class _TypedFile(_ArrowFile):
    """A file that says what its columns hold."""

    def _describe(self, schema: Any) -> None:
        self.fields, self._types = tuple(arrow_fields(schema)), schema.types

    def arrow_type(self, j: int) -> Any:
        """As in the file."""
        return carried_type(self._types[j])


class ParquetFile(_TypedFile):
    """Row groups; those before the start are skipped."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self._opened() as file:
            self._describe(file.schema_arrow)
            groups = range(file.metadata.num_row_groups)
            sizes = [file.metadata.row_group(group).num_rows for group in groups]
        self._starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        self.n_rows = int(self._starts[-1])

    def batches(self, picked: Picked, start: int, size: int) -> Iterator[Batch]:
        """Record batches of the columns asked for alone."""
        if start >= self.n_rows:  # type: ignore[operator]
            return
        group = int(np.searchsorted(self._starts, start, side="right")) - 1
        names = [self.fields[j].name for j in picked.all]
        with self._opened() as file:
            rest = list(range(group, len(self._starts) - 1))
            found = file.iter_batches(size, row_groups=rest, columns=names, use_threads=False)
            first = int(self._starts[group])
            yield from dropped(self._numbered(found, picked, first), start - first)

    def _numbered(self, found: Any, picked: Picked, first: int) -> Iterator[Batch]:
        for record_batch in found:
            yield self._batch(record_batch, picked, first)
            first += record_batch.num_rows

    def _opened(self) -> Any:
        pa = pyarrow_for("a Parquet file")
        import pyarrow.parquet as pq

        try:
            return pq.ParquetFile(self.path, buffer_size=_PAGES)
        except pa.ArrowInvalid as error:
            raise ValueError(f"cannot read {self.where} as a Parquet file: {error}") from error


class ArrowFile(_TypedFile):
    """The Arrow file format, which is Feather version 2; memory-mapped."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self._opened() as reader:
            self._describe(reader.schema)
        from pyarrow import dataset

        self.n_rows = dataset.dataset(path, format="ipc").count_rows()

    def batches(self, picked: Picked, start: int, size: int) -> Iterator[Batch]:
        """Slices of the file's record batches."""
        first = 0
        with self._opened() as reader:
            for i in range(reader.num_record_batches):
                record_batch = reader.get_batch(i)
                skip = min(max(start - first, 0), record_batch.num_rows)
                for at in range(skip, record_batch.num_rows, size):
                    yield self._batch(record_batch.slice(at, size), picked, first + at)
                first += record_batch.num_rows

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        pa = pyarrow_for("an Arrow file")
        with pa.memory_map(str(self.path)) as mapped:
            try:
                reader = pa.ipc.open_file(mapped)
            except pa.ArrowInvalid as error:
                raise ValueError(f"cannot read {self.where} as an Arrow file: {error}") from error
            yield reader


class CsvFile(_ArrowFile):
    """Lines of cells. Types are told from the first block; numbers are read as float64.

    Columns that are carried through stay as they are written: what looks like a number may be a
    key, such as 00017, that no number holds.

    ``delimiter`` None is the one that the first line has most of. ``header`` says whether the
    first line holds names; None: if none of its cells is a number.
    """

    n_rows = None
    ids_are_text = True

    def __init__(
        self,
        path: Path,
        delimiter: str | None = None,
        header: bool | None = None,
        decimal: str = ".",
    ) -> None:
        super().__init__(path)
        self.decimal = decimal
        self.delimiter = self._told_delimiter() if delimiter is None else delimiter
        first, line = self._first_line()
        numbers = [_is_number(cell.replace(decimal, ".")) for cell in first]
        named = not any(numbers) if header is None else header
        self._head = line if named else 0
        self._places = [str(j) for j in range(len(first))]  # as names may come twice
        self._numeric: set[str] = set()
        self.fields = tuple(self._told_fields(first if named else [None] * len(first)))

    def _told_delimiter(self) -> str:
        """What stands most often in the first line, outside of quotes; a comma if nothing does."""
        with self._lines() as lines:
            line = next((line for line in lines if line.strip()), "")
        bare = re.sub(r'"[^"]*"', "", line)
        return max((c for c in _DELIMITERS if c != self.decimal), key=bare.count)

    @contextmanager
    def _lines(self) -> Iterator[Any]:
        try:
            with self.path.open(newline="", encoding="utf-8-sig") as lines:
                yield lines
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{self.where} is not written in UTF-8 ({error}); convert it, as by "
                "iconv -f latin1 -t utf-8."
            ) from error

    def _first_line(self) -> tuple[list[str], int]:
        """Its cells, and how many lines it ends after."""
        with self._lines() as lines:
            reader = csv.reader(lines, delimiter=self.delimiter)
            found = next((row for row in reader if row), None)
        if found is None:
            raise ValueError(f"{self.where} is empty: it has no line.")
        return found, reader.line_num

    def _told_fields(self, names: Sequence[str | None]) -> Iterator[Field]:
        """Numbers are float64 whatever the first block looks like, which may be all whole."""
        pa = pyarrow_for("a CSV file")
        with self._opened(self._places, {}) as reader:
            kinds = [field.type for field in reader.schema]
        for place, name, kind in zip(self._places, names, kinds, strict=True):
            empty = pa.types.is_null(kind)
            if pa.types.is_integer(kind) or pa.types.is_floating(kind) or empty:
                self._numeric.add(place)
            number = place in self._numeric or pa.types.is_boolean(kind)
            yield Field(name, np.dtype(np.float64) if number else None, empty=empty)

    def batches(self, picked: Picked, start: int, size: int) -> Iterator[Batch]:
        """Blocks of lines; rows before the start are read and dropped."""
        return dropped(self._numbered(picked), start)

    def _numbered(self, picked: Picked) -> Iterator[Batch]:
        import pyarrow as pa

        first, names = 0, list(dict.fromkeys(self._places[j] for j in picked.all))
        kinds = {name: pa.float64() for name in self._numeric.intersection(names)}
        kinds.update({self._places[j]: pa.string() for j in picked.ids})
        with self._opened(names, kinds) as reader:
            for record_batch in self._checked(reader):
                yield self._batch(record_batch, picked, first)
                first += record_batch.num_rows

    def _batch(self, record_batch: Any, picked: Picked, first: int) -> Batch:
        found = [(record_batch.column(self._places[j]), number) for j, number in picked.read]
        columns = [arrow_column(self._cells(column, number), number) for column, number in found]
        return Batch(columns, self.where, range(first, first + record_batch.num_rows))

    def _cells(self, column: Any, number: bool) -> Any:
        """A column; as numbers also where it was read as text, to be carried through too."""
        import pyarrow as pa
        from pyarrow import compute

        if not (number and pa.types.is_string(column.type)):
            return column
        written = compute.if_else(compute.equal(column, ""), None, column)
        try:
            return compute.replace_substring(written, self.decimal, ".").cast(pa.float64())
        except pa.ArrowInvalid as error:
            raise ValueError(f"cannot read {self.where}: {error}") from error

    def arrow_type(self, j: int) -> Any:
        """Text, whatever it looks like."""
        return pyarrow_for("a CSV file").string()

    def _checked(self, reader: Any) -> Iterator[Any]:
        import pyarrow as pa

        try:
            yield from reader
        except pa.ArrowInvalid as error:
            raise ValueError(f"cannot read {self.where}: {error}") from error

    def _opened(self, names: Sequence[str], kinds: Mapping[str, Any]) -> Any:
        pa = pyarrow_for("a CSV file")
        from pyarrow import csv as arrow_csv

        try:
            return arrow_csv.open_csv(
                self.path,
                arrow_csv.ReadOptions(
                    use_threads=False, block_size=_CSV_BLOCK, column_names=self._places,
                    skip_rows=self._head,
                ),
                arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
                arrow_csv.ConvertOptions(
                    include_columns=list(names), column_types=dict(kinds),
                    decimal_point=self.decimal,
                ),
            )  # fmt: skip
        except pa.ArrowInvalid as error:
            raise ValueError(f"cannot read {self.where}: {error}") from error


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True

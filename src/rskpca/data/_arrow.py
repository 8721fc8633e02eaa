"""Tables for files read with pyarrow: Parquet, Arrow (Feather) and CSV."""

# We benchmarked pyarrow.dataset and decided against it. Its scanner decodes whole row groups
# (twice the memory and three times the CPU time for one group of 100,000 x 784 values), cannot
# start in the middle of an Arrow file, is half as fast for LZ4 files, and is no faster for CSV.

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ._dialect import (
    Head,
    detect_decimal,
    detect_delimiter,
    detect_header,
    read_head,
    warn_of_numbers,
)
from ._frames import arrow_fields, arrow_kind, arrow_to_numpy, id_type
from ._table import (
    Batch,
    Field,
    Selection,
    Table,
    file_errors,
    file_identity,
    pyarrow_for,
    skip_rows,
)

_PARQUET_BUFFER = 1 << 16  # bytes per column; larger buffers are slower with many columns
_CSV_BLOCK = 1 << 22  # bytes
_CSV_ROWS, _LARGEST_CSV_BLOCK = 64, 1 << 26  # blocks of a few wide rows are slow

_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}


class _ArrowFile(Table):
    """Base class for files read as record batches with the column types ``_types``."""

    _types: list[Any]

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, repr(str(path))

    def _describe(self, schema: Any) -> None:
        self.fields, self._types = tuple(arrow_fields(schema)), schema.types

    def arrow_type(self, j: int) -> Any:
        return id_type(self._types[j])

    def identity(self) -> Any:
        return file_identity(self.path)

    def _numbered(
        self, record_batches: Iterable[Any], selection: Selection, first: int
    ) -> Iterator[Batch]:
        """Convert record batches to batches, numbering rows from ``first``."""
        for record_batch in record_batches:
            numbers = range(first, first + record_batch.num_rows)
            yield Batch(self._columns(record_batch, selection), self.name, numbers)
            first = numbers.stop

    def _columns(self, record_batch: Any, selection: Selection) -> list[Any]:
        return [
            arrow_to_numpy(record_batch.column(self.fields[j].name), numeric)
            for j, numeric in selection.reads
        ]


class ParquetFile(_ArrowFile):
    """A Parquet file. Row groups before the first requested row are skipped."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self._open() as file:
            self._describe(file.schema_arrow)
            groups = range(file.metadata.num_row_groups)
            sizes = [file.metadata.row_group(group).num_rows for group in groups]
        self._starts = np.cumsum([0, *sizes], dtype=np.int64)
        self.n_rows: int = int(self._starts[-1])

    def batches(self, selection: Selection, start: int, size: int) -> Iterator[Batch]:
        if start >= self.n_rows:
            return
        group = int(np.searchsorted(self._starts, start, side="right")) - 1
        first = int(self._starts[group])
        with file_errors(self.name), self._open() as file:
            found = file.iter_batches(
                size,
                row_groups=list(range(group, len(self._starts) - 1)),
                columns=[self.fields[j].name for j in selection.positions],
                use_threads=False,
            )
            yield from skip_rows(self._numbered(found, selection, first), start - first)

    def _open(self) -> Any:
        pa = pyarrow_for("reading a Parquet file")
        import pyarrow.parquet as pq

        try:
            # The default, pre-buffering, would load the compressed bytes of all row groups.
            return pq.ParquetFile(self.path, buffer_size=_PARQUET_BUFFER, pre_buffer=False)
        except pa.ArrowInvalid as error:
            raise ValueError(f"cannot read {self.name} as a Parquet file: {error}") from error


class ArrowFile(_ArrowFile):
    """A memory-mapped Arrow (Feather version 2) file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self._open() as reader:
            self._describe(reader.schema)
        from pyarrow import dataset

        self.n_rows = dataset.dataset(path, format="ipc").count_rows()

    def batches(self, selection: Selection, start: int, size: int) -> Iterator[Batch]:
        first = 0
        with file_errors(self.name), self._open() as reader:
            for i in range(reader.num_record_batches):
                record_batch = reader.get_batch(i)
                skip = min(max(start - first, 0), record_batch.num_rows)
                slices = (
                    record_batch.slice(at, size) for at in range(skip, record_batch.num_rows, size)
                )
                yield from self._numbered(slices, selection, first + skip)
                first += record_batch.num_rows

    @contextmanager
    def _open(self) -> Iterator[Any]:
        pa = pyarrow_for("reading an Arrow file")
        with pa.memory_map(str(self.path)) as mapped:
            try:
                reader = pa.ipc.open_file(mapped)
            except pa.ArrowInvalid as error:
                raise ValueError(f"cannot read {self.name} as an Arrow file: {error}") from error
            yield reader


class CsvFile(_ArrowFile):
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
        head = self._head()
        self.decimal = detect_decimal(head) if decimal is None else decimal
        if header is None:
            header = detect_header(head, self.decimal)
            warn_of_numbers(header, head.first, self.name)
        cells = head.first
        self._header_lines = head.n_lines if header else 0
        row = len(self.delimiter.join((head.below or [cells])[0]))
        self._block_size = min(max(_CSV_BLOCK, _CSV_ROWS * row), _LARGEST_CSV_BLOCK)
        self._keys = [str(j) for j in range(len(cells))]  # unique, unlike the column names
        self._types = self._infer_types()
        names = cells if header else [None] * len(cells)
        self.fields = tuple(map(_csv_field, names, self._types))

    def _find_delimiter(self, decimal: str | None) -> str:
        with self._text() as lines:
            line = next((line for line in lines if line.strip()), "")
        return detect_delimiter(line, decimal)

    def _head(self) -> Head:
        with self._text() as lines:
            try:
                head = read_head(lines, self.delimiter)
            except csv.Error as error:
                raise ValueError(
                    f"cannot read {self.name}: {error}; check its delimiter and quotes."
                ) from error
        if head is None:
            raise ValueError(f"{self.name} is empty.")
        return head

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

    def _infer_types(self) -> list[Any]:
        """Infer the type of each column from the first block of the file."""
        with self._open(self._keys, {}, _CSV_BLOCK) as reader:
            return [field.type for field in reader.schema]

    def batches(self, selection: Selection, start: int, size: int) -> Iterator[Batch]:
        return skip_rows(self._all_batches(selection), start)

    def _all_batches(self, selection: Selection) -> Iterator[Batch]:
        import pyarrow as pa

        keys = list(dict.fromkeys(self._keys[j] for j in selection.positions))
        # A column with only integers in the first block may have fractions in later blocks.
        types = {self._keys[j]: pa.float64() for j in selection.positions if self._is_float(j)}
        types.update({self._keys[j]: pa.string() for j in selection.ids})
        with file_errors(self.name), self._open(keys, types, self._block_size) as reader:
            yield from self._numbered(reader, selection, 0)

    def _is_float(self, j: int) -> bool:
        import pyarrow as pa

        return not pa.types.is_boolean(self._types[j]) and self.fields[j].dtype is not None

    def _columns(self, record_batch: Any, selection: Selection) -> list[Any]:
        found = dict(zip(record_batch.schema.names, record_batch.columns, strict=True))
        also_ids = {self._keys[j] for j in selection.ids}
        columns = []
        for j, numeric in selection.reads:
            column = found[self._keys[j]]
            if numeric and self._keys[j] in also_ids:
                column = self._parse(column)
            columns.append(arrow_to_numpy(column, numeric))
        return columns

    def _parse(self, column: Any) -> Any:
        """Convert a column to numbers that was read as text because it is also an id."""
        import pyarrow as pa
        from pyarrow import compute

        cells = compute.if_else(compute.equal(column, ""), None, column)
        return compute.replace_substring(cells, self.decimal, ".").cast(pa.float64())

    def arrow_type(self, j: int) -> Any:
        return pyarrow_for("reading a CSV file").string()

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


def _csv_field(name: str | None, kind: Any) -> Field:
    """Describe a CSV column by its type in the first block, treating empty columns as numeric."""
    import pyarrow as pa

    empty = pa.types.is_null(kind)
    is_kind = pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean
    numeric = empty or any(is_(kind) for is_ in is_kind)
    dtype = np.dtype(np.float64) if numeric else None
    return Field(name, dtype, empty=empty, kind=arrow_kind(kind))


def open_tsv(
    path: Path,
    delimiter: str = "\t",
    header: bool | None = None,
    decimal: str | None = None,
) -> CsvFile:
    """Open a file of values separated by tabs."""
    return CsvFile(path, delimiter, header, decimal)

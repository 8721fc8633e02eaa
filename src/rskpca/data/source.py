"""Sources of rows, read as blocks of finite numbers."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from ._combined import CompleteRows
from ._ids import IdType
from ._table import Batch, Rows, Selection, SourceError, Table, column_label, feature_dtype

Array = NDArray[np.floating]
T = TypeVar("T")

# Blocks of two million values stay in the processor's cache, but a block has a fixed cost too.
_BLOCK_VALUES, _MOST_BLOCK_VALUES = 2**21, 2**23
_BLOCK_ROWS = 2**13  # number of rows that wide blocks should have
_FEWEST_ROWS = 20  # fewer integers may be consecutive by chance
_END = object()


def _default_block_rows(n_features: int) -> int:
    wide = min(_BLOCK_ROWS, _MOST_BLOCK_VALUES // n_features)
    return int(np.clip(max(_BLOCK_VALUES // n_features, wide), 256, 2**17))


class Block(NamedTuple):
    """Consecutive rows of a source.

    Attributes
    ----------
    start : int
        Row number of the first row.
    rows : ndarray of shape (n_rows, n_features)
        The features, finite float32 or float64 values.
    weights : ndarray of shape (n_rows,) or None
        The sample weights, or None if the source has no weight column.
    ids : dict of str to ndarray
        The id columns, by name.
    empty : ndarray of shape (n_rows,) or None
        True for rows with a missing value, whose features are set to zero. None unless the
        source was returned by :meth:`Source.with_skipped` and the block has such rows.
    """

    start: int
    rows: Array
    weights: NDArray[np.float64] | None
    ids: dict[Any, NDArray[Any]]
    empty: NDArray[np.bool_] | None = None

    @property
    def stop(self) -> int:
        """Return the row number of the last row, plus 1."""
        return self.start + len(self.rows)

    @property
    def counts(self) -> bool:
        """Return True unless all weights are zero."""
        return self.weights is None or bool(self.weights.any())


class Source:  # numpydoc ignore=PR01
    """Rows that are read block by block, as returned by :func:`open_source`.

    Attributes
    ----------
    name : str
        The name used in error messages.
    n_rows : int or None
        Number of rows, or None if it can be determined only by reading the rows and they have not
        been read yet.
    n_features : int
        Number of features.
    feature_names : tuple of str or None
        Feature names, or None if any feature is unnamed.
    dtype : dtype
        The dtype of the blocks: float32 if NumPy promotes the features to it, else float64.
    block_rows : int
        Number of rows per block; the last block may have fewer.
    again : bool
        True if the rows can be read more than once.
    left_out : dict of str to str
        Names of the columns that were left out with ``lenient=True``. The values are "text",
        "dates", or "partial" for columns that only some files of a folder have.
    watch : callable
        Callback that receives the number of rows read so far, in the thread that reads them.
    """

    watch: Callable[[int], object] = staticmethod(lambda row: None)
    _must_be_finite = True

    def __init__(self, table: Table, selection: Selection, block_rows: int | None = None) -> None:
        self._table, self._selection = table, selection
        self.name, self.n_rows, self.again = table.name, table.n_rows, table.again
        self.n_features = len(selection.features)
        fields = [table.fields[j] for j in selection.features]
        named = all(isinstance(field.name, str) for field in fields)
        self.feature_names = tuple(field.name for field in fields) if named else None
        self.dtype = feature_dtype(fields)
        if block_rows is None:
            block_rows = _default_block_rows(self.n_features)
        check.positive_integer("block_rows", block_rows)
        self.block_rows = block_rows
        self.left_out: dict[str, str] = {}

    def __repr__(self) -> str:
        """Return the name, shape and dtype on one line."""
        rows = "an unknown number of" if self.n_rows is None else f"{self.n_rows:,}"
        return f"Source({self.name}, {rows} rows, {self.n_features} features, {self.dtype})"

    @property
    def ids(self) -> tuple[Any, ...]:
        """Return the names of the id columns."""
        fields = self._table.fields
        positions = self._selection.ids
        return tuple(str(j) if fields[j].name is None else fields[j].name for j in positions)

    @property
    def ids_are_text(self) -> bool:
        """Return True if ids are always text, as in .csv files, even if they look like numbers."""
        return self._table.ids_are_text

    def id_types(self) -> list[Any]:
        """Return the pyarrow types of the id columns in the output; reads .csv files."""
        return [kind.type for kind in id_columns(self)]

    @property
    def n_skipped(self) -> int | None:
        """Return the number of skipped rows, or None before a full pass."""
        return self._table.n_skipped

    def with_skipped(self) -> Source:
        """Return a source that includes the skipped rows, marked as empty, but has no weights."""
        if isinstance(self._table, CompleteRows):
            return _SourceWithSkipped(self, self._table)
        return self

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """Yield the rows in order, in blocks.

        Parameters
        ----------
        start : int, default=0
            Row number of the first row to read.

        Yields
        ------
        Block
            Blocks of ``block_rows`` rows. A value that is not finite raises an error that names
            the file, the row and the column.
        """
        check.whole_number("start", start)
        block, size = _BlockBuilder(self, start), self.block_rows
        for batch in self._table.batches(self._selection, start, size):
            at = 0
            while at < len(batch):
                part = batch.rows(slice(at, at + size - block.n_rows))
                block.append(part)
                self.watch(start + block.n_rows)
                at += len(part)
                if block.n_rows == size:
                    yield block.build()
                    block = _BlockBuilder(self, start := start + size)
        if block.n_rows:
            yield block.build()
        self._set_n_rows(start + block.n_rows)

    def head(self, n_rows: int) -> Block:
        """Return the first rows; ids include the text and date columns that were left out."""
        names = [field.name for field in self._table.fields]
        left_out = (name for name, kind in self.left_out.items() if kind in ("text", "dates"))
        further = tuple(names.index(name) for name in left_out if name in names)
        selection = self._selection._replace(ids=(*self._selection.ids, *further))
        return next(Source(self._table, selection, n_rows).blocks())

    def _set_n_rows(self, n_rows: int) -> None:
        if n_rows == 0:
            why = "all rows have missing values" if self.n_skipped else "it has no rows"
            raise ValueError(f"{self.name} is empty: {why}.")
        if self.n_rows is None:
            self.n_rows = n_rows

    def take(self, rows: Any) -> Array:
        """Return the features of the given rows; see :meth:`take_block`."""
        return self.take_block(rows).rows

    def take_block(self, rows: Any) -> Block:
        """Return the given rows with their weights and ids.

        Parameters
        ----------
        rows : array-like of int
            Row numbers in ascending order. Files without random access are read sequentially up to
            the last of these rows.

        Returns
        -------
        Block
            The rows, which need not be consecutive; ``start`` is 0.
        """
        wanted: Rows = np.asarray(rows, dtype=np.intp)
        if np.any(np.diff(wanted) < 0):
            raise ValueError("rows must be in ascending order; sort them.")
        self._check_range(wanted, self.n_rows)
        block = _BlockBuilder(self, 0, len(wanted))
        for batch in self._table.take(self._selection, wanted, self.block_rows):
            block.append(batch)
            self.watch(int(wanted[block.n_rows - 1]) + 1)
        if block.n_rows < len(wanted):
            self._check_range(wanted, self.counted())
        return block.build()

    def _check_range(self, wanted: Rows, n_rows: int | None) -> None:
        invalid = wanted[(wanted < 0) | (wanted >= (np.inf if n_rows is None else n_rows))]
        if len(invalid):
            size = "" if n_rows is None else f"; it has {n_rows:,} rows, numbered from 0"
            raise IndexError(f"{self.name} has no row {invalid[0]:,}{size}.")

    def counted(self) -> int:
        """Return the number of rows, reading them if it is not known yet."""
        if self.n_rows is None:
            n_rows, selection = 0, Selection(self._selection.features[:1])
            if isinstance(self._table, CompleteRows):  # a value may be missing in any feature
                selection = self._selection._replace(ids=())
            for batch in self._table.batches(selection, 0, self.block_rows):
                n_rows += len(batch)
                self.watch(n_rows)
            self._set_n_rows(n_rows)
        return self.n_rows  # type: ignore[return-value]

    def fingerprint(self) -> str:
        """Return a digest of the columns and of the files (names, sizes, modification times)."""
        fields = [(str(self._table.fields[j].name), j) for j in self._selection.positions]
        parts = [self._table.identity(), fields, self._selection, str(self.dtype)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def weights(self) -> NDArray[np.float64] | None:
        """Return the weights of all rows, or None if there is no weight column."""
        if self._selection.weight is None:
            return None
        return np.concatenate([np.asarray(block.weights) for block in self.blocks()])


class _SourceWithSkipped(Source):
    """A source that includes skipped rows, marked as empty and with all features set to zero."""

    _must_be_finite = False

    def __init__(self, source: Source, complete: CompleteRows) -> None:
        selection = source._selection._replace(weight=None)
        super().__init__(complete.table, selection, source.block_rows)
        self.watch, self._source, self._complete = source.watch, source, complete

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """Yield the rows in order; a full pass sets ``n_rows`` and ``n_skipped`` of the source."""
        skipped = 0
        for block in super().blocks(start):
            empty = np.asarray(~np.isfinite(block.rows).all(axis=1))
            block.rows[empty] = 0.0
            skipped += int(np.count_nonzero(empty))
            yield block._replace(empty=empty if empty.any() else None)
        if start == 0 and self.n_rows is not None:
            self._complete.n_skipped, self._source.n_rows = skipped, self.n_rows - skipped


class _BlockBuilder:
    """Collect batches until a block is complete, and validate it."""

    def __init__(self, source: Source, start: int, size: int | None = None) -> None:
        self.source, self.start, self.n_rows = source, start, 0
        size = source.block_rows if size is None else size
        self.rows: Array = np.empty((size, source.n_features), dtype=source.dtype)
        self.batches: list[Batch] = []

    def append(self, batch: Batch) -> None:
        batch.copy_features(self.rows[self.n_rows : self.n_rows + len(batch)])
        self.n_rows += len(batch)
        self.batches.append(batch)

    def build(self) -> Block:
        rows = self.rows[: self.n_rows]
        if self.source._must_be_finite and not _sum_is_finite(rows):
            self._reject_missing(rows)
        return Block(self.start, rows, self._weights(), self._ids())

    def _weights(self) -> NDArray[np.float64] | None:
        selection = self.source._selection
        if selection.weight is None:
            return None
        weights = self._column(len(selection.positions) - 1).astype(np.float64)
        invalid = ~(np.isfinite(weights) & (weights >= 0))
        problem = "is invalid; weights must be finite and non-negative"
        self._reject("weight", invalid, selection.weight, problem)
        return weights

    def _ids(self) -> dict[Any, NDArray[Any]]:
        selection, ids = self.source._selection, {}
        columns = enumerate(selection.ids, start=len(selection.features))
        for name, (k, j) in zip(self.source.ids, columns, strict=True):
            column, dtype = self._column(k), self.source._table.fields[j].dtype
            if dtype is not None and dtype.kind in "iu" and column.dtype.kind == "f":
                problem = "is missing; fill it in, or store the column as text"
                self._reject("id", np.isnan(column), j, problem)
            ids[name] = column
        return ids

    def _column(self, k: int) -> NDArray[Any]:
        return np.concatenate([batch.column(k) for batch in self.batches])

    def _reject_missing(self, rows: Array) -> None:
        """Raise an error that names the first value that is not finite, if any."""
        invalid = ~np.isfinite(rows)
        found = np.argwhere(invalid)
        if not len(found):
            return
        row, k = map(int, found[0])
        origin, _ = self._origin(row)
        kind = "is infinite" if np.isinf(rows[row, k]) else origin.missing
        problem = f"{self._locate('value', row, self.source._selection.features[k])} {kind}"
        count = int(np.count_nonzero(invalid.any(axis=1)))
        if count > 1:
            n_read = self.start + self.n_rows
            problem += f" ({count:,} of the {n_read:,} rows read so far are incomplete)"
        fix = "impute it, drop the row, or pass skip_missing=True"
        raise SourceError(f"{problem}; {fix}.", problem, remedy="skip_missing")

    def _reject(self, what: str, invalid: NDArray[np.bool_], column: int, problem: str) -> None:
        """Raise an error that names the first invalid value in a column, if any."""
        if invalid.any():
            raise ValueError(f"{self._locate(what, int(np.argmax(invalid)), column)} {problem}.")

    def _locate(self, what: str, row: int, column: int) -> str:
        """Describe a value and its location in error messages."""
        origin, number = self._origin(row)
        label = column_label(self.source._table.fields, column)
        return f"the {what} in {origin.locate(number)}, column {label}, of {origin.name}"

    def _origin(self, row: int) -> tuple[Table, int]:
        """Return the table that contains a row of this block, and its row number in that table."""
        starts = np.cumsum([0, *map(len, self.batches)])
        i = int(np.searchsorted(starts, row, side="right")) - 1
        return self.batches[i].origin, int(self.batches[i].numbers[row - starts[i]])


def find_counters(source: Source, n_rows: int) -> list[str]:
    """Return the names of features that contain consecutive integers, such as row numbers.

    Parameters
    ----------
    source : Source
        The rows. Those that are skipped because of missing values are also searched.
    n_rows : int
        Maximum number of rows to read.

    Returns
    -------
    list of str
        Names of the features that increase, or decrease, by 1 from each row to the next.
    """
    table = source._table.table if isinstance(source._table, CompleteRows) else source._table
    selection = Selection(source._selection.features)
    batch = next(iter(table.batches(selection, 0, n_rows)), None)
    if batch is None or len(batch) < _FEWEST_ROWS:
        return []
    names = [table.fields[j].name for j in selection.features]
    return [
        name
        for k, name in enumerate(names)
        if isinstance(name, str) and _counts(batch.column(k)[:n_rows])
    ]


def id_columns(source: Source) -> list[IdType]:
    """Return the types of the id columns, which convert them to pyarrow arrays."""
    import pyarrow as pa

    found = source._table.id_types(source._selection.ids)
    return [IdType(pa.string()) if pa.types.is_null(kind.type) else kind for kind in found]


def leave_out(source: Source, columns: Mapping[str, str]) -> Source:
    """Return a source without these columns, which are added to its ``left_out`` attribute."""
    fields, features = source._table.fields, source._selection.features
    kept = tuple(j for j in features if fields[j].name not in columns)
    smaller = Source(source._table, source._selection._replace(features=kept))
    smaller.left_out = {**source.left_out, **columns}
    return smaller


def _counts(column: NDArray[Any]) -> bool:
    """Return True for integers, of any dtype, that increase or decrease by 1."""
    if column.dtype == np.bool_ or column[0] != np.rint(column[0]):
        return False
    return bool(any((np.diff(numbers) == 1).all() for numbers in (column, column[::-1])))


def _sum_is_finite(rows: Array) -> bool:
    """Return True only if all values are finite. The result is also False if the sum overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(rows.sum(dtype=np.float64)))


def read_ahead(items: Iterable[T], depth: int = 2) -> Generator[T]:
    """Prefetch items in a thread, so that reading and computing overlap.

    Parameters
    ----------
    items : iterable
        The items, such as the blocks of a source.
    depth : int, default=2
        Number of prefetched items to keep in the queue while the next one is read.

    Yields
    ------
    item
        The items in order. An error raised in the thread is raised here after the items before
        it. The thread stops when the generator ends, for any reason.
    """
    iterator, thread = iter(items), ThreadPoolExecutor(1)
    try:
        ahead = deque(thread.submit(next, iterator, _END) for _ in range(depth + 1))
        while (item := ahead.popleft().result()) is not _END:
            ahead.append(thread.submit(next, iterator, _END))
            yield item  # type: ignore[misc]
    finally:
        thread.shutdown(cancel_futures=True)

"""A source of rows: blocks of numbers, from wherever they are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from ._columns import label
from ._table import Batch, Picked, Rows, Table, promoted
from ._whole import Whole

Array = NDArray[np.floating]

_BLOCK_VALUES = 2**20


class Block(NamedTuple):
    """Consecutive rows of a source.

    Attributes
    ----------
    start : int
        Number of the first row.
    rows : ndarray of shape (n_rows, n_features)
        Finite, float32 or float64.
    weights : ndarray of shape (n_rows,) or None
        Of the weight column.
    ids : dict of str to ndarray
        The columns that are carried through.
    empty : ndarray of shape (n_rows,) or None
        Which rows lack a number, and are zeros; None, unless :meth:`Source.with_skipped` has some.
    """

    start: int
    rows: Array
    weights: NDArray[np.float64] | None
    ids: dict[Any, NDArray[Any]]
    empty: NDArray[np.bool_] | None = None

    @property
    def stop(self) -> int:
        """Number of the row after the last."""
        return self.start + len(self.rows)

    @property
    def counts(self) -> bool:
        """Whether some row has weight."""
        return self.weights is None or bool(self.weights.any())


class Source:  # numpydoc ignore=PR01
    """Rows that are read block by block; made by :func:`open_source`.

    Attributes
    ----------
    name : str
        What errors call it.
    n_rows : int or None
        How many rows; None where that is known only after reading them.
    n_features : int
        How many columns are features.
    feature_names : tuple of str or None
        Their names, where all have one.
    dtype : dtype
        Of the blocks: float32 if numpy promotes the features to it, else float64.
    block_rows : int
        Rows of a block; the last may have fewer.
    again : bool
        Whether it can be read more than once.
    watch : callable
        Called with the number of the row that has been reached, in whichever thread reads.
    """

    watch: Callable[[int], object] = staticmethod(lambda row: None)
    _finite = True  # whether numbers that are not are an error

    def __init__(self, table: Table, picked: Picked, block_rows: int | None = None) -> None:
        self._table, self._picked = table, picked
        self.name, self.n_rows, self.again = table.where, table.n_rows, table.again
        self.n_features = len(picked.features)
        fields = [table.fields[j] for j in picked.features]
        named = all(isinstance(field.name, str) for field in fields)
        self.feature_names = tuple(field.name for field in fields) if named else None
        self.dtype = promoted(fields)
        if block_rows is not None:
            check.positive_integer("block_rows", block_rows)
        usual = int(np.clip(_BLOCK_VALUES // self.n_features, 256, 2**17))
        self.block_rows = usual if block_rows is None else block_rows

    def __repr__(self) -> str:
        """One line: where, how many rows, how wide."""
        rows = "an unknown number of" if self.n_rows is None else f"{self.n_rows:,}"
        return f"Source({self.name}, {rows} rows, {self.n_features} features, {self.dtype})"

    @property
    def ids(self) -> tuple[Any, ...]:
        """Names of the columns that are carried through."""
        fields = self._table.fields
        return tuple(str(j) if fields[j].name is None else fields[j].name for j in self._picked.ids)

    @property
    def ids_are_text(self) -> bool:
        """Whether what is carried through is text even where it is a number, as in .csv files."""
        return self._table.ids_are_text

    def id_types(self) -> list[Any]:
        """The pyarrow types of the columns that are carried through, the same for all blocks."""
        return [self._table.arrow_type(j) for j in self._picked.ids]

    @property
    def n_skipped(self) -> int | None:
        """Rows left out because a number is missing or not finite; None before all were read."""
        return self._table.n_skipped

    def with_skipped(self) -> Source:
        """All rows, also those that are left out, which are marked; weights are not read."""
        return _Marked(self, self._table) if isinstance(self._table, Whole) else self

    @property
    def weighted(self) -> bool:
        """Whether a column is the weight."""
        return self._picked.weight is not None

    @property
    def nbytes(self) -> int | None:
        """Bytes of all features as they are yielded; None where the rows are not counted."""
        return None if self.n_rows is None else self.n_rows * self.n_features * self.dtype.itemsize

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """Read on from a row.

        Parameters
        ----------
        start : int, default=0
            Number of the first row wanted.

        Yields
        ------
        Block
            Of ``block_rows`` rows, in order; numbers that are not finite are an error that
            names file, row and column.
        """
        check.whole_number("start", start)
        block, size = _Filling(self, start), self.block_rows
        for batch in self._table.batches(self._picked, start, size):
            at = 0
            while at < len(batch):
                part = batch.at(slice(at, at + size - block.n_rows))
                block.append(part)
                self.watch(start + block.n_rows)
                at += len(part)
                if block.n_rows == size:
                    yield block.done()
                    block = _Filling(self, start := start + size)
        if block.n_rows:
            yield block.done()
        self._note_end(start + block.n_rows)

    def _note_end(self, row: int) -> None:
        """All rows were read: there are so many."""
        if row == 0:
            skipped = " but those that were skipped" if self.n_skipped else ""
            raise ValueError(f"{self.name} is empty: it has no rows{skipped}.")
        if self.n_rows is None:
            self.n_rows = row

    def take(self, rows: Any) -> Array:
        """Rows by number.

        Parameters
        ----------
        rows : array-like of int
            Ascending; one that there is not is an IndexError. Files that cannot jump are read up
            to the last of them.

        Returns
        -------
        ndarray of shape (n_rows, n_features)
            The rows.
        """
        return self.take_block(rows).rows

    def take_block(self, rows: Any) -> Block:
        """Rows by number, with their weights and what is carried through.

        Parameters
        ----------
        rows : array-like of int
            Ascending.

        Returns
        -------
        Block
            Its rows are not consecutive; ``start`` is 0.
        """
        wanted: Rows = np.asarray(rows, dtype=np.intp)
        if np.any(np.diff(wanted) < 0):
            raise ValueError("rows must be ascending numbers; sort them.")
        self._check_range(wanted, self.n_rows)
        block = _Filling(self, 0, len(wanted))
        for batch in self._table.take(self._picked, wanted, self.block_rows):
            block.append(batch)
            self.watch(int(wanted[block.n_rows - 1]) + 1)
        if block.n_rows < len(wanted):
            self._check_range(wanted, self.counted())
        return block.done()

    def _check_range(self, wanted: Rows, n_rows: int | None) -> None:
        beyond = wanted[(wanted < 0) | (wanted >= (np.inf if n_rows is None else n_rows))]
        if len(beyond):
            known = "" if n_rows is None else f": it has {n_rows:,} rows, counted from 0"
            raise IndexError(f"{self.name} has no row {beyond[0]:,}{known}.")

    def counted(self) -> int:
        """How many rows there are; they are read if that is not known."""
        if self.n_rows is None:
            n_rows, needed = 0, self._table.counting(self._picked)
            for batch in self._table.batches(needed, 0, self.block_rows):
                n_rows += len(batch)
                self.watch(n_rows)
            self._note_end(n_rows)
        return self.n_rows  # type: ignore[return-value]

    def fingerprint(self) -> str:
        """A digest of what is read: names, sizes and times of files, columns, dtype."""
        fields = [(str(self._table.fields[j].name), j) for j in self._picked.all]
        parts = [self._table.identity(), fields, self._picked, str(self.dtype)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def weights(self) -> NDArray[np.float64] | None:
        """All weights; None without a weight column."""
        if not self.weighted:
            return None
        return np.concatenate([np.asarray(block.weights) for block in self.blocks()])


class _Marked(Source):
    """All rows of a source that skips some: those are zeros, and marked as empty."""

    _finite = False

    def __init__(self, source: Source, whole: Whole) -> None:
        picked = Picked(source._picked.features, source._picked.ids)
        super().__init__(whole.table, picked, source.block_rows)
        self.watch, self._source, self._whole = source.watch, source, whole

    def blocks(self, start: int = 0) -> Iterator[Block]:
        """Read on from a row; a pass over all tells the source how many it skips."""
        skipped = 0
        for block in super().blocks(start):
            empty = np.asarray(~np.isfinite(block.rows).all(axis=1))
            block.rows[empty] = 0.0
            skipped += int(np.count_nonzero(empty))
            yield block._replace(empty=empty if empty.any() else None)
        if start == 0 and self.n_rows is not None:
            self._whole.n_skipped, self._source.n_rows = skipped, self.n_rows - skipped


class _Filling:
    """A block that is being filled from batches."""

    def __init__(self, source: Source, start: int, size: int | None = None) -> None:
        self.source, self.start = source, start
        size = source.block_rows if size is None else size
        self.rows: Array = np.empty((size, source.n_features), dtype=source.dtype)
        self.n_rows = 0
        self.batches: list[Batch] = []

    def append(self, batch: Batch) -> None:
        batch.write_to(self.rows[self.n_rows : self.n_rows + len(batch)])
        self.n_rows += len(batch)
        self.batches.append(batch)

    def done(self) -> Block:
        """The block, checked."""
        rows, picked = self.rows[: self.n_rows], self.source._picked
        if self.source._finite and not _sums_up(rows):
            what = "holds NaN or infinity; fill it, drop the row, or give skip_missing=True"
            self._refuse(~np.isfinite(rows), picked.features, what)
        return Block(self.start, rows, self._weights(), self._ids())

    def _weights(self) -> NDArray[np.float64] | None:
        picked = self.source._picked
        if picked.weight is None:
            return None
        weights = self._column(len(picked.all) - 1).astype(np.float64)
        bad = ~(np.isfinite(weights) & (weights >= 0))
        self._refuse(bad[:, None], [picked.weight], "must be finite and not negative, as a weight")
        return weights

    def _ids(self) -> dict[Any, NDArray[Any]]:
        picked, found = self.source._picked, {}
        places = enumerate(picked.ids, start=len(picked.features))
        for name, (k, j) in zip(self.source.ids, places, strict=True):
            column, dtype = self._column(k), self.source._table.fields[j].dtype
            if dtype is not None and dtype.kind in "iu" and column.dtype.kind == "f":
                what = "is missing; fill it, or carry it through as text"
                self._refuse(np.isnan(column)[:, None], [j], what)
            found[name] = column
        return found

    def _column(self, k: int) -> NDArray[Any]:
        return np.concatenate([batch.column(k) for batch in self.batches])

    def _refuse(self, bad: NDArray[np.bool_], columns: Sequence[int], what: str) -> None:
        """An error that names the first bad value, if there is one."""
        places = np.argwhere(bad)
        if not len(places):
            return
        row, j = (int(k) for k in places[0])
        name = label(self.source._table.fields, columns[j])
        starts = np.cumsum([0, *map(len, self.batches)])
        k = int(np.searchsorted(starts, row, side="right")) - 1
        batch, number = self.batches[k], int(self.batches[k].numbers[row - starts[k]])
        raise ValueError(
            f"row {number:,} of {batch.where} (counted from 0), column {name}: {what}."
        )


def _sums_up(rows: Array) -> bool:
    """Whether the sum is finite: then all numbers are. Of large numbers it may not be."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(rows.sum(dtype=np.float64)))

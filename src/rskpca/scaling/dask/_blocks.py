"""A Dask collection as blocks of rows."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import _validation as check
from ._stages import imported


@dataclass(frozen=True, eq=False)
class Blocks:
    """Rows and sample weights in pieces that are not computed yet.

    ``lengths`` are the rows of each, None where they are not known; ``like`` has the names of
    the features and no rows.
    """

    rows: list[Any]
    weights: list[Any]
    lengths: tuple[int, ...] | None
    n_features: int
    like: Any

    @classmethod
    def of(cls, X: Any, sample_weight: Any) -> Blocks:
        """The blocks of a ``dask.array``, or the partitions of a ``dask.dataframe``."""
        X = row_blocks(X)
        rows = _parts(X)
        lengths = None
        if is_frame(X):
            like = X._meta
        else:
            like = np.empty((0, X.shape[1]))
            lengths = None if np.isnan(X.chunks[0]).any() else tuple(map(int, X.chunks[0]))
        weights = _weights(sample_weight, X, lengths, len(rows))
        return cls(rows, weights, lengths, X.shape[1], like)

    def each(self, step: Callable[..., Any]) -> list[Any]:
        """``step(number, rows, weights)`` of every block."""
        pairs = zip(self.rows, self.weights, strict=True)
        return [step(number, rows, weights) for number, (rows, weights) in enumerate(pairs)]


def in_block(number: int, step: Callable[..., Any], *arguments: Any) -> Any:
    """Call a step in a task; what is wrong with the rows says in which block."""
    return located(f"block {number}", step, *arguments)


def located(place: str, step: Callable[..., Any], *arguments: Any) -> Any:
    """Call a step; what is wrong with the rows says where they are."""
    try:
        return step(*arguments)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error


def is_frame(X: Any) -> bool:
    """Whether this is a ``dask.dataframe``; nobody has one without its module."""
    frames = sys.modules.get("dask.dataframe")
    return frames is not None and isinstance(X, frames.DataFrame)


def row_blocks(X: Any) -> Any:
    """The collection, with all columns of a row in one block; an error where it is none."""
    imported()
    import dask.array as da

    if is_frame(X):
        return X
    if not isinstance(X, da.Array):
        raise TypeError(
            f"X must be a dask.array or a dask.dataframe, got {type(X).__name__}; data on one "
            "machine go to the estimator itself."
        )
    if X.ndim != 2 or np.isnan(X.shape[1]):
        raise ValueError(
            f"X must have rows and a known number of columns, got shape {X.shape}; "
            "X.compute_chunk_sizes() finds out what is not known."
        )
    if X.dtype.kind not in "fiubO":
        raise ValueError(f"X must hold real numbers, got dtype {X.dtype}.")
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def _parts(collection: Any) -> list[Any]:
    """The blocks as they are: Dask reads some partitions of Parquet files as one otherwise."""
    with imported().config.set({"optimization.tune.active": False}):
        return list(np.ravel(collection.to_delayed()))


def _weights(
    sample_weight: Any, X: Any, lengths: tuple[int, ...] | None, n_blocks: int
) -> list[Any]:
    """The sample weights of each block."""
    if sample_weight is None:
        return [None] * n_blocks
    if not imported().is_dask_collection(sample_weight):
        return _cut(sample_weight, X, lengths)
    if not isinstance(getattr(sample_weight, "ndim", None), int):
        raise TypeError(
            "sample_weight must be a dask.array, a series of a dask.dataframe or an array, got "
            f"{type(sample_weight).__name__}; dask.array.from_delayed makes an array of one."
        )
    if sample_weight.ndim != 1:
        raise ValueError(
            f"sample_weight must have one number a row, got {sample_weight.ndim} dimensions."
        )
    if lengths is not None and hasattr(sample_weight, "chunks"):
        sample_weight = _aligned(sample_weight, lengths)
    parts = _parts(sample_weight)
    if len(parts) != n_blocks:
        raise ValueError(
            f"sample_weight has {len(parts)} blocks, but X has {n_blocks}; take both from the same "
            f"collection, or make their lengths known: {_with_lengths(X)}."
        )
    return parts


def _aligned(sample_weight: Any, lengths: tuple[int, ...]) -> Any:
    """A ``dask.array`` cut where the rows are."""
    if np.isnan(sample_weight.shape[0]):
        return sample_weight
    if sample_weight.shape[0] != sum(lengths):
        raise ValueError(
            f"sample_weight must have one number a row, shape ({sum(lengths)},), "
            f"got shape {sample_weight.shape}."
        )
    return sample_weight.rechunk((lengths,))


def _with_lengths(X: Any) -> str:
    """The call after which the lengths of the blocks are known."""
    return "X.to_dask_array(lengths=True)" if is_frame(X) else "X.compute_chunk_sizes()"


def _cut(sample_weight: Any, X: Any, lengths: tuple[int, ...] | None) -> list[Any]:
    """Numbers that are here already."""
    if lengths is None:
        raise ValueError(
            "sample_weight is not a Dask collection, and the lengths of the blocks are not known; "
            f"give a dask.array or series with the blocks of X, or call {_with_lengths(X)}."
        )
    weights = check.sample_weights(sample_weight, sum(lengths))
    return np.split(weights, np.cumsum(lengths)[:-1])

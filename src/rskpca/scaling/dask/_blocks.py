"""Blocks of rows in Dask collections, and the tasks that process them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import ismethod
from typing import Any
from uuid import uuid4

import numpy as np

from ... import _validation as check
from ..._format import import_optional

# Number of covers merged per task. Each level of the tree adds at most epsilon to the radius.
FAN = 8

POLL = 1.0  # seconds between checks for workers


def import_dask() -> Any:
    """Import Dask, or raise an error with installation instructions."""
    return import_optional("scaling.dask", "Dask", "dask", module="dask")


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks of rows and sample weights that are not computed yet.

    ``lengths`` contains the number of rows in each block, or is None if these are unknown.
    ``like`` is an empty frame or array with the same feature names.
    """

    rows: list[Any]
    weights: list[Any]
    lengths: tuple[int, ...] | None
    n_features: int
    like: Any

    @classmethod
    def of(cls, X: Any, sample_weight: Any) -> Blocks:
        """Return the blocks of a ``dask.array``, or the partitions of a ``dask.dataframe``."""
        X = row_blocks(X)
        rows, lengths = _parts(X), None
        if is_frame(X):
            like = X._meta
        else:
            like = np.empty((0, X.shape[1]))
            lengths = None if np.isnan(X.chunks[0]).any() else tuple(map(int, X.chunks[0]))
        weights = _weights(sample_weight, X, lengths, len(rows))
        return cls(rows, weights, lengths, X.shape[1], like)


def is_frame(X: Any) -> bool:
    """Return True if X is a ``dask.dataframe``."""
    frames = sys.modules.get("dask.dataframe")  # already imported if X is a data frame
    return frames is not None and isinstance(X, frames.DataFrame)


def row_blocks(X: Any) -> Any:
    """Validate a collection, and return it rechunked so that each block has all columns."""
    import_dask()
    import dask.array as da

    if is_frame(X):
        return X
    if not isinstance(X, da.Array):
        raise TypeError(
            f"X must be a dask.array or a dask.dataframe, got {type(X).__name__}; for data in "
            "memory, call the estimator's own methods."
        )
    if X.ndim != 2 or np.isnan(X.shape[1]):
        raise ValueError(
            f"X must have two dimensions and a known number of columns, got shape {X.shape}; "
            "call X.compute_chunk_sizes() to compute unknown sizes."
        )
    if X.dtype.kind not in "fiubO":
        raise ValueError(f"X must contain real numbers, got dtype {X.dtype}.")
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def _parts(collection: Any) -> list[Any]:
    """Return the blocks unchanged; by default, Dask may fuse partitions of Parquet files."""
    with import_dask().config.set({"optimization.tune.active": False}):
        return list(np.ravel(collection.to_delayed()))


def _weights(
    sample_weight: Any, X: Any, lengths: tuple[int, ...] | None, n_blocks: int
) -> list[Any]:
    """Return the sample weights for each block."""
    if sample_weight is None:
        return [None] * n_blocks
    if not import_dask().is_dask_collection(sample_weight):
        return _split(sample_weight, X, lengths)
    import dask.array as da

    frames = sys.modules.get("dask.dataframe")
    kinds: Any = da.Array if frames is None else (da.Array, frames.DataFrame, frames.Series)
    if not isinstance(sample_weight, kinds):
        raise TypeError(
            "sample_weight must be a dask.array, a dask.dataframe series or an array, got "
            f"{type(sample_weight).__name__}; convert a Delayed with dask.array.from_delayed."
        )
    if sample_weight.ndim != 1:
        raise ValueError(
            f"sample_weight must have one number per row, got {sample_weight.ndim} dimensions."
        )
    if lengths is not None and isinstance(sample_weight, da.Array):
        sample_weight = _align(sample_weight, lengths)
    parts = _parts(sample_weight)
    if len(parts) != n_blocks:
        raise ValueError(
            f"sample_weight has {len(parts)} blocks, but X has {n_blocks}; take both from the same "
            f"collection, or compute the block lengths with {_with_lengths(X)}."
        )
    return parts


def _align(sample_weight: Any, lengths: tuple[int, ...]) -> Any:
    """Rechunk a ``dask.array`` of weights to match the blocks of rows."""
    if np.isnan(sample_weight.shape[0]):
        return sample_weight
    if sample_weight.shape[0] != sum(lengths):
        raise ValueError(
            f"sample_weight must have one number per row, shape ({sum(lengths)},), "
            f"got shape {sample_weight.shape}."
        )
    return sample_weight.rechunk((lengths,))


def _with_lengths(X: Any) -> str:
    """Return the expression that computes the block lengths."""
    return "X.to_dask_array(lengths=True)" if is_frame(X) else "X.compute_chunk_sizes()"


def _split(sample_weight: Any, X: Any, lengths: tuple[int, ...] | None) -> list[Any]:
    """Split in-memory weights into one array per block."""
    if lengths is None:
        raise ValueError(
            "sample_weight is not a Dask collection, and the block lengths are unknown; pass a "
            f"dask.array or series with the same blocks as X, or call {_with_lengths(X)}."
        )
    weights = check.sample_weights(sample_weight, sum(lengths))
    return np.split(weights, np.cumsum(lengths)[:-1])


# ------------------------------------------------------------------ tasks


def in_block(number: int, step: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a task, adding the block number to errors about the rows."""
    return with_location(f"block {number}", step, *arguments)


def with_location(place: str, step: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function, adding the location to errors about the rows."""
    try:
        return step(*arguments)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error


class Stages:
    """Create the tasks for a fit to blocks, named by stage for the dashboard, and compute them.

    All tasks are pure, and the reduction trees do not depend on the workers. ``patience`` is the
    number of seconds to wait while a cluster has no workers.
    """

    def __init__(self, blocks: Blocks, patience: float) -> None:
        self.blocks, self.patience = blocks, patience
        self._run = uuid4().hex
        self._n_keys = 0

    def constant(self, name: str, value: Any) -> Any:
        """Return a node for a shared value, which is sent to each worker only once."""
        return import_dask().delayed(value, name=self._key(name), traverse=False)

    def task(self, stage: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return a task that calls a function."""
        call = import_dask().delayed(function, pure=False, traverse=False)
        return call(*arguments, dask_key_name=self._key(stage))

    def each(self, stage: str, step: Callable[..., Any], *shared: Any) -> list[Any]:
        """Return one task per block, which calls a step with shared arguments and the block."""
        pairs = enumerate(zip(self.blocks.rows, self.blocks.weights, strict=True))
        return [self.task(stage, in_block, number, step, *shared, *pair) for number, pair in pairs]

    def tree(self, stage: str, merge: Callable[[list[Any]], Any], tasks: Sequence[Any]) -> Any:
        """Return a task that merges adjacent tasks in a tree, preserving their order."""
        while len(tasks) > 1:
            groups = [list(tasks[i : i + FAN]) for i in range(0, len(tasks), FAN)]
            tasks = [self.task(stage, merge, group) for group in groups]
        return tasks[0]

    def compute(self, task: Any) -> Any:
        """Compute a task with the current Dask scheduler."""
        client = _client()
        if client is None:
            return task.compute()
        future = client.compute(task)
        try:
            return self._wait(client, future)
        finally:
            future.cancel()

    def _wait(self, client: Any, future: Any) -> Any:
        """Return the result, or raise an error if there have been no workers for too long."""
        without_workers = None
        while True:
            try:
                return future.result(timeout=POLL)
            except TimeoutError:
                if future.status == "error":  # the task failed, perhaps with a TimeoutError
                    return future.result()
            if client.nthreads():
                without_workers = None
                continue
            without_workers = without_workers or time.monotonic()
            if time.monotonic() - without_workers > self.patience:
                raise RuntimeError(
                    f"the cluster has had no workers for {self.patience:g} seconds; start workers "
                    "and fit again, or increase patience if they take longer to start. The "
                    "estimator was not modified."
                )

    def _key(self, stage: str) -> str:
        self._n_keys += 1
        return f"rskpca-{stage}-{self._run}-{self._n_keys}"


def _client() -> Any:
    """Return the client of the current cluster, or None for local schedulers."""
    from dask.base import get_scheduler

    scheduler, distributed = get_scheduler(), sys.modules.get("distributed")
    if distributed is None or not ismethod(scheduler):
        return None
    client = scheduler.__self__
    return client if isinstance(client, distributed.Client) else None

"""A seeded sample over blocks, the same as on one machine: what the median is taken from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ... import _validation as check
from ..._core.sampling import median_sample_size, sample_rows
from ._blocks import Blocks, in_block
from ._stages import Stages

Array = NDArray[np.floating]


class Size(NamedTuple):
    """Rows of positive weight, what they sum to, and whether all weights are whole."""

    n_rows: int
    total: float
    whole: bool


class Rows(NamedTuple):
    """Some rows of positive weight, and their weights; None for ones."""

    rows: Array
    weights: Array | None


def first_row(blocks: Blocks, stages: Stages) -> Array:
    """The first row of positive weight."""
    tasks = blocks.each(lambda *block: _task(stages, blocks, _first, *block))
    asked = 0
    while asked < len(tasks):  # as a rule the first block has one: do not read many others
        batch = tasks[asked : 2 * asked + 1]
        row = stages.answer(stages.task("sample", _first_found, batch))
        if row is not None:
            return row
        asked += len(batch)
    raise ValueError("X has no row of positive weight: all blocks are empty, or weighted 0.")


def sample(blocks: Blocks, random_state: Any, stages: Stages) -> Rows:
    """All rows where they are few, else as many as the median needs, chosen by their weights."""
    sizes = _sizes(blocks, stages)
    wanted = median_sample_size(blocks.n_features)
    if sum(size.n_rows for size in sizes) <= wanted:
        places: list[Any] = [None] * len(sizes)
    else:
        places = _places(sizes, wanted, check_random_state(random_state))
    tasks = blocks.each(
        lambda number, *block: _task(stages, blocks, _picked, number, *block, places[number])
    )
    needed = [task for task, some in zip(tasks, places, strict=True) if some is None or len(some)]
    return stages.answer(stages.tree("sample", _concatenated, needed))


def _task(stages: Stages, blocks: Blocks, step: Any, number: int, *arguments: Any) -> Any:
    return stages.task("sample", in_block, number, step, blocks.n_features, *arguments)


def _sizes(blocks: Blocks, stages: Stages) -> list[Size]:
    if blocks.lengths is not None and blocks.weights[0] is None:
        return [Size(length, float(length), True) for length in blocks.lengths]
    tasks = blocks.each(lambda *block: _task(stages, blocks, _size, *block))
    return stages.answer(stages.task("sample", list, tasks))


def _places(sizes: list[Size], wanted: int, rng: np.random.RandomState) -> list[Array]:
    """Places among the summed weights, cut at the blocks.

    Whole weights: as on one machine. Others: one place at random in each of as many equal parts.
    """
    ends = np.cumsum([size.total for size in sizes])
    if all(size.whole for size in sizes):
        places = sample_rows(int(ends[-1]), None, wanted, rng).astype(np.float64)
    else:
        places = (np.arange(wanted) + rng.random_sample(wanted)) * (ends[-1] / wanted)
    cuts = np.searchsorted(places, ends[:-1])
    starts = np.append(0.0, ends[:-1])
    return [part - start for part, start in zip(np.split(places, cuts), starts, strict=True)]


def _counted(n_features: int, X: Any, sample_weight: Any) -> Rows:
    """The rows of a block that have weight."""
    rows = check.block_rows(X, n_features)
    if sample_weight is None:
        return Rows(rows, None)
    weights = check.sample_weights(sample_weight, len(rows), all_zero=True)
    return Rows(rows[weights > 0], weights[weights > 0])


def _first(n_features: int, X: Any, sample_weight: Any) -> Array | None:
    rows, _ = _counted(n_features, X, sample_weight)
    return rows[0].copy() if len(rows) else None


def _first_found(rows: list[Array | None]) -> Array | None:
    return next((row for row in rows if row is not None), None)


def _size(n_features: int, X: Any, sample_weight: Any) -> Size:
    rows, weights = _counted(n_features, X, sample_weight)
    if weights is None:
        return Size(len(rows), float(len(rows)), True)
    return Size(len(rows), float(weights.sum()), bool((weights == np.floor(weights)).all()))


def _picked(n_features: int, X: Any, sample_weight: Any, places: Array | None) -> Rows:
    """The rows at these places of a block; None for all of them."""
    rows, weights = _counted(n_features, X, sample_weight)
    if places is None:
        return Rows(rows, weights)
    ends = np.arange(1, len(rows) + 1) if weights is None else np.cumsum(weights)
    found = np.searchsorted(ends, places, side="right")
    return Rows(rows[np.minimum(found, len(rows) - 1)], None)


def _concatenated(parts: list[Rows]) -> Rows:
    weights = [part.weights for part in parts if part.weights is not None]
    return Rows(
        np.concatenate([part.rows for part in parts]), np.concatenate(weights) if weights else None
    )

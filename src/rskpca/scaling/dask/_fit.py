"""Fit on a cluster: cover the blocks, merge the covers, count the rows, and join the counts."""

from __future__ import annotations

from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from ... import _validation as check
from ..._core.sampling import median_sample_size, sample_rows
from ..._validation import Rows
from ...density.blocks import ShadowBlocks
from ...embedding import KernelPCA, NystromKernelPCA, landmark_blocks
from ...embedding.blocks import BlockFit, median_seeds
from ...embedding.landmark_blocks import (
    LandmarkBlocks,
    LandmarkFit,
    LandmarkSums,
    chooses_landmarks,
    n_candidates,
)
from ...reduced_set import ReducedSet
from ...spectral import Moments
from ._blocks import Blocks, Stages, in_block

Array = NDArray[np.floating]


def fit(
    estimator: Any,
    X: Any,
    *,
    sample_weight: Any = None,
    one_pass: bool = False,
    patience: float = 60.0,
) -> Any:
    """Fit an estimator to the rows of a Dask collection.

    Each block is covered separately, and a tree of tasks merges the covers. Then each row is
    counted toward the first merged center within epsilon, and the few rows without such a center
    are covered together. As on one machine, every row is therefore within epsilon of its center.
    The result depends on the blocks and their order, but not on the workers.

    The landmarks of a ``KernelPCA`` or ``NystromKernelPCA`` are chosen from a sample of the rows on
    one machine; then the sums of each block are computed, and a tree of tasks adds them.

    Parameters
    ----------
    estimator : estimator
        A ``KernelPCA``, a ``NystromKernelPCA``, a ``ShadowDensity``, an embedding based on one, or
        a ``KernelPCANovelty``. It is fitted in place, and unchanged if the fit fails.
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        The rows, which are read twice, or once for landmark models; blocks may be empty. Computing
        a median bandwidth reads the sampled blocks once more, and so does choosing landmarks from
        the rows; both read all blocks if the block lengths are unknown or the rows have weights.
        ``refine`` reads all blocks once more. Persist X if it fits into the workers' memory.
    sample_weight : dask array or series, or array-like of shape (n_samples,), default=None
        Sample weights.
    one_pass : bool, default=False
        If True, skip the counting pass. Each level of the tree may then add epsilon to the radius,
        which the certificate takes into account. Landmark models do not need this pass.
    patience : float, default=60.0
        Seconds to wait for workers before raising an error if the cluster has none.

    Returns
    -------
    estimator
        The fitted estimator, without ``labels_`` and without references to Dask. The offset of
        a ``KernelPCANovelty`` is computed as after ``partial_fit``.

    Examples
    --------
    >>> import dask.array as da
    >>> from rskpca import ReducedSetKernelPCA
    >>> from rskpca.scaling.dask import fit, transform
    >>> X = da.random.default_rng(0).normal(size=(10_000, 3), chunks=(2_500, 3))
    >>> model = fit(ReducedSetKernelPCA(2, ell=2.0), X)
    >>> model.reduced_set_.n_samples
    10000.0
    >>> transform(model, X)
    dask.array<..., shape=(10000, 2), dtype=float64, chunksize=(2500, 2), chunktype=numpy.ndarray>
    """
    if isinstance(estimator, KernelPCA):
        landmarks = estimator._as_landmark_model(Blocks.of(X, sample_weight).n_features)
        options: Any = {"one_pass": one_pass, "patience": patience}
        return estimator._adopt(fit(landmarks, X, sample_weight=sample_weight, **options))
    check.boolean("one_pass", one_pass)
    patience = check.positive_number("patience", patience, infinite=True)
    on_landmarks = isinstance(estimator, NystromKernelPCA)
    seeds = landmark_blocks.median_seeds(estimator) if on_landmarks else median_seeds(estimator)
    blocks = Blocks.of(X, sample_weight)
    validate_data(clone(estimator), blocks.like, skip_check_array=True)  # checks feature names
    stages = Stages(blocks, patience)
    sampler = Sampler(stages)
    if on_landmarks:
        return _fit_landmarks(estimator, seeds, sampler)
    some = sampler.sample_median(seeds[0]) if seeds else sampler.first_row()
    block_fit = BlockFit.of(estimator, *some)
    reduced_set = _merge_covers(block_fit.shadow, stages)
    if not one_pass:
        reduced_set = _count_rows(block_fit.shadow, reduced_set, stages)
    moments = block_fit.moments(reduced_set)
    if moments is not None:
        moments = _add_moments(block_fit.shadow, moments, stages)
    return block_fit.fitted(reduced_set, moments, like=blocks.like, joined=not one_pass)


def _fit_landmarks(estimator: NystromKernelPCA, seeds: list[Any], sampler: Sampler) -> Any:
    """Choose landmarks from a sample, and add up the sums of all blocks."""
    blocks, fixed = sampler.blocks, None
    if seeds:
        fixed = estimator._fix_bandwidth(_as_rows(sampler.sample_median(seeds[0])))
    if chooses_landmarks(estimator):
        wanted = n_candidates(estimator, blocks.n_features)
        some = sampler.sample(wanted, estimator.random_state)
    else:
        some = sampler.first_row()
    found: LandmarkFit | None = LandmarkFit.of(estimator, *some, fixed)
    while found is not None:
        landmark_fit = found
        sums = _add_sums(landmark_fit.blocks(), sampler.stages)
        model = landmark_fit.solve(sums)
        found = landmark_fit.improve(model)
    return landmark_fit.fitted(sums, model, like=blocks.like)


def _add_sums(shared: LandmarkBlocks, stages: Stages) -> LandmarkSums:
    """Return the sums over the rows of all blocks."""
    landmarks = stages.constant("landmarks", shared)
    sums = stages.each("sums", LandmarkBlocks.summarize, landmarks)
    return stages.compute(stages.tree("sums", _merge, sums))


def _merge_covers(shadow: ShadowBlocks, stages: Stages) -> ReducedSet:
    """Cover each block, and merge the covers."""
    shared = stages.constant("shadow", shadow)
    covers = stages.each("cover", ShadowBlocks.cover, shared)
    return stages.compute(stages.tree("merge", shadow.merge, covers))


def _count_rows(shadow: ShadowBlocks, merged: ReducedSet, stages: Stages) -> ReducedSet:
    """Assign every row to a center within the radius, and return the counts as a reduced set."""
    shared = stages.constant("shadow", shadow)
    centers = stages.constant("centers", merged.centers)
    counts = stages.each("count", ShadowBlocks.count, shared, centers)
    total = stages.tree("join", _merge, counts)
    whole = stages.constant("merged", merged)
    return stages.compute(stages.task("join", ShadowBlocks.join, shared, whole, total))


def _add_moments(shadow: ShadowBlocks, moments: Moments, stages: Stages) -> Moments:
    """Return the moments of all rows."""
    shared, zero = stages.constant("shadow", shadow), stages.constant("moments", moments)
    sums = stages.each("refine", _add, shared, zero)
    return stages.compute(stages.tree("refine", _merge, sums))


def _merge(summaries: list[Any]) -> Any:
    """Merge summaries in order, ignoring empty blocks, whose summary may be None."""
    found = [summary for summary in summaries if summary is not None]
    return reduce(lambda a, b: a.merge(b), found) if found else None


def _add(shadow: ShadowBlocks, moments: Moments, X: Any, sample_weight: Any) -> Moments:
    return moments.add(*shadow.checked(X, sample_weight))


# ------------------------------------------------------------------ samples


_NO_ROWS = "X has no row with positive weight; all blocks are empty or have zero weight."


class BlockSize(NamedTuple):
    """Number and total weight of rows with positive weight; whether all weights are integers."""

    n_rows: int
    total: float
    whole: bool


class WeightedRows(NamedTuple):
    """Rows with positive weight, and their weights (None if all weights are 1)."""

    rows: Array
    weights: Array | None


class Sampler:
    """Draw samples from blocks, whose sizes are determined only once."""

    def __init__(self, stages: Stages) -> None:
        self.blocks, self.stages = stages.blocks, stages

    def first_row(self) -> WeightedRows:
        """Return the first row with positive weight."""
        tasks = self._each(_first_of_block)
        n_read = 0
        while n_read < len(tasks):  # usually found in the first block, so start with few blocks
            batch = tasks[n_read : 2 * n_read + 1]
            row = self.stages.compute(self.stages.task("sample", _first_found, batch))
            if row is not None:
                return WeightedRows(row[None], None)
            n_read += len(batch)
        raise ValueError(_NO_ROWS)

    def sample_median(self, random_state: Any) -> WeightedRows:
        """Return the sample used to compute the median distance.

        Without weights or with integer weights, it is the sample that a single machine would draw.
        """
        return self.sample(median_sample_size(self.blocks.n_features), random_state)

    def sample(self, wanted: int, random_state: Any) -> WeightedRows:
        """Return a uniform sample of the rows, or all rows if there are only a few."""
        n_rows = sum(size.n_rows for size in self.sizes)
        if n_rows == 0:
            raise ValueError(_NO_ROWS)
        if n_rows <= wanted:
            positions: list[Any] = [None] * len(self.sizes)
        else:
            positions = _positions(self.sizes, wanted, check_random_state(random_state))
        blocks, task = self.blocks, self.stages.task
        parts = enumerate(zip(blocks.rows, blocks.weights, positions, strict=True))
        tasks = [
            task("sample", in_block, number, _select, blocks.n_features, rows, weights, some)
            for number, (rows, weights, some) in parts
            if some is None or len(some)
        ]
        return self.stages.compute(self.stages.tree("sample", _concatenate, tasks))

    @cached_property
    def sizes(self) -> list[BlockSize]:
        """Return the sizes of the blocks."""
        lengths, weights = self.blocks.lengths, self.blocks.weights
        if lengths is not None and weights[0] is None:
            return [BlockSize(length, float(length), True) for length in lengths]
        return self.stages.compute(self.stages.task("sample", list, self._each(_size_of_block)))

    def _each(self, step: Any) -> list[Any]:
        return self.stages.each("sample", step, self.blocks.n_features)


def _positions(sizes: list[BlockSize], wanted: int, rng: np.random.RandomState) -> list[Array]:
    """Return sampled positions in the cumulative weight, relative to the start of each block.

    Integer weights yield the same sample as on one machine. Otherwise, the total weight is divided
    into ``wanted`` equal intervals, with one random position in each.
    """
    ends = np.cumsum([size.total for size in sizes])
    if all(size.whole for size in sizes):
        positions = sample_rows(int(ends[-1]), None, wanted, rng).astype(np.float64)
    else:
        positions = (np.arange(wanted) + rng.random_sample(wanted)) * (ends[-1] / wanted)
    cuts = np.searchsorted(positions, ends[:-1])
    starts = np.append(0.0, ends[:-1])
    return [part - start for part, start in zip(np.split(positions, cuts), starts, strict=True)]


def _as_rows(some: WeightedRows) -> Rows:
    rows, weights = some
    return Rows(rows, np.ones(len(rows)) if weights is None else weights, weights is not None)


def _weighted_rows(n_features: int, X: Any, sample_weight: Any) -> WeightedRows:
    """Return the rows of a block with positive weight."""
    rows = check.block_rows(X, n_features)
    if sample_weight is None:
        return WeightedRows(rows, None)
    weights = check.sample_weights(sample_weight, len(rows), all_zero=True)
    return WeightedRows(rows[weights > 0], weights[weights > 0])


def _first_of_block(n_features: int, X: Any, sample_weight: Any) -> Array | None:
    rows, _ = _weighted_rows(n_features, X, sample_weight)
    return rows[0].copy() if len(rows) else None


def _first_found(rows: list[Array | None]) -> Array | None:
    return next((row for row in rows if row is not None), None)


def _size_of_block(n_features: int, X: Any, sample_weight: Any) -> BlockSize:
    rows, weights = _weighted_rows(n_features, X, sample_weight)
    if weights is None:
        return BlockSize(len(rows), float(len(rows)), True)
    return BlockSize(len(rows), float(weights.sum()), bool((weights == np.floor(weights)).all()))


def _select(n_features: int, X: Any, sample_weight: Any, positions: Array | None) -> WeightedRows:
    """Return the rows of a block at the given positions, or all rows if positions is None."""
    rows, weights = _weighted_rows(n_features, X, sample_weight)
    if positions is None:
        return WeightedRows(rows, weights)
    ends = np.arange(1, len(rows) + 1) if weights is None else np.cumsum(weights)
    found = np.searchsorted(ends, positions, side="right")
    return WeightedRows(rows[np.minimum(found, len(rows) - 1)], None)


def _concatenate(parts: list[WeightedRows]) -> WeightedRows:
    rows = np.concatenate([part.rows for part in parts])
    weights = [part.weights for part in parts if part.weights is not None]
    return WeightedRows(rows, np.concatenate(weights) if weights else None)

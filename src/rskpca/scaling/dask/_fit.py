"""Fit on a cluster: cover the blocks, merge, count the blocks, join."""

from __future__ import annotations

from functools import reduce
from typing import Any

from sklearn.base import clone
from sklearn.utils.validation import validate_data

from ... import _validation as check
from ...density.blocks import ShadowBlocks
from ...embedding.blocks import BlockFit, median_seeds
from ...reduced_set import ReducedSet
from ...spectral import Moments
from ._blocks import Blocks, in_block
from ._sample import Rows, first_row, sample
from ._stages import Stages


def fit(
    estimator: Any,
    X: Any,
    *,
    sample_weight: Any = None,
    one_pass: bool = False,
    patience: float = 60.0,
) -> Any:
    """Fit an estimator to the rows of a Dask collection.

    Each block gives a local cover, and a tree merges them. Then each row is counted at the
    first merged center within epsilon; the few rows without one are covered together. So every
    row is within epsilon of its center, as on one machine. The result depends on the blocks and
    their order, not on the workers.

    Parameters
    ----------
    estimator : ShadowDensity, an embedding on one, or KernelPCANovelty
        Fitted in place; not changed where anything fails.
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        Read two times. A median bandwidth reads the blocks that its sample is in once more,
        and all of them once more where lengths are not known or rows have weights; so does
        ``refine``. Persist it where it fits into the memory of the workers. Blocks may be empty.
    sample_weight : dask array or series, or array-like of shape (n_samples,), default=None
        How often each row counts.
    one_pass : bool, default=False
        True leaves out the counting: each level of the tree can add epsilon to the radius, which
        the certificate reads from ``reduced_set_``.
    patience : float, default=60.0
        Seconds to wait while the cluster has no worker, before an error.

    Returns
    -------
    estimator
        The estimator, fitted: nothing in it is of Dask. It has no ``labels_``. The offset of a
        ``KernelPCANovelty`` is that of a stream.

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
    check.boolean("one_pass", one_pass)
    stages = Stages(check.positive_number("patience", patience, infinite=True))
    seeds = median_seeds(estimator)
    blocks = Blocks.of(X, sample_weight)
    validate_data(clone(estimator), blocks.like, skip_check_array=True)  # the names of features
    origin = first_row(blocks, stages)
    some = sample(blocks, seeds[0], stages) if seeds else Rows(origin[None], None)
    block_fit = BlockFit.of(estimator, *some, origin=origin)
    reduced_set = _merged(block_fit.shadow, blocks, stages)
    if not one_pass:
        reduced_set = _joined(block_fit.shadow, reduced_set, blocks, stages)
    moments = block_fit.moments(reduced_set)
    if moments is not None:
        moments = _summed(block_fit.shadow, moments, blocks, stages)
    return block_fit.fitted(reduced_set, moments, like=blocks.like, joined=not one_pass)


def _merged(shadow: ShadowBlocks, blocks: Blocks, stages: Stages) -> ReducedSet:
    """Covers of the blocks, merged."""
    shared = stages.constant("shadow", shadow)
    covers = blocks.each(
        lambda number, *block: stages.task(
            "cover", in_block, number, ShadowBlocks.cover, shared, *block
        )
    )
    return stages.answer(stages.tree("merge", _merge_covers, covers))


def _joined(shadow: ShadowBlocks, merged: ReducedSet, blocks: Blocks, stages: Stages) -> ReducedSet:
    """Every row counted at a center within the radius."""
    shared = stages.constant("shadow", shadow)
    centers = stages.constant("centers", merged.centers)
    counts = blocks.each(
        lambda number, *block: stages.task(
            "count", in_block, number, ShadowBlocks.count, shared, centers, *block
        )
    )
    total = stages.tree("join", _merge, counts)
    whole = stages.constant("merged", merged)
    return stages.answer(stages.task("join", ShadowBlocks.join, shared, whole, total))


def _summed(shadow: ShadowBlocks, moments: Moments, blocks: Blocks, stages: Stages) -> Moments:
    """Moments of all rows."""
    shared, nothing = stages.constant("shadow", shadow), stages.constant("moments", moments)
    sums = blocks.each(
        lambda number, *block: stages.task(
            "refine", in_block, number, _add, shared, nothing, *block
        )
    )
    return stages.answer(stages.tree("refine", _merge, sums))


def _merge_covers(covers: list[ReducedSet | None]) -> ReducedSet | None:
    """In their order; blocks without rows have none."""
    found = [cover for cover in covers if cover is not None]
    return reduce(ReducedSet.merge, found) if found else None


def _merge(parts: list[Any]) -> Any:
    return reduce(lambda a, b: a.merge(b), parts)


def _add(shadow: ShadowBlocks, moments: Moments, X: Any, sample_weight: Any) -> Moments:
    return moments.add(*shadow.checked(X, sample_weight))

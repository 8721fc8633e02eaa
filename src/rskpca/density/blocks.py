"""Compute the shadow density estimate in blocks, for data too large for one machine.

The covers of the blocks are merged, which enlarges the radius. Assigning the rows to the merged
centers again, block by block, restores the original radius: each row joins the first center within
the radius, and the few rows that no center covers are covered together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .. import _validation as check
from .._core.cover import Cover
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet, Statistics
from ..row_sample import RowSample, block_salt
from ._base import Array
from ._counting import (
    Report,
    count_rows,
    cover_and_count,
    extend_set,
    open_cover,
    too_many,
    watch_centers,
)
from .shadow import ShadowDensity
from .tolerance import Goal


@dataclass(frozen=True, eq=False)
class Counts:
    """Statistics of the rows in one or more blocks for given centers, and the uncovered rows.

    Attributes
    ----------
    statistics : Statistics
        Sums over the rows of each center.
    rows : ndarray of shape (n_left, n_features)
        Rows farther than the radius from every center, in the order of the data.
    weights : ndarray of shape (n_left,)
        Weights of these rows.
    sample : RowSample or None
        A sample of all rows; the label of a row that no center covers is the number of centers.
    """

    statistics: Statistics
    rows: Array
    weights: Array
    sample: RowSample | None = None

    def merge(self, other: Counts) -> Counts:
        """Return the combined counts; ``other`` is for the same centers but later blocks."""
        same = np.arange(len(self.statistics) + 1)
        return Counts(
            self.statistics.merge(other.statistics),
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.weights, other.weights]),
            None if self.sample is None else self.sample.merge(other.sample, same),
        )


@dataclass(frozen=True, eq=False)
class ShadowBlocks:
    """Settings that all blocks share, so that their covers and counts can be merged.

    Attributes
    ----------
    kernel : RadialKernel
        The kernel with its bandwidth resolved.
    radius : float
        The radius epsilon.
    n_features : int
        Number of features, d.
    sample_size : int
        Number of rows in the row sample.
    seed : int
        Seed of the row sample.
    report : callable or None
        Function of the numbers of centers and rows. It is called if most rows become centers, and
        may raise an error.
    """

    kernel: RadialKernel
    radius: float
    n_features: int
    sample_size: int
    seed: int
    report: Report | None = None

    @classmethod
    def of(cls, density: ShadowDensity, kernel: RadialKernel, X: Array) -> ShadowBlocks:
        """Return the settings for a density; X is a sample of the rows."""
        goal = check_goal(density)
        radius = goal.radius(kernel, X, np.ones(len(X)), None)
        seed = check_random_state(density.random_state).randint(2**31 - 1)
        return cls(kernel, radius, X.shape[1], density.sample_size, int(seed))

    def checked(self, X: Any, sample_weight: Any = None) -> tuple[Array, Array]:
        """Validate a block and return the rows with positive weight, and their weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of a block, which may be empty.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        rows : ndarray
            float32 or float64 values.
        weights : ndarray
            Positive weights.
        """
        return checked_block(self.n_features, X, sample_weight)

    def cover(self, X: Any, sample_weight: Any = None) -> ReducedSet | None:
        """Return the reduced set of one block (Algorithm 2).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        ReducedSet or None
            The reduced set, which can be merged with those of other blocks, or None if the block
            has no rows with positive weight.
        """
        rows, weights = self.checked(X, sample_weight)
        if len(rows) == 0:
            return None
        sample, cover = self._empty_sample(rows), open_cover(self.radius, rows[:0])
        progress = None
        if self.report is not None:
            progress = watch_centers(self.report, None, cover, None)
        return extend_set(None, cover, rows, weights, sample, progress)[0]

    def merge(self, covers: Sequence[ReducedSet | None]) -> ReducedSet | None:
        """Merge the reduced sets of blocks in order.

        Parameters
        ----------
        covers : sequence of ReducedSet or None
            The results of :meth:`cover`, or of earlier merges; None is ignored.

        Returns
        -------
        ReducedSet or None
            The merged set, or None if there is none.
        """
        merged: ReducedSet | None = None
        for cover in (cover for cover in covers if cover is not None):
            merged = cover if merged is None else merged.merge(cover)
            if self.report is not None:
                n_centers, n_rows = merged.n_centers, count_rows(merged)
                if too_many(n_centers, n_rows):
                    self.report(n_centers, n_rows)
        return merged

    def _empty_sample(self, rows: Array) -> RowSample | None:
        """Return an empty sample, whose hash depends on the first and last rows of a block."""
        return RowSample.empty(rows, self.sample_size, block_salt(rows, self.seed))

    def count(self, centers: Array, X: Any, sample_weight: Any = None) -> Counts:
        """Count the rows of one block, assigning each to the first center within the radius.

        Parameters
        ----------
        centers : ndarray of shape (n_centers, n_features)
            The centers of the merged covers.
        X : array-like of shape (n_samples, n_features)
            Rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        Counts
            The counts of this block, which can be merged with those of other blocks.
        """
        rows, weights = self.checked(X, sample_weight)
        labels, squared = Cover(self.radius, centers).assign(rows)
        near, left = labels >= 0, labels < 0
        empty = Statistics.zeros(len(centers))
        statistics = empty.add(labels[near], squared[near], weights[near])
        sample = self._empty_sample(rows)
        if sample is not None:
            sample = sample.add(rows, weights, np.where(near, labels, len(centers)))
        return Counts(statistics, rows[left], weights[left], sample)

    def join(self, merged: ReducedSet, counts: Counts) -> ReducedSet:
        """Return the reduced set of all blocks, with every row within the radius of its center.

        Parameters
        ----------
        merged : ReducedSet
            The merged covers of all blocks.
        counts : Counts
            The counts of all rows for these centers.

        Returns
        -------
        ReducedSet
            The merged centers in their order, followed by those opened for uncovered rows.
        """
        cover = Cover(self.radius, merged.centers)
        statistics, _ = cover_and_count(cover, counts.statistics, counts.rows, counts.weights)
        _check_same_data(merged.n_samples, float(statistics.weights.sum()))
        centers = cover.centers.astype(np.result_type(merged.centers, counts.rows))
        sample = counts.sample
        if sample is not None:  # now every row has a center
            sample = replace(sample, labels=cover.assign(sample.rows)[0])
        return ReducedSet.of(centers, statistics, self.radius, self.radius, sample)


def checked_block(n_features: int, X: Any, sample_weight: Any) -> tuple[Array, Array]:
    """Validate a block and return the rows with positive weight, and their weights."""
    rows = check.block_rows(X, n_features)
    weights = check.sample_weights(sample_weight, len(rows), all_zero=True)
    counted = weights > 0
    return (rows, weights) if counted.all() else (rows[counted], weights[counted])


def check_goal(density: ShadowDensity) -> Goal:
    """Check that a density can be fitted in blocks, and return the goal that fixes its radius."""
    check.whole_number("sample_size", density.sample_size)
    goal = Goal.checked(density.ell, density.tol, density.error)
    if goal.ell == "auto":
        raise ValueError(
            'ell="auto" requires all rows in memory, which is not possible when fitting in blocks; '
            "fit the density to a sample and use its ell_, or set only tol."
        )
    if goal.tol is None and np.isinf(float(goal.ell)):
        raise ValueError(
            "ell=inf keeps every row, which is not possible when fitting in blocks; use a number "
            "such as ell=4.0, or fit the rows on one machine."
        )
    if density.max_centers is not None:
        raise ValueError(
            f"max_centers={density.max_centers} is enforced row by row, which is not possible when "
            "fitting in blocks; omit it, and use a smaller ell to get fewer centers."
        )
    if density.warm_start:
        raise ValueError(
            "warm_start=True starts from the previous fit, which is not possible when fitting in "
            "blocks; omit it, or continue with partial_fit."
        )
    return goal


def _check_same_data(first: float, second: float) -> None:
    if not np.isclose(first, second, rtol=1e-9, atol=0):
        raise ValueError(
            f"the blocks had a total weight of {first:.16g} when they were covered, but "
            f"{second:.16g} when they were counted. Each block must contain the same rows every "
            "time: store the blocks, or seed the random number generator."
        )

"""The shadow density estimate of data in blocks, which no machine need hold together.

Covers of the blocks merge, at the price of a larger radius. Rows that are then counted at the
merged centers, a block at a time, bring the radius back: each goes to the first center within
it, and the few that none covers are covered together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _validation as check
from .._core.cover import Cover
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet, Statistics
from ..spectrum import Spectrum
from ._base import Array
from ._counting import cover_and_count, extend_set, open_cover
from .shadow import ShadowDensity
from .tolerance import Goal


@dataclass(frozen=True, eq=False)
class Counts:
    """What rows of some blocks add up to at given centers, and the rows that none covers.

    Attributes
    ----------
    statistics : Statistics
        Sums over the rows of each center.
    rows : ndarray of shape (n_left, n_features)
        Further than the radius from every center, in the order of the data.
    weights : ndarray of shape (n_left,)
        How often each counts.
    """

    statistics: Statistics
    rows: Array
    weights: Array

    def merge(self, other: Counts) -> Counts:
        """The counts of the blocks of both.

        Parameters
        ----------
        other : Counts
            At the same centers, of later blocks.

        Returns
        -------
        Counts
            New ones.
        """
        return Counts(
            self.statistics.merge(other.statistics),
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.weights, other.weights]),
        )


@dataclass(frozen=True, eq=False)
class ShadowBlocks:
    """What all blocks agree on, so that their covers merge and their counts add up.

    Attributes
    ----------
    kernel : RadialKernel
        With a number for its bandwidth.
    radius : float
        epsilon.
    spectrum : Spectrum or None
        Sums of no data yet.
    n_features : int
        d.
    """

    kernel: RadialKernel
    radius: float
    spectrum: Spectrum | None
    n_features: int

    @classmethod
    def of(
        cls, density: ShadowDensity, kernel: RadialKernel, X: Array, origin: Array
    ) -> ShadowBlocks:
        """Fix the radius and the frequencies from the parameters of a density.

        Parameters
        ----------
        density : ShadowDensity
            An unfitted density, which is not changed.
        kernel : RadialKernel
            The kernel with its bandwidth resolved.
        X : ndarray of shape (n_samples, n_features)
            A sample of the rows.
        origin : ndarray of shape (n_features,)
            A point near the data, such as the first row.

        Returns
        -------
        ShadowBlocks
            To be given to every block.
        """
        goal = check_goal(density)
        spectrum = Spectrum.of(kernel, origin, density.n_frequencies, density.random_state)
        radius = goal.radius(kernel, X, np.ones(len(X)), spectrum)
        return cls(kernel, radius, spectrum, len(origin))

    def checked(self, X: Any, sample_weight: Any = None) -> tuple[Array, Array]:
        """The rows of a block that have weight, and their weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of a block; there may be none.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each counts.

        Returns
        -------
        rows : ndarray
            float32 or float64; an error names the row that is not finite.
        weights : ndarray
            Positive.
        """
        rows = check.block_rows(X, self.n_features)
        weights = check.sample_weights(sample_weight, len(rows), all_zero=True)
        counted = weights > 0
        return (rows, weights) if counted.all() else (rows[counted], weights[counted])

    def cover(self, X: Any, sample_weight: Any = None) -> ReducedSet | None:
        """The reduced set of one block (Algorithm 2).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each counts.

        Returns
        -------
        ReducedSet or None
            None of a block without rows. Those of several blocks merge.
        """
        rows, weights = self.checked(X, sample_weight)
        if len(rows) == 0:
            return None
        found, _ = extend_set(None, open_cover(self.radius, rows[:0]), rows, weights)
        spectrum = None if self.spectrum is None else self.spectrum.add(rows, weights)
        return replace(found, spectrum=spectrum)

    def count(self, centers: Array, X: Any, sample_weight: Any = None) -> Counts:
        """The rows of one block at given centers, each at the first within the radius.

        Parameters
        ----------
        centers : ndarray of shape (n_centers, n_features)
            Of the merged covers.
        X : array-like of shape (n_samples, n_features)
            Rows.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each counts.

        Returns
        -------
        Counts
            Those of several blocks merge.
        """
        rows, weights = self.checked(X, sample_weight)
        labels, squared = Cover(self.radius, centers).assign(rows)
        near, left = labels >= 0, labels < 0
        empty = Statistics.zeros(len(centers))
        statistics = empty.add(labels[near], squared[near], weights[near])
        return Counts(statistics, rows[left], weights[left])

    def join(self, merged: ReducedSet, counts: Counts) -> ReducedSet:
        """The reduced set of all blocks, with every row within the radius of its center.

        Parameters
        ----------
        merged : ReducedSet
            The covers of all blocks.
        counts : Counts
            All rows, counted at its centers.

        Returns
        -------
        ReducedSet
            The merged centers in their order, then those of the rows that none covered.
        """
        cover = Cover(self.radius, merged.centers)
        statistics, _ = cover_and_count(cover, counts.statistics, counts.rows, counts.weights)
        _check_same_data(merged.n_samples, float(statistics.weights.sum()))
        centers = cover.centers.astype(np.result_type(merged.centers, counts.rows))
        radius, spectrum = self.radius, merged.spectrum
        return ReducedSet.of(centers, statistics, radius, radius, spectrum=spectrum)


def check_goal(density: ShadowDensity) -> Goal:
    """What fixes the radius, for a density that can be made from blocks.

    Parameters
    ----------
    density : ShadowDensity
        Its parameters are checked.

    Returns
    -------
    Goal
        One that needs no look at all of the data.
    """
    check.whole_number("n_frequencies", density.n_frequencies)
    goal = Goal.checked(density.ell, density.tol, density.error)
    if goal.ell == "auto":
        raise ValueError(
            'ell="auto" looks at all rows at once, which blocks cannot; fit the density to a '
            "sample of the rows and give its ell_, or give tol alone."
        )
    if goal.tol is None and np.isinf(float(goal.ell)):
        raise ValueError(
            "ell=inf keeps every row, which is not for data in blocks; give a number such as "
            "ell=4.0, or fit the rows on one machine."
        )
    if density.max_centers is not None:
        raise ValueError(
            f"max_centers={density.max_centers} bounds a stream, row by row, which blocks cannot; "
            "leave it out, and give a smaller ell for fewer centers."
        )
    if density.warm_start:
        raise ValueError(
            "warm_start=True starts from the last fit, which blocks do not; leave it out, or go on "
            "with partial_fit."
        )
    return goal


def _check_same_data(first: float, second: float) -> None:
    if not np.isclose(first, second, rtol=1e-9, atol=0):
        raise ValueError(
            f"the blocks held rows of weight {first:.16g} when they were covered, but "
            f"{second:.16g} when they were counted; they must give the same rows each time: store "
            "them, or give their random numbers a seed."
        )

"""Algorithm 2: assign each row to a center and count it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._core.sparse import stack
from .._core.value_cover import euclidean_cover, kernel_cover
from ..kernels import AnyKernel, Kernel, RadialKernel
from ..reduced_set import ReducedSet, Statistics
from ..row_sample import RowSample
from ._base import Array, Labels

# The radius of a bounded stream grows by the factor GROWTH until covering the centers again leaves
# at most the fraction KEPT of the limit. The factor is small, so that the radius does not grow more
# than necessary; the fraction leaves enough room before the radius has to grow again.
GROWTH, KEPT = 2**0.25, 0.5

MOST_CENTERS = 16_384  # with more centers, the weighted Gram matrix takes more than 2 GB

Progress = Callable[[int, int], None]
Report = Callable[[int, int], None]  # called with the number of centers and the number of rows


class GrowingCover(Protocol):
    """A growing cover: a row joins the first center within the radius or becomes a new center."""

    radius: float

    @property
    def n_centers(self) -> int: ...

    @property
    def centers(self) -> Array: ...

    def extend(self, X: Array, progress: Any = None) -> tuple[Labels, Array]: ...


class RowCover(GrowingCover, Protocol):
    """A cover that can also look up the centers of rows without creating new ones."""

    in_feature_space: bool  # True if distances are measured in feature space

    def assign(self, X: Array) -> tuple[Labels, Array]: ...


class EveryRow:
    """A cover of radius 0, in which every row is a center because no distance is below 0."""

    radius = 0.0
    in_feature_space = False

    def __init__(self, centers: Array) -> None:
        self.centers = centers

    @property
    def n_centers(self) -> int:
        """The number of centers."""
        return int(self.centers.shape[0])

    def extend(self, X: Any, progress: Any = None) -> tuple[Labels, Array]:
        """Make every row a center."""
        labels = self.n_centers + np.arange(X.shape[0])
        self.centers = stack(self.centers, X)
        return labels, np.zeros(X.shape[0])

    def assign(self, X: Array) -> tuple[Labels, Array]:
        """Return the label -1 for every row, because no center covers it."""
        return np.full(X.shape[0], -1, dtype=np.intp), np.zeros(X.shape[0])


def open_cover(radius: float, centers: Any, kernel: AnyKernel | None = None) -> RowCover:
    """Return a cover that continues from these centers.

    Distances are Euclidean, or measured in feature space if the kernel is not radial.
    """
    if radius == 0:
        return EveryRow(centers)
    if isinstance(kernel, Kernel):
        return kernel_cover(radius, centers, kernel)
    return euclidean_cover(radius, centers)


def cover_radius(kernel: AnyKernel, ell: float, X: Any, weights: Array) -> float:
    """Return the radius of a cover, which is sigma / ell for a radial kernel.

    For other kernels, it is the feature-space distance that corresponds to sigma / ell for a
    Gaussian, sqrt(2 kappa (1 - exp(-1 / ell^2))), where kappa is the mean of k(x, x).
    """
    if isinstance(kernel, RadialKernel):
        return kernel.scale / ell
    return math.sqrt(2 * _mean_diagonal(kernel, X, weights) * -math.expm1(-(ell**-2.0)))


def ell_of(kernel: AnyKernel, radius: float, X: Any, weights: Array) -> float:
    """Return the ell for which :func:`cover_radius` returns this radius."""
    if radius == 0:
        return math.inf
    if isinstance(kernel, RadialKernel):
        return kernel.scale / radius
    share = radius**2 / (2 * _mean_diagonal(kernel, X, weights))
    return (-math.log1p(-share)) ** -0.5


def _mean_diagonal(kernel: Kernel, X: Any, weights: Array) -> float:
    mean = float(weights @ kernel.diagonal(X) / weights.sum())
    if not 0 < mean < math.inf:
        raise ValueError(
            f"k(x, x) must be finite, and positive for at least one row, but its mean is {mean:g}. "
            "Use a positive definite kernel."
        )
    return mean


def cover_and_count(
    cover: GrowingCover,
    statistics: Statistics,
    rows: Array,
    weights: Array,
    progress: Progress | None = None,
    limit: int | None = None,
) -> tuple[Statistics, Labels]:
    """Cover rows, opening centers as needed, and add them to the statistics of the centers.

    Return the statistics and the label of each row. There are fewer labels than rows if the cover
    processes only some of the rows at a time, or if a row would raise the number of centers above
    ``limit``. In the latter case, only the rows before that row are counted.
    """
    labels, squared = cover.extend(rows, progress)
    n_centers = cover.n_centers
    if limit is not None and n_centers > limit:
        taken, n_centers = int(np.argmax(labels == limit)), limit
        labels, squared = labels[:taken], squared[:taken]
    return statistics.add(labels, squared, weights[: len(labels)], n_centers), labels


def watch_centers(
    report: Report, previous: ReducedSet | None, cover: GrowingCover, progress: Progress | None
) -> Progress:
    """Return a progress function that calls ``report`` once if most rows become centers."""
    before = 0 if previous is None else count_rows(previous)
    unused = cover.n_centers if previous is None else 0  # those of a warm start
    reported = False

    def watch(rows: int, n_centers: int) -> None:
        nonlocal reported
        if progress is not None:
            progress(rows, n_centers)
        if not reported and too_many(n_centers - unused, before + rows):
            reported = True
            report(n_centers - unused, before + rows)

    return watch


def too_many(n_centers: int, n_rows: int) -> bool:
    """Return True if most rows are centers, and there are too many centers to decompose."""
    return n_centers > max(MOST_CENTERS, n_rows / 2)


def count_rows(reduced_set: ReducedSet) -> int:
    """Return the number of rows; if they are weighted, estimate it from the row sample."""
    sample = reduced_set.sample
    if sample is None or (sample.weights == 1).all():
        return int(reduced_set.n_samples)
    return max(sample.position, int((1 / sample.probabilities).sum()))  # merging loses positions


def extend_set(
    previous: ReducedSet | None,
    cover: RowCover,
    rows: Array,
    weights: Array,
    sample: RowSample | None,
    progress: Progress | None = None,
) -> tuple[ReducedSet, Labels]:
    """Return the reduced set with these rows added, and the center of each row.

    Without a previous set, the cover may start from the centers of another fit (a warm start);
    centers that no row joins are dropped. ``sample`` is the sample of the earlier rows.
    """
    statistics = Statistics.zeros(cover.n_centers) if previous is None else previous.statistics
    statistics, labels = cover_and_count(cover, statistics, rows, weights, progress)
    dtype = rows.dtype if previous is None else np.result_type(previous.centers.dtype, rows.dtype)
    used = statistics.weights > 0
    sample = None if sample is None else sample.add(rows, weights, labels)
    if not used.all():
        labels = np.cumsum(used)[labels] - 1
    reach = cover.radius if previous is None else max(cover.radius, previous.radius)  # type: ignore[type-var]
    extended = ReducedSet.of(
        cover.centers.astype(dtype),
        statistics,
        reach,
        cover.radius,
        sample,
        in_feature_space=cover.in_feature_space,
    )
    return extended, labels


def withdraw(previous: ReducedSet, cover: RowCover, rows: Array, weights: Array) -> ReducedSet:
    """Return the reduced set after removing rows that were counted before."""
    if not cover.radius:
        raise ValueError(
            "forget needs a positive radius, but ell=inf made every row its own center; "
            "fit again without these rows."
        )
    labels, squared = cover.assign(rows)
    missing = np.flatnonzero((labels < 0) & (weights > 0))
    if len(missing):
        raise ValueError(
            f"forget: {len(missing)} of {rows.shape[0]} rows are not in any shadow; the first is "
            f"row {missing[0]}. Only rows that were fitted can be forgotten. Nothing was changed."
        )
    counted = weights > 0
    left = previous.statistics.remove(
        labels[counted],
        squared[counted],
        weights[counted],
        previous.radius,  # type: ignore[arg-type]
    )
    if not (left.weights > 0).any():
        raise ValueError(
            "forget: no rows would be left; create a new estimator instead. Nothing was changed."
        )
    sample = previous.sample
    if sample is not None:
        total = float(left.weights[left.weights > 0].sum())
        sample = sample.remove(rows[counted], weights[counted], total)
    radii = previous.radius, previous.spacing
    kind = {"in_feature_space": previous.in_feature_space}
    return ReducedSet.of(previous.centers, left, *radii, sample, **kind)


class BoundedStream:
    """A reduced set of at most ``limit`` centers, whose radius grows when the limit is reached.

    Covering stops at the row that would open one center too many. The radius then grows until
    covering the centers again leaves at most ``KEPT`` times the limit, and the stream continues
    from that row. The result therefore does not depend on the chunks.

    Parameters
    ----------
    limit : int
        The largest number of centers.
    cover : RowCover
        The cover of the stream so far; it is modified.
    reduced_set : ReducedSet or None
        The reduced set of the stream so far.
    sample : RowSample or None
        The row sample of the stream so far.
    """

    def __init__(
        self,
        limit: int,
        cover: RowCover,
        reduced_set: ReducedSet | None,
        sample: RowSample | None,
    ) -> None:
        self.limit, self.cover, self._set, self._sample = limit, cover, reduced_set, sample

    @property
    def reduced_set(self) -> ReducedSet:
        """The reduced set of the rows so far."""
        assert self._set is not None
        return self._set

    def extend(self, rows: Array, weights: Array, progress: Progress | None = None) -> Labels:
        """Add one or more rows and return the center of each."""
        n_rows = rows.shape[0]
        labels = np.empty(n_rows, dtype=np.intp)
        if self._set is not None and self._set.n_centers > self.limit:  # the limit was lowered
            self._grow()
        start, n_next = 0, 1024
        while start < n_rows:
            before = self.cover.n_centers
            stop = start + self._take(rows[start : start + n_next], weights[start:], labels[start:])
            share = max(self.cover.n_centers - before, 0) / n_next
            n_next = int(np.clip(max(self.limit, 256) / max(share, 1e-3), 1024, 2**16))
            if self.cover.n_centers > self.limit:
                labels[:stop] = self._grow()[labels[:stop]]
            start = stop
            if progress is not None:
                progress(start, self.reduced_set.n_centers)
        return labels

    def _take(self, rows: Array, weights: Array, labels: Labels) -> int:
        """Count the rows before the one that would exceed the limit, and return their number."""
        before = Statistics.zeros() if self._set is None else self._set.statistics
        statistics, found = cover_and_count(self.cover, before, rows, weights, limit=self.limit)
        labels[: len(found)] = found
        if len(found):
            dtype = np.result_type(
                (rows if self._set is None else self._set.centers).dtype, rows.dtype
            )
            centers = self.cover.centers[: len(statistics)].astype(dtype)
            radius = self.cover.radius
            reach = radius if self._set is None else max(radius, self._set.radius)  # type: ignore[type-var]
            if self._sample is not None:
                taken = slice(len(found))
                self._sample = self._sample.add(rows[taken], weights[taken], found)
            self._set = ReducedSet.of(centers, statistics, reach, radius, self._sample)
        return len(found)

    def _grow(self) -> Labels:
        """Increase the radius and return the new center of each previous center."""
        wanted = max(int(KEPT * self.limit), 1)
        spacing = GROWTH * self.cover.radius
        coarse, labels = self.reduced_set.coarsen(spacing)
        while coarse.n_centers > wanted:
            spacing = _check_spacing(GROWTH * spacing)
            coarse, labels = self.reduced_set.coarsen(spacing)
        self._set, self._sample = coarse, coarse.sample
        self.cover = euclidean_cover(spacing, coarse.centers)
        return labels


def _check_spacing(spacing: float) -> float:
    if spacing > 1e150:
        raise ValueError(
            "max_centers: the data are spread so widely that no radius with a finite square "
            "covers them; rescale the data."
        )
    return spacing


def cell_means(X: Array, weights: Array, labels: NDArray[np.intp], origins: Array) -> Array:
    """Return the mean of the rows in each cell.

    Sums are computed relative to a point near the cell, so that data far from zero lose no
    precision.
    """
    from .._core.compiled import accumulate

    totals = np.zeros(len(origins))
    accumulate(labels, weights, totals)
    means = np.empty(origins.shape)
    for k in range(X.shape[1]):
        sums = np.zeros(len(origins))
        accumulate(labels, weights * (X[:, k] - origins[labels, k]), sums)
        means[:, k] = origins[:, k] + sums / totals
    return means

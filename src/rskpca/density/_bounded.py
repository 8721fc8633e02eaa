"""A stream of rows in bounded memory: the radius grows when the centers are too many."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .._core.cover import Cover
from .._core.progress import ProgressLine
from ..reduced_set import ReducedSet

Array = NDArray[np.floating]

GROWTH = 2**0.25
KEPT = 0.5


class BoundedStream:
    """A cover, and the reduced set of the rows so far, of at most ``limit`` centers.

    The row that would open one center more ends the cover. The radius grows until the centers
    so far, covered anew, are at most ``KEPT`` of the limit, and the stream goes on from that
    row. So the result does not depend on how the rows are cut.

    Parameters
    ----------
    limit : int
        The most centers.
    count : callable
        From (reduced set or None, centers, labels, squared distances, weights, radius) to the
        reduced set that has these centers, and these rows more.
    cover : Cover
        Of the stream so far; it is used up.
    reduced_set : ReducedSet or None
        Of the stream so far.
    """

    def __init__(
        self,
        limit: int,
        count: Callable[..., ReducedSet],
        cover: Cover,
        reduced_set: ReducedSet | None,
    ) -> None:
        self.limit, self.count = limit, count
        self.cover, self._set = cover, reduced_set

    @property
    def reduced_set(self) -> ReducedSet:
        """The reduced set of the rows so far."""
        assert self._set is not None
        return self._set

    def extend(
        self, rows: Array, weights: Array, progress: ProgressLine | None
    ) -> NDArray[np.intp]:
        """Take in at least one row; returns their centers."""
        labels = np.empty(len(rows), dtype=np.intp)
        if self._set is not None and self._set.n_centers > self.limit:  # it was lowered
            self._grow()
        start, n_next = 0, 1024
        while start < len(rows):
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

    def _take(self, rows: Array, weights: Array, labels: NDArray[np.intp]) -> int:
        """Count rows up to the one that would open a center too many; how many they were."""
        found, squared = self.cover.extend(rows)
        full = self.cover.n_centers > self.limit
        taken = int(np.argmax(found == self.limit)) if full else len(found)
        labels[:taken] = found[:taken]
        if taken:
            dtype = np.result_type(rows if self._set is None else self._set.centers, rows)
            centers = self.cover.centers[: self.limit].astype(dtype)
            self._set = self.count(
                self._set, centers, found[:taken], squared[:taken], weights[:taken],
                self.cover.radius,
            )  # fmt: skip
        return taken

    def _grow(self) -> NDArray[np.intp]:
        """A larger radius, and fewer centers; returns where each center went."""
        wanted = max(int(KEPT * self.limit), 1)
        spacing = GROWTH * self.cover.radius
        coarse, labels = self.reduced_set.coarsen(spacing)
        while coarse.n_centers > wanted:
            spacing = _checked(GROWTH * spacing)
            coarse, labels = self.reduced_set.coarsen(spacing)
        self._set, self.cover = coarse, Cover(spacing, coarse.centers)
        return labels


def _checked(spacing: float) -> float:
    if spacing > 1e150:
        raise ValueError(
            "max_centers: the data are spread so wide that no radius of finite square covers "
            "them; rescale the data."
        )
    return spacing

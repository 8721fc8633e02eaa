"""Algorithm 2 on a stream whose centers go again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.cover import Cover
from ._base import Array

Numbers = NDArray[np.int64]
Labels = NDArray[np.intp]

_STEP = 1024  # rows that are covered at a time, at first; no result depends on it
_LONGEST_STEP = 2**16
_FEW = 0.25  # the share of the centers that may be gone and yet stay in the search


class AgingCover:
    """Centers that rows open, and that go after ``patience`` rows of which none was theirs.

    A row joins the first center within the radius that is there when it comes, else it opens one.
    Rows are numbered as they come. A center is known by the number of the row that opened it,
    which stays while others go.

    Rows are covered in blocks as if no center went meanwhile. That is right up to the first row
    whose center was gone by then: the centers that are gone are buried, and the stream goes on
    from that row. So the result does not depend on how the rows are cut.

    Parameters
    ----------
    radius : float
        epsilon; 0 makes every row a center.
    patience : int
        At least one.
    X : ndarray of shape (n_samples, n_features)
        Rows of the kind that will come.
    """

    def __init__(self, radius: float, patience: int, X: Array) -> None:
        self.patience, self.dtype = patience, X.dtype
        self.n_rows = 0
        self.opened: Numbers = np.empty(0, dtype=np.int64)  # the row that opened each center
        self.last: Numbers = np.empty(0, dtype=np.int64)  # the last row of each center
        self._cover, self._step = Cover(radius, X[:0]), _STEP
        self._stale = False  # whether the cover holds what must not be found

    def branch(self) -> AgingCover:
        """A stream of its own from here on; whatever comes of it, this one stays as it is."""
        other = AgingCover.__new__(AgingCover)
        other.__dict__.update(self.__dict__)  # the cover is shared until one of them finds it grown
        other._stale = self._stale or self._cover.n_centers != len(self.opened)
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cover": (self.radius, self.centers)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _cover=Cover(*state["_cover"]), _stale=False)

    @property
    def radius(self) -> float:
        """epsilon."""
        return self._cover.radius

    @property
    def centers(self) -> Array:
        """In the order in which they were opened, with some that are gone."""
        return self._cover.centers[: len(self.opened)].astype(self.dtype)

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Which centers are not gone."""
        return self.last >= self.n_rows - self.patience

    def bury(self) -> Labels | None:
        """Let go of the centers that are gone, where that is due; those that stay, if so."""
        alive = self.alive
        few = np.count_nonzero(alive) >= (1 - _FEW) * len(alive)
        if few and not self._stale:
            return None
        kept = np.flatnonzero(alive)
        self._cover = Cover(self.radius, self._cover.centers[kept])
        self.opened, self.last, self._stale = self.opened[kept], self.last[kept], False
        return kept

    def take(self, X: Array) -> tuple[Labels, Array]:
        """The center, and the squared distance from it, of as many rows as can be told.

        At least one, where :meth:`bury` was called before.
        """
        block = X[: min(self._step, self.patience)]  # a center opened in it outlives it
        labels, squared = self._covered(block)
        numbers = self.n_rows + np.arange(len(block))
        known = self._until_gone(labels, numbers)
        self._stale = known < len(block)
        self._step = max(self._step // 2, 64) if self._stale else min(2 * self._step, _LONGEST_STEP)
        self._count(labels[:known], numbers[:known])
        self.dtype = np.result_type(self.dtype, X)
        return labels[:known], squared[:known]

    def _covered(self, block: Array) -> tuple[Labels, Array]:
        if self.radius > 0:
            return self._cover.extend(block)
        before = self._cover.centers  # every row is a center, as its own distance is not below 0
        self._cover = Cover(0.0, np.concatenate([before, block]))
        return len(before) + np.arange(len(block)), np.zeros(len(block))

    def _until_gone(self, labels: Labels, numbers: Numbers) -> int:
        """How many rows come before the first whose center is gone when it comes."""
        silent = np.append(self.last, np.full(self._cover.n_centers - len(self.last), numbers[0]))
        if not (numbers - silent[labels] > self.patience).any():
            return len(labels)
        centers, first = np.unique(labels, return_index=True)
        late = first[numbers[first] - silent[centers] > self.patience]
        return int(late.min()) if len(late) else len(labels)

    def _count(self, labels: Labels, numbers: Numbers) -> None:
        before = len(self.opened)
        highest = np.maximum.accumulate(np.maximum(labels, before - 1))
        openers = np.diff(highest, prepend=before - 1) > 0
        self.opened = np.append(self.opened, numbers[openers])
        self.last = np.append(self.last, numbers[openers])
        self.last[labels] = numbers  # of several rows the last
        self.n_rows += len(labels)

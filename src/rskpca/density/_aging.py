"""Algorithm 2 for a stream in which centers expire."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from .._core.cover import Cover
from ._base import Array

Numbers = NDArray[np.int64]
Labels = NDArray[np.intp]

STEP = 1024  # initial number of rows covered at a time
LONGEST_STEP = 2**16
FEW = 0.25  # share of expired centers that may remain in the search structure
# Number of values that a plain loop can read in the time needed to build a search structure.
WALKED = 1_000_000


class AgingCover:
    """A cover whose centers expire once ``patience`` consecutive rows have joined other centers.

    A row joins the first existing center within the radius; if there is none, it opens a new one.
    Rows are numbered in order of arrival. A center is identified by the number of the row that
    opened it, which does not change when other centers expire.

    Rows are covered in batches, as if no center expired during the batch. That is correct up to
    the first row whose center has expired by the time the row arrives. At that point, expired
    centers are removed, and the stream continues from that row. If this happens often and there are
    few centers, rows are processed one by one instead. The result therefore depends neither on the
    chunks nor on the constants above.

    With a ``radius`` of 0, every row is a center. The rows X given to the constructor fix the dtype
    and the number of features.
    """

    _cover: Cover | None = None  # search structure for the current centers

    def __init__(self, radius: float, patience: int, X: Array) -> None:
        self.radius, self.patience, self.dtype = float(radius), patience, X.dtype
        self.n_rows = 0
        self.opened: Numbers = np.empty(0, dtype=np.int64)  # the row that opened each center
        self.last: Numbers = np.empty(0, dtype=np.int64)  # the last row that joined each center
        self._centers = np.empty((0, X.shape[1]))
        self._step = STEP

    @classmethod
    def restored(
        cls,
        radius: float,
        patience: int,
        n_rows: int,
        opened: Numbers,
        last: Numbers,
        centers: Array,
    ) -> AgingCover:
        """Return a cover that continues from a saved state; raise if the state is inconsistent."""
        aging = cls(radius, patience, centers)
        aging.n_rows, aging.opened, aging.last = n_rows, opened, last
        aging._centers = centers.astype(np.float64)
        aging._check()
        return aging

    def _check(self) -> None:
        """Check that centers were opened in ascending row order, and that none has expired."""
        check.shapes(self, centers="md", opened="m", last="m")
        if self.opened[0] < 0 or not (np.diff(self.opened) > 0).all():
            raise ValueError("opened must contain row numbers in ascending order.")
        if not ((self.opened <= self.last) & (self.last < self.n_rows)).all():
            raise ValueError(
                "each entry of last must be a row number from the corresponding entry of opened "
                f"up to {self.n_rows - 1}."
            )
        if len(np.unique(self.last)) != len(self.last):
            raise ValueError("last must contain a different row number for each center.")
        if not self.alive.all():
            raise ValueError(
                "last must contain only recent row numbers; expired centers are not stored."
            )

    def check_features(self, rows: Array) -> None:
        """Check that rows and centers have the same number of features."""
        if rows.shape[1] != self._centers.shape[1]:
            raise ValueError(
                f"rows must have {self._centers.shape[1]} features, like the centers, "
                f"got {rows.shape[1]}."
            )

    def branch(self) -> AgingCover:
        """Return a copy that can be extended without changing this cover."""
        other = AgingCover.__new__(AgingCover)
        cover = self.__dict__.pop("_cover", None)  # only one branch can use it
        other.__dict__.update(self.__dict__)  # arrays are replaced, never modified
        other._cover = cover
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_centers": self._centers.copy(), "_cover": None}

    @property
    def n_centers(self) -> int:
        """The number of centers, including some that have expired."""
        return len(self.opened)

    @property
    def centers(self) -> Array:
        """The centers in the order in which they were opened, including some expired ones."""
        return self._centers.astype(self.dtype)

    @property
    def alive(self) -> NDArray[np.bool_]:
        """A mask of the centers that have not expired."""
        return self.last >= self.n_rows - self.patience

    def bury(self, *, now: bool = False) -> Labels | None:
        """Remove expired centers when worthwhile, or unconditionally if ``now`` is True.

        Return the indices of the remaining centers, or None if nothing was removed.
        """
        alive = self.alive
        few = np.count_nonzero(alive) >= (1 - FEW) * len(alive)
        if alive.all() or (few and self._cover is not None and not now):
            return None
        kept = np.flatnonzero(alive)
        self.opened, self.last = self.opened[kept], self.last[kept]
        self._centers, self._cover = self._centers[kept], None
        return kept

    def extend(self, X: Array, progress: Any = None) -> tuple[Labels, Array]:
        """Cover the first rows of X and return their centers and squared distances.

        The number of rows covered depends on when centers expire; it is at least one if
        :meth:`bury` was called first.
        """
        self.dtype = np.result_type(self.dtype, X)
        if self.radius == 0:  # every row is a center, because a distance is never below 0
            rows = X[: self.patience]
            self._centers = np.concatenate([self._centers, rows])
            return self._record(len(self.opened) + np.arange(len(rows)), np.zeros(len(rows)))
        if self._centers.size * self._step < WALKED or self.patience < STEP // 16:
            return self._loop_over(X[: min(self._step, 4 * self.patience + 64)])
        return self._search_all(X[: min(self._step, self.patience)])

    def _loop_over(self, X: Array) -> tuple[Labels, Array]:
        from .._core.compiled import read_only
        from .._core.compiled_cover import aging_cover

        rows = read_only(X, np.float64)
        C = np.concatenate([self._centers, np.empty_like(rows)])
        last = np.concatenate([self.last, np.empty(len(rows), dtype=np.int64)])
        labels, squared = np.empty(len(rows), dtype=np.intp), np.empty(len(rows))
        limit = self.radius * self.radius
        n_centers = aging_cover(
            rows, self.n_rows, self.patience, limit, C, last, len(self.opened), labels, squared
        )
        self._centers, self._cover = C[:n_centers].copy(), None
        self._step = min(2 * self._step, LONGEST_STEP)
        return self._record(labels, squared)

    def _search_all(self, block: Array) -> tuple[Labels, Array]:
        """Cover a block that is too short for centers opened in it to expire."""
        cover = Cover(self.radius, self._centers) if self._cover is None else self._cover
        labels, squared = cover.extend(block)
        known = self._until_gone(labels, cover.n_centers)
        clean = known == len(block)
        self._step = min(2 * self._step, LONGEST_STEP) if clean else max(known, 64)
        n_centers = max(len(self.opened), int(labels[:known].max(initial=-1)) + 1)
        self._centers, self._cover = cover.centers[:n_centers], cover if clean else None
        return self._record(labels[:known], squared[:known])

    def _until_gone(self, labels: Labels, n_centers: int) -> int:
        """Return the number of rows before the first row whose center has expired."""
        numbers = self.n_rows + np.arange(len(labels))
        last = np.append(self.last, np.full(n_centers - len(self.last), self.n_rows))
        if not (numbers - last[labels] > self.patience).any():
            return len(labels)
        centers, first = np.unique(labels, return_index=True)
        late = first[numbers[first] - last[centers] > self.patience]
        return int(late.min()) if len(late) else len(labels)

    def _record(self, labels: Labels, squared: Array) -> tuple[Labels, Array]:
        numbers = self.n_rows + np.arange(len(labels))
        before = len(self.opened)
        highest = np.maximum.accumulate(np.maximum(labels, before - 1))
        openers = np.diff(highest, prepend=before - 1) > 0
        self.opened = np.append(self.opened, numbers[openers])
        self.last = np.append(self.last, numbers[openers])
        self.last[labels] = numbers  # the last of several rows wins
        self.n_rows += len(labels)
        return labels, squared

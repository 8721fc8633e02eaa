"""Sliding windows: the shadow density of the most recent rows of a stream.

The rows of a window are kept in segments that are never modified, so that copies share them.
"""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .. import _validation as check
from .._core.parallel import one_at_a_time, slices
from .._validation import Rows, validate_more_rows
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet, Statistics
from ..row_sample import RowSample, row_contents
from ._aging import AgingCover
from ._base import Array
from ._expiring import ExpiringDensity, check_same
from .shadow import ShadowDensity

SEGMENT = 1024  # largest number of rows in a segment
_LONGEST = 2**62  # longer than any stream


class WindowDensity(ExpiringDensity):
    """The shadow density of the most recent rows of a stream.

    A row joins the first existing center within the radius; if there is none, it opens a new one.
    Then the oldest row leaves the window, and centers without rows are dropped. Each row stays
    with the center that it joined when it arrived.

    Parameters
    ----------
    window : int
        Number of rows in the window. Each row counts as one regardless of its sample weight, so a
        weight of 3 is not equivalent to three rows; rows with weight 0 are not counted.
    density : ShadowDensity, default=None
        Provides the kernel, ``ell`` or ``tol``, ``sample_size`` and ``random_state``. None means
        ``ShadowDensity()``.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        The kernel, if ``density`` has none. If neither has one, a Gaussian with the median
        bandwidth is used. Omit it inside an embedding, which passes its own kernel.

    Attributes
    ----------
    reduced_set_ : ReducedSet
        Centers in the order in which they were opened, with weights, radius and ``n_samples``. It
        is computed from the rows of the window on first use, so that rounding errors do not
        accumulate.
    labels_ : ndarray of shape (n_samples,)
        The center of each row of the last ``fit`` or ``partial_fit``; -1 for rows with weight 0 and
        for rows whose center has expired.
    kernel_ : RadialKernel
        The kernel with a numeric bandwidth, which is fixed by the first chunk.
    ell_ : float
        The requested ell as a number.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has them.

    Notes
    -----
    Memory use is limited to the centers and the rows of the window, plus 24 bytes per row for its
    weight, center and distance. The rows are kept so that they can be sampled and forgotten;
    ``forget`` searches all rows of the window.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca import Gaussian, ShadowDensity, WindowDensity
    >>> window = WindowDensity(3, ShadowDensity(Gaussian(1.0), ell=4.0))
    >>> for x in [0.0, 0.1, 5.0, 0.2, 5.1]:
    ...     window = window.partial_fit([[x]])
    >>> window.reduced_set_.centers.ravel(), window.reduced_set_.weights
    (array([0., 5.]), array([1., 2.]))
    """

    _stream_: WindowStream

    def __init__(
        self,
        window: int,
        density: ShadowDensity | None = None,
        *,
        kernel: RadialKernel | str | None = None,
    ) -> None:
        self.window = window
        self.density = density
        self.kernel = kernel

    def _check_parameters(self) -> None:
        check.positive_integer("window", self.window)

    def _new_stream(self, radius: float, sample: RowSample | None, X: Array) -> WindowStream:
        return WindowStream(AgingCover(radius, self._size, X), sample)

    @property
    def _size(self) -> int:
        return int(min(self.window, _LONGEST))

    def _check_unchanged(self, begun: Any) -> None:
        super()._check_unchanged(begun)
        check_same("window", self._size, begun._stream_.size)

    @one_at_a_time
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Remove rows from the window early. They are not replaced by older rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows that are in the window. Among equal rows, the oldest are removed first.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights with which the rows were added.

        Returns
        -------
        Self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a row is not in the window with the given weight, or if no rows would be left. In
            these cases, nothing is changed.
        """
        check_is_fitted(self)
        return self._withdraw(validate_more_rows(self, X, sample_weight, all_zero=False))

    def _withdraw(self, rows: Rows) -> Self:
        """Remove validated rows."""
        stream = self._stream_.branch()
        stream.remove(*rows.positive)
        self._stream_, self._homes_, self._set_ = stream, None, None
        return self


@dataclass(frozen=True, eq=False)
class WindowRows:
    """Rows with their weights and centers.

    A center is identified by the number of the row that opened it; ``homes`` contains this number
    for the center of each row, and ``squared`` the squared distance between the row and its center.
    """

    X: Array
    weights: Array
    homes: NDArray[np.int64]
    squared: Array

    def __post_init__(self) -> None:
        shape = self.X.shape[:1]
        if not self.weights.shape == self.homes.shape == self.squared.shape == shape:
            raise ValueError("X, weights, homes and squared must have the same number of rows.")

    def __len__(self) -> int:
        return len(self.weights)

    def part(self, some: slice | NDArray[np.bool_]) -> WindowRows:
        """Return the selected rows; for a slice, the arrays are views."""
        return WindowRows(self.X[some], self.weights[some], self.homes[some], self.squared[some])


Segments = tuple[WindowRows, ...]


def concatenate(segments: Segments) -> WindowRows:
    """Return all rows in one segment."""
    columns = zip(*((s.X, s.weights, s.homes, s.squared) for s in segments), strict=True)
    return WindowRows(*map(np.concatenate, columns))


def append(segments: Segments, rows: WindowRows) -> Segments:
    """Append copies of the rows: to the last segment if they fit, otherwise as new segments."""
    if segments and len(segments[-1]) + len(rows) <= SEGMENT:
        return (*segments[:-1], concatenate((segments[-1], rows)))
    parts = [concatenate((rows.part(some),)) for some in slices(0, len(rows), SEGMENT)]
    return (*segments, *parts)


def split(segments: Segments, n: int) -> tuple[Segments, Segments]:
    """Return the first ``n`` rows and the remaining rows."""
    first: list[WindowRows] = []
    for i, segment in enumerate(segments):
        if n < len(segment):
            cut = (segment.part(slice(0, n)),) if n else ()
            return (*first, *cut), (segment.part(slice(n, None)), *segments[i + 1 :])
        first.append(segment)
        n -= len(segment)
    return segments, ()


class WindowStream:  # numpydoc ignore=PR01
    """The state of a window: its rows, from the oldest to the newest, and its centers.

    The patience of ``aging`` is the length of the window. ``sample`` is an empty sample, which
    determines the hash, or None.
    """

    def __init__(
        self, aging: AgingCover, sample: RowSample | None, segments: Segments = ()
    ) -> None:
        self.aging, self.sample, self.segments = aging, sample, segments

    @classmethod
    def restored(
        cls, aging: AgingCover, sample: RowSample | None, rows: WindowRows
    ) -> WindowStream:
        """Return a stream that continues from a saved state; raise if the state is inconsistent."""
        stream = cls(aging, sample, append((), rows))
        stream._check(rows)
        return stream

    def _check(self, rows: WindowRows) -> None:
        """Check that no rows of the window are missing and that every row has a stored center."""
        aging = self.aging
        aging.check_features(rows.X)
        if self.sample is not None:
            aging.check_features(self.sample.rows)
            if len(self.sample):
                raise ValueError("sample must be empty, because rows are sampled from the window.")
        expected = min(aging.n_rows, self.size)
        if len(rows) != expected:
            raise ValueError(f"rows must be the last {expected} rows, got {len(rows)}.")
        numbers = aging.n_rows - expected + np.arange(expected)
        if not ((rows.homes >= 0) & (rows.homes <= numbers)).all():
            raise ValueError(
                "each entry of homes must be the number of the row itself or of an earlier row."
            )
        here = rows.weights > 0
        labels = np.searchsorted(aging.opened, rows.homes[here])
        labels = np.minimum(labels, aging.n_centers - 1)
        if not np.array_equal(aging.opened[labels], rows.homes[here]):
            raise ValueError(
                "each entry of homes must be the number of a row that opened a center."
            )
        last = np.full(aging.n_centers, -1)
        last[labels] = numbers[here]
        if not np.array_equal(last, aging.last):
            raise ValueError("last must contain the row number of the last row of each center.")
        if not (rows.squared <= aging.radius * aging.radius).all():
            raise ValueError(f"squared must be at most the square of the radius {aging.radius:g}.")

    @property
    def rows(self) -> WindowRows:
        """All rows of the window, in one segment."""
        return concatenate(self.segments)

    @property
    def size(self) -> int:
        """The length of the window."""
        return self.aging.patience

    def branch(self) -> WindowStream:
        """Return a copy that can be updated independently."""
        other = copy.copy(self)
        other.aging = self.aging.branch()
        return other

    def compacted(self) -> WindowStream:
        """Return a copy without expired centers."""
        other = self.branch()
        other.aging.bury(now=True)
        return other

    def add(self, X: Array, weights: Array) -> NDArray[np.int64]:
        """Add rows, drop the oldest, and return the row number at which each center was opened."""
        parts = []
        start = 0
        while start < len(X):
            self.aging.bury()
            labels, squared = self.aging.extend(X[start:])
            rows = slice(start, start + len(labels))
            parts.append(WindowRows(X[rows], weights[rows], self.aging.opened[labels], squared))
            start = rows.stop
        came = concatenate(tuple(parts))
        self._slide(came.part(slice(max(len(came) - self.size, 0), None)))
        return came.homes

    def _slide(self, came: WindowRows) -> None:
        excess = sum(map(len, self.segments)) + len(came) - self.size
        _, segments = split(self.segments, max(excess, 0))
        self.segments = append(segments, came)

    def remove(self, X: Array, weights: Array) -> None:
        """Remove rows; if one is missing, nothing is changed."""
        rows = self.rows
        gone = _found(rows, X, weights)
        left = np.where(gone, 0.0, rows.weights)
        if not left.any():
            raise ValueError(
                "forget: no rows would be left; create a new estimator instead. Nothing was "
                "changed."
            )
        self.segments = append((), replace(rows, weights=left))
        numbers = self.aging.n_rows - len(rows) + np.arange(len(rows))
        last = np.full(len(self.aging.opened), -1 - self.size)  # expired before the first row
        last[np.searchsorted(self.aging.opened, rows.homes[left > 0])] = numbers[left > 0]
        self.aging.last = last

    def reduced_set(self) -> ReducedSet:
        """Return the reduced set, accumulating rows from oldest to newest."""
        rows, alive = self.rows, self.aging.alive
        here = rows.weights > 0
        labels = np.searchsorted(self.aging.opened[alive], rows.homes[here])
        empty = Statistics.zeros(int(np.count_nonzero(alive)))
        statistics = empty.add(labels, rows.squared[here], rows.weights[here])
        radius, centers = self.aging.radius, self.aging.centers[alive]
        of_all = np.zeros(len(rows), dtype=np.intp)
        of_all[here] = labels
        return ReducedSet.of(centers, statistics, radius, radius, self._sample_rows(rows, of_all))

    def _sample_rows(self, rows: WindowRows, labels: NDArray[np.intp]) -> RowSample | None:
        """Return a sample of the window; rows keep their row numbers in the stream."""
        if self.sample is None:
            return None
        first = self.aging.n_rows - len(rows)
        return replace(self.sample, position=first).add(rows.X, rows.weights, labels)


def _found(rows: WindowRows, X: Array, weights: Array) -> NDArray[np.bool_]:
    """Return a mask of the rows in the window that equal the given rows."""
    wanted = Counter(row_contents(X, weights))
    found = np.zeros(len(rows), dtype=bool)
    likely = _likely(rows, X, weights)
    for i, key in zip(likely, row_contents(rows.X[likely], rows.weights[likely]), strict=True):
        if wanted[key] > 0:
            wanted[key] -= 1
            found[i] = True
    missing = wanted.total()
    if missing:
        raise ValueError(
            f"forget: {missing} of {len(X)} rows are not in the window with the given weights; "
            "rows that have left the window are already forgotten. Nothing was changed."
        )
    return found


def _likely(rows: WindowRows, X: Array, weights: Array) -> NDArray[np.intp]:
    """Return the indices of window rows that may equal the given rows, in ascending order."""
    likely = np.flatnonzero(np.isin(rows.weights, weights))
    for k in range(X.shape[1]):
        if len(likely) <= len(X):
            break
        likely = likely[np.isin(rows.X[likely, k], X[:, k])]
    return likely

"""Exponential forgetting: the shadow density of rows whose weights decay."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet, Statistics
from ..row_sample import RowSample
from ._aging import AgingCover
from ._base import Array
from ._counting import cover_and_count
from ._expiring import ExpiringDensity, check_same
from .shadow import ShadowDensity

PATIENCE = 24  # a center expires after this many half-lives without a new row; 2^-24 is 6e-8
_SPAN = 256  # number of half-lives after which the unit of the weights is reset
_LOST = 1e-7  # share of the total weight that may expire with centers; the bounds allow for it
_LIGHTEST, _HEAVIEST = 1e-200, 1e200  # weights that do not underflow or overflow in any unit


class FadingDensity(ExpiringDensity):
    """The shadow density of a stream whose rows lose half of their weight in every half-life.

    A row has weight 1, or its sample weight, when it arrives; each later row multiplies this weight
    by 2^(-1 / half_life). A row joins the first existing center within the radius; if there is
    none, it opens a new one. A center that no row has joined for 24 half-lives expires; by then its
    weight has decayed to 6e-8 of its original value.

    Parameters
    ----------
    half_life : float
        Number of rows after which the weight of a row is halved. The total weight of a long
        stream tends to half_life / ln 2, which is 1.44 half-lives.
    density : ShadowDensity, default=None
        Provides the kernel, ``ell`` or ``tol``, ``sample_size`` and ``random_state``. None means
        ``ShadowDensity()``.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        The kernel, if ``density`` has none. If neither has one, a Gaussian with the median
        bandwidth is used. Omit it inside an embedding, which passes its own kernel.

    Attributes
    ----------
    reduced_set_ : ReducedSet
        Centers in the order in which they were opened, with weights and radius; ``n_samples`` is
        the sum of the weights.
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
    Rows are not kept, so they cannot be removed: there is no ``forget``.

    A row with sample weight w has weight w but ages the other rows only as much as a single row, so
    it is not equivalent to w rows. Rows with weight 0 are ignored.

    If all rows have the same sample weight, expired centers account for at most 1e-7 of the total
    weight, and the certificate allows for that. If sample weights differ so much that this share
    is exceeded, ``reduced_set_`` has no radius and no row sample until the share has decreased, so
    that no claim is made about the error.

    Examples
    --------
    >>> from rskpca import FadingDensity, Gaussian, ShadowDensity
    >>> fading = FadingDensity(1.0, ShadowDensity(Gaussian(1.0), ell=4.0))
    >>> for x in [0.0, 0.1, 5.0]:
    ...     fading = fading.partial_fit([[x]])
    >>> fading.reduced_set_.weights
    array([0.75, 1.  ])
    """

    _stream_: FadingStream

    def __init__(
        self,
        half_life: float,
        density: ShadowDensity | None = None,
        *,
        kernel: RadialKernel | str | None = None,
    ) -> None:
        self.half_life = half_life
        self.density = density
        self.kernel = kernel

    def _check_parameters(self) -> None:
        check.positive_number("half_life", self.half_life)

    def _new_stream(self, radius: float, sample: RowSample | None, X: Array) -> FadingStream:
        half_life = float(self.half_life)
        return FadingStream(AgingCover(radius, patience(half_life), X), sample, half_life)

    def _check_unchanged(self, begun: Any) -> None:
        super()._check_unchanged(begun)
        check_same("half_life", self.half_life, begun._stream_.half_life)


def patience(half_life: float) -> int:
    """Return how many consecutive rows must join other centers before a center expires."""
    return int(min(math.ceil(PATIENCE * half_life), 2**62))


class FadingStream:  # numpydoc ignore=PR01
    """Statistics in a unit that changes with time, so that older rows need no update.

    In a span of ``rows_in_span`` rows, the row at position p has weight
    2^(p / half_life - _SPAN - 1). The patience of ``aging`` is :func:`patience` of the half-life.
    ``sample`` is labeled by the centers of ``aging``, or -1 for expired centers. Rows of expired
    centers stay in the sample, because the time at which centers are removed depends on the chunks.
    """

    def __init__(self, aging: AgingCover, sample: RowSample | None, half_life: float) -> None:
        self.aging, self.sample, self.half_life = aging, sample, half_life
        self.rows_in_span = max(int(min(_SPAN * half_life, 2**62)), 1)
        self.place = self._place_after(aging.n_rows)  # position of the next row in its span
        self.statistics = Statistics.zeros()
        self.lost = 0.0  # weight of expired centers

    @classmethod
    def restored(
        cls,
        aging: AgingCover,
        sample: RowSample | None,
        half_life: float,
        statistics: Statistics,
        lost: float,
    ) -> FadingStream:
        """Return a stream that continues from a saved state; raise if the state is inconsistent."""
        if sample is not None:
            aging.check_features(sample.rows)
            if not ((sample.labels >= -1) & (sample.labels < aging.n_centers)).all():
                raise ValueError("labels of sample must be indices of the centers, or -1.")
        if len(statistics) != aging.n_centers:
            raise ValueError(
                f"statistics must have one entry for each of the {aging.n_centers} centers, got "
                f"{len(statistics)}."
            )
        if aging.last.max() != aging.n_rows - 1:
            raise ValueError("last must contain the row number of the last row.")
        if not half_life > 0:
            raise ValueError(f"half_life must be positive, got {half_life:g}.")
        if aging.patience != patience(half_life):
            raise ValueError(
                f"patience must be {patience(half_life)} for a half-life of {half_life:g} rows, "
                f"got {aging.patience}."
            )
        stream = cls(aging, sample, half_life)
        stream.statistics, stream.lost = statistics, lost
        return stream

    def branch(self) -> FadingStream:
        """Return a copy that can be updated independently."""
        other = copy.copy(self)
        other.aging = self.aging.branch()
        return other

    def compacted(self) -> FadingStream:
        """Return a copy without expired centers."""
        other = self.branch()
        other._bury(now=True)
        return other

    def add(self, X: Array, weights: Array) -> NDArray[np.int64]:
        """Add rows, and return the row number at which each row's center was opened."""
        _check_weights(weights)
        homes = np.empty(len(X), dtype=np.int64)
        start = 0
        while start < len(X):
            self._bury()
            if self.place == self.rows_in_span:
                self._begin_span()
            stop = start + self.rows_in_span - self.place
            homes_of_part = self._count(X[start:stop], weights[start:stop])
            homes[start : start + len(homes_of_part)] = homes_of_part
            start += len(homes_of_part)
        return homes

    def _place_after(self, n_rows: int) -> int:
        """Return the position of the next row; a full span ends when the next row arrives."""
        return (n_rows - 1) % self.rows_in_span + 1 if n_rows else 0

    def _bury(self, *, now: bool = False) -> None:
        kept = self.aging.bury(now=now)
        if kept is not None:
            self.lost += float(np.delete(self.statistics.weights, kept).sum())
            self._relabel(kept)
            self.statistics = self.statistics.take(kept)

    def _relabel(self, kept: NDArray[np.intp]) -> None:
        if self.sample is not None:
            labels = np.full(len(self.statistics) + 1, -1, dtype=np.intp)  # labels[-1] stays -1
            labels[kept] = np.arange(len(kept))
            self.sample = replace(self.sample, labels=labels[self.sample.labels])

    def _begin_span(self) -> None:
        factor = 2 ** (-self.rows_in_span / self.half_life)
        self.statistics = self.statistics.scale(factor)
        self.place, self.lost = 0, factor * self.lost
        self.sample = None if self.sample is None else self.sample.scale(factor)

    def _count(self, X: Array, weights: Array) -> NDArray[np.int64]:
        """Count the first rows, and return the row number at which each row's center was opened."""
        counts = weights * self._unit(self.place + np.arange(len(X)))
        self.statistics, labels = cover_and_count(self.aging, self.statistics, X, counts)
        if self.sample is not None:
            taken = slice(len(labels))
            self.sample = self.sample.add(X[taken], counts[taken], labels)
        self.place += len(labels)
        return self.aging.opened[labels]

    def _unit(self, place: NDArray[np.int64]) -> Array:
        """Return the stored weight of a row with weight 1 at each position in its span."""
        return np.ldexp(np.exp2(place / self.half_life), -_SPAN - 1)

    def reduced_set(self) -> ReducedSet:
        """Return the reduced set, scaled so that the newest row has its full weight."""
        factor = float(1 / self._unit(np.array(self.place - 1)))
        alive, radius = self.aging.alive, self.aging.radius
        statistics = self.statistics.scale(factor)
        sample = None if self.sample is None else self.sample.scale(factor)
        if sample is not None:
            sample = sample.relabel(np.append(np.where(alive, np.cumsum(alive) - 1, -1), -1))
        counted = ReducedSet.of(
            self.aging.centers[alive], statistics.take(alive), radius, radius, sample
        )
        lost = factor * self.lost + float(statistics.weights[~alive].sum())
        if lost > _LOST * counted.n_samples:
            return replace(counted, radius=None, displacement=None, scatter=None, sample=None)
        most = _LOST * counted.n_samples if self.aging.n_rows > self.aging.patience else 0.0
        return replace(counted, lost=most)


def _check_weights(weights: Array) -> None:
    for weight in (weights.min(initial=1.0), weights.max(initial=1.0)):
        if not _LIGHTEST <= weight <= _HEAVIEST:
            raise ValueError(
                f"sample_weight must be 0 or between {_LIGHTEST:g} and {_HEAVIEST:g} for a "
                f"FadingDensity, got {weight:g}; rescale the weights."
            )

"""Exponential forgetting: the shadow density of rows that count less and less."""

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
from ..spectrum import Spectrum
from ._aging import AgingCover
from ._base import Array
from ._counting import cover_and_count
from ._expiring import ExpiringDensity, check_same
from .shadow import ShadowDensity

PATIENCE = 24  # half-lives without a row after which a center goes: 2^-24 is 6e-8
_SPAN = 256  # half-lives after which the unit of the weights is chosen anew
_LOST = 1e-7  # the share of the weight that centers may take along, which bounds allow for
_LIGHTEST, _HEAVIEST = 1e-200, 1e200  # weights that can be counted in the unit of any place


class FadingDensity(ExpiringDensity):
    """The shadow density of a stream whose rows count half as much after every half-life.

    A row counts 1, or its sample weight, when it comes; each row that comes after it
    multiplies that by 2^(-1 / half_life). A row joins the first center within the radius that is
    there when it comes, else it opens one. A center to which no row came for 24 half-lives goes,
    and its weight, 6e-8 of what it was, goes with it.

    Parameters
    ----------
    half_life : float
        Rows after which a row counts half. The total weight of a long stream tends to
        half_life / ln 2, which is 1.44 half-lives.
    density : ShadowDensity, default=None
        Its kernel, ``ell`` or ``tol``, ``n_frequencies`` and ``random_state`` are taken. None is
        ``ShadowDensity()``.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        For a ``density`` without one. None is the Gaussian with the median bandwidth, or the
        kernel of the estimator that this density is given to.

    Attributes
    ----------
    reduced_set_ : ReducedSet
        Centers, in the order in which they were opened, weights, radius; ``n_samples`` is the
        sum of the weights.
    labels_ : ndarray of shape (n_samples,)
        The center of each row of the last ``fit`` or ``partial_fit``; -1 for rows of weight 0,
        and where the center is gone.
    kernel_ : RadialKernel
        The kernel with a number for its bandwidth; the first chunk fixes it.
    ell_ : float
        The ell that was asked for, as a number.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has them.

    Notes
    -----
    No rows are kept, so that none can be taken away: there is no ``forget``.

    A row of sample weight w counts w, and is one row to the half-life: not the same as w rows. A
    row of weight 0 is none.

    What centers take along is at most 1e-7 of the weight if rows have the same sample weight;
    the certificate allows for that. Where sample weights differ so much that it is more,
    ``reduced_set_`` has no radius and no sums until it is less, so that nothing is claimed of
    the error.

    Examples
    --------
    >>> from rskpca import FadingDensity, Gaussian, ShadowDensity
    >>> fading = FadingDensity(1.0, ShadowDensity(Gaussian(1.0), ell=4.0))
    >>> for x in [0.0, 0.1, 5.0]:
    ...     fading = fading.partial_fit([[x]])
    >>> fading.reduced_set_.weights
    array([0.75, 1.  ])
    """

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

    def _new_stream(self, radius: float, spectrum: Spectrum | None, X: Array) -> FadingStream:
        half_life = float(self.half_life)
        return FadingStream(AgingCover(radius, patience(half_life), X), spectrum, half_life)

    def _check_unchanged(self, begun: Any) -> None:
        super()._check_unchanged(begun)
        check_same("half_life", self.half_life, begun._stream_.half_life)


def patience(half_life: float) -> int:
    """Rows of others after which a center goes."""
    return int(min(math.ceil(PATIENCE * half_life), 2**62))


class FadingStream:
    """Sums in a unit that shrinks as time goes by, so that no row but the last is touched.

    In a span of ``rows_in_span`` rows the row at place p counts 2^(p / half_life - _SPAN - 1).

    Parameters
    ----------
    aging : AgingCover
        The centers; its patience is :func:`patience` of the half-life.
    spectrum : Spectrum or None
        Sums at random frequencies.
    half_life : float
        Rows after which a row counts half.
    """

    def __init__(self, aging: AgingCover, spectrum: Spectrum | None, half_life: float) -> None:
        self.aging, self.spectrum, self.half_life = aging, spectrum, half_life
        self.rows_in_span = max(int(min(_SPAN * half_life, 2**62)), 1)
        self.place = self._place_after(aging.n_rows)  # of the next row
        self.statistics = Statistics.zeros()
        self.lost = 0.0  # the weight of centers that are gone

    @classmethod
    def restored(
        cls,
        aging: AgingCover,
        spectrum: Spectrum | None,
        half_life: float,
        statistics: Statistics,
        lost: float,
    ) -> FadingStream:
        """A stream that goes on from here."""
        stream = cls(aging, spectrum, half_life)
        stream.statistics, stream.lost = statistics, lost
        return stream

    def branch(self) -> FadingStream:
        """A stream of its own from here on."""
        other = copy.copy(self)
        other.aging = self.aging.branch()
        return other

    def compacted(self) -> FadingStream:
        """The same stream, on its own, without centers that are gone."""
        other = self.branch()
        other._bury(now=True)
        return other

    def add(self, X: Array, weights: Array) -> NDArray[np.int64]:
        """Take in rows; their centers."""
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
        """A span that is full ends with the row after it."""
        return (n_rows - 1) % self.rows_in_span + 1 if n_rows else 0

    def _bury(self, *, now: bool = False) -> None:
        kept = self.aging.bury(now=now)
        if kept is not None:
            self.lost += float(np.delete(self.statistics.weights, kept).sum())
            self.statistics = self.statistics.take(kept)

    def _begin_span(self) -> None:
        factor = 2 ** (-self.rows_in_span / self.half_life)
        self.statistics = self.statistics.scale(factor)
        self.place, self.lost = 0, factor * self.lost
        self.spectrum = _times(self.spectrum, factor)

    def _count(self, X: Array, weights: Array) -> NDArray[np.int64]:
        """Cover and count the first rows; return the numbers of the rows that opened centers."""
        counts = weights * self._unit(self.place + np.arange(len(X)))
        self.statistics, labels = cover_and_count(self.aging, self.statistics, X, counts)
        if self.spectrum is not None:
            self.spectrum = self.spectrum.add(X[: len(labels)], counts[: len(labels)])
        self.place += len(labels)
        return self.aging.opened[labels]

    def _unit(self, place: NDArray[np.int64]) -> Array:
        """What a row of weight 1 at this place counts in its span."""
        return np.ldexp(np.exp2(place / self.half_life), -_SPAN - 1)

    def reduced_set(self) -> ReducedSet:
        """Of the rows as they count now, the last of them with its own weight."""
        factor = float(1 / self._unit(np.array(self.place - 1)))
        alive, radius = self.aging.alive, self.aging.radius
        statistics = self.statistics.scale(factor)
        counted = ReducedSet.of(self.aging.centers[alive], statistics.take(alive), radius, radius)
        lost = factor * self.lost + float(statistics.weights[~alive].sum())
        if lost > _LOST * counted.n_samples:
            return replace(counted, radius=None, displacement=None, scatter=None)
        most = _LOST * counted.n_samples if self.aging.n_rows > self.aging.patience else 0.0
        return replace(counted, spectrum=_times(self.spectrum, factor), lost=most)


def _check_weights(weights: Array) -> None:
    for weight in (weights.min(initial=1.0), weights.max(initial=1.0)):
        if not _LIGHTEST <= weight <= _HEAVIEST:
            raise ValueError(
                f"sample_weight must be 0 or from {_LIGHTEST:g} to {_HEAVIEST:g} where rows fade, "
                f"got {weight:g}; multiply all weights by a number."
            )


def _times(spectrum: Spectrum | None, factor: float) -> Spectrum | None:
    return None if spectrum is None else replace(spectrum, sums=factor * spectrum.sums)

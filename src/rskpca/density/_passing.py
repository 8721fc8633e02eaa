"""Densities of a stream whose rows do not count for ever."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .. import _validation as check
from ..kernels import RadialKernel, as_kernel
from ..reduced_set import ReducedSet
from ..spectrum import Spectrum
from ._aging import AgingCover
from ._base import Array, BaseDensity
from ._rows import counted_rows
from .shadow import ShadowDensity
from .tolerance import Goal


def check_same(name: str, value: object, begun: object) -> None:
    """Whether a parameter is what a stream began with."""
    if value != begun:
        raise ValueError(
            f"{name} is {value!r}, but the stream began with {begun!r}; set it back, or call fit "
            "to start anew. Nothing was changed."
        )


def _agrees(asked: RadialKernel, resolved: RadialKernel) -> bool:
    """Whether a kernel with a number for its bandwidth can be the one that was asked for."""
    same = isinstance(asked.bandwidth, str) or asked.bandwidth == resolved.bandwidth
    return same and type(asked) is type(resolved)


class PassingStream(Protocol):
    """The state of such a stream."""

    aging: AgingCover

    def branch(self) -> Self:
        """A stream of its own from here on."""

    def settled(self) -> Self:
        """The same stream, on its own, without centers that are gone."""

    def add(self, X: Array, weights: Array) -> NDArray[np.int64]:
        """Take in rows; the numbers of the rows that opened their centers."""

    def reduced_set(self) -> ReducedSet:
        """Of the rows as they count now."""


class PassingDensity(BaseDensity, ABC):
    """A shadow density whose rows leave it again. A subclass says how, by its stream."""

    density: ShadowDensity | None
    ell_: float
    _stream_: Any
    _homes_: NDArray[np.int64] | None
    _set_: ReducedSet | None = None

    @abstractmethod
    def _check_parameters(self) -> None:
        """Check the subclass's own parameters."""

    @abstractmethod
    def _new_stream(self, radius: float, spectrum: Spectrum | None, X: Array) -> PassingStream:
        """A stream of no rows yet, of this radius, for rows such as those of X."""

    @property
    def own_kernel(self) -> RadialKernel | str | None:
        """The kernel that was given to it, or to its density; None where none was."""
        nested = self.density.own_kernel if isinstance(self.density, BaseDensity) else None
        return self.kernel if nested is None else nested

    def _use_kernel(self, kernel: RadialKernel, *, instead: bool = False) -> Self:
        if self.density is not None:
            self._check_density(self.density)
        if instead and self.density is not None:
            self.density.set_params(kernel=None)
        if instead or self.own_kernel is None:
            self.set_params(kernel=kernel)
        return self

    def _with_bandwidth_of(self, X: Any, sample_weight: Array | None) -> Self:
        kernel = self._shadow()._resolved_kernel(X, sample_weight)
        return clone(self)._use_kernel(kernel, instead=True)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Start anew with the rows of X, from the first to the last.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data, at least two rows, in the order of their coming.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts. Rows of weight 0 are left out.

        Returns
        -------
        Self
            The fitted estimator.
        """
        return self._start(X, sample_weight, at_least=2)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows. Any chunking of the same rows gives the same bits as one ``fit``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows. The first chunk fixes the kernel's bandwidth.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts.

        Returns
        -------
        Self
            The fitted estimator. Parameters that were changed since the stream began are an
            error.
        """
        if not hasattr(self, "_stream_"):
            return self._start(X, sample_weight, at_least=1)
        self._check_unchanged(self)
        checked = self._more_rows(X)
        weights = check.sample_weights(sample_weight, len(checked), all_zero=True)
        self._absorb(self._stream_.branch(), checked, weights)
        return self

    def _start(self, X: Any, sample_weight: Any, at_least: int) -> Self:
        checked = check.new_rows(self, X, at_least)
        weights = check.sample_weights(sample_weight, len(checked))
        self._check_parameters()
        shadow, given = self._shadow(), None if sample_weight is None else weights
        kernel, goal, spectrum = shadow._fixed(checked, given)
        rows, counts = counted_rows(checked, weights)
        seen = spectrum.add(rows, counts) if spectrum and goal.ell == "auto" else spectrum
        radius = goal.radius(kernel, rows, counts, seen)
        self._absorb(self._new_stream(radius, spectrum, checked), checked, weights)
        self.kernel_, self.ell_ = kernel, kernel.scale / radius if radius else np.inf
        self._remember_features(X)
        return self

    def _absorb(self, stream: PassingStream, X: Array, weights: Array) -> None:
        homes = np.full(len(X), -1, dtype=np.int64)
        if weights.any():
            homes[weights > 0] = stream.add(*counted_rows(X, weights))
        self._stream_, self._homes_, self._set_ = stream, homes, None

    def _shadow(self) -> ShadowDensity:
        """What fixes the radius."""
        if self.density is None:
            return ShadowDensity(self.kernel)
        self._check_density(self.density)
        return clone(self.density).set_params(kernel=self.own_kernel)

    def _check_density(self, density: ShadowDensity) -> None:
        if type(density) is not ShadowDensity:
            raise TypeError(
                f"density must be a ShadowDensity, whose centers come one by one, got {density!r}."
            )
        for name in ("max_centers", "warm_start"):
            if value := getattr(density, name):
                raise ValueError(
                    f"{name}={value!r} does not go with a {type(self).__name__}, whose centers "
                    "go by themselves; leave it out."
                )
        if self.kernel is not None and density.kernel is not None:
            raise ValueError(
                f"kernel={self.kernel!r} was given beside a density that has one, "
                f"{density.kernel!r}; leave one of them out."
            )

    def _check_unchanged(self, begun: Any) -> None:
        super()._check_unchanged(begun)
        self._check_parameters()
        shadow = self._shadow()
        goal = Goal.checked(shadow.ell, shadow.tol, shadow.error)
        if goal.tol is None and not np.isclose(float(goal.ell), begun.ell_, rtol=1e-9):
            check_same("ell", goal.ell, begun.ell_)
        if shadow.kernel is not None and not _agrees(as_kernel(shadow.kernel), begun.kernel_):
            check_same("kernel", shadow.kernel, begun.kernel_)

    @property
    def reduced_set_(self) -> ReducedSet:  # type: ignore[override]
        """Of the rows as they count now; made when it is first asked for."""
        check_is_fitted(self)
        if self._set_ is None:
            self._set_ = self._stream_.reduced_set()
        return self._set_

    @property
    def labels_(self) -> NDArray[np.intp]:  # type: ignore[override]
        """The center of each row of the last ``fit`` or ``partial_fit``; -1 where it is gone."""
        check_is_fitted(self)
        if self._homes_ is None:
            raise AttributeError("labels_ are of the last fit or partial_fit, and end with forget.")
        aging = self._stream_.aging
        opened = aging.opened[aging.alive]
        places = np.minimum(np.searchsorted(opened, self._homes_), len(opened) - 1)
        return np.where(opened[places] == self._homes_, places, -1)

"""Base class for shadow densities with expiring rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._core.parallel import one_at_a_time
from .._validation import Rows, validate_more_rows, validate_rows
from ..kernels import RadialKernel, as_kernel
from ..reduced_set import ReducedSet
from ..row_sample import RowSample
from ._aging import AgingCover
from ._base import Array, BaseDensity, Labels
from .shadow import ShadowDensity
from .tolerance import Goal, Limit


def check_same(name: str, value: object, begun: object) -> None:
    """Raise an error if a parameter has changed since the stream began."""
    if value != begun:
        raise ValueError(
            f"{name} is {value!r}, but the stream was started with {begun!r}; restore this value, "
            "or call fit to start over. Nothing was changed."
        )


class ExpiringStream(Protocol):
    """The state of a stream whose rows expire."""

    aging: AgingCover

    def branch(self) -> Self:
        """Return a copy that can be updated independently."""

    def compacted(self) -> Self:
        """Return a copy without expired centers."""

    def add(self, X: Array, weights: Array) -> NDArray[np.int64]:
        """Add rows, and return the row number at which each row's center was opened."""

    def reduced_set(self) -> ReducedSet:
        """Return the reduced set of the rows with their current weights."""


class ExpiringDensity(BaseDensity, ABC):
    """Base class for shadow densities with expiring rows; a subclass provides the stream."""

    density: ShadowDensity | None
    ell_: float
    _stream_: Any
    _homes_: NDArray[np.int64] | None
    _set_: tuple[ExpiringStream, ReducedSet] | None = None

    @abstractmethod
    def _check_parameters(self) -> None:
        """Check the parameters of the subclass."""

    @abstractmethod
    def _new_stream(self, radius: float, sample: RowSample | None, X: Array) -> ExpiringStream:
        """Return an empty stream with this radius, for rows with the dtype and width of X."""

    @property
    def own_kernel(self) -> RadialKernel | str | None:
        """The kernel passed to this density or to its ``density``; None if there is none."""
        nested = self.density.own_kernel if isinstance(self.density, BaseDensity) else None
        return self.kernel if nested is None else nested

    @property
    def random_state(self) -> Any:
        """The seed of the shadow density that determines the radius."""
        return self._shadow().random_state

    def _drop_kernel(self) -> Self:
        if self.density is not None:
            self.set_params(density=clone(self.density)._drop_kernel())
        return super()._drop_kernel()

    def summarize(
        self, rows: Rows, kernel: RadialKernel, coordinate_limit: Limit | None = None
    ) -> Self:
        """Start a new stream with validated rows, in order of arrival.

        The parameters are those of ``ShadowDensity.summarize``.
        """
        self._check_parameters()
        shadow = self._shadow()
        goal = shadow._check_parameters(rows.X.shape[1])
        X, weights = rows.positive
        sample = shadow._empty_sample(rows)
        radius = goal.radius(kernel, X, weights, sample, coordinate_limit)
        self._absorb(self._new_stream(radius, sample, rows.X), rows)
        self.kernel_, self.ell_ = kernel, kernel.scale / radius if radius else np.inf
        rows.name_features(self)
        return self

    @one_at_a_time
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows. The result is bitwise identical to a single ``fit``, regardless of the chunks.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows. The first chunk fixes the kernel's bandwidth.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        Self
            The updated estimator.

        Raises
        ------
        ValueError
            If a parameter has changed since the stream began. In this case, nothing is changed.
        """
        if "_stream_" not in self.__dict__:
            rows = validate_rows(self, X, sample_weight, min_rows=1)
            return self.summarize(rows, self.resolve_kernel(rows))
        self._check_unchanged(self)
        return self._extend(validate_more_rows(self, X, sample_weight))

    def _extend(self, rows: Rows) -> Self:
        """Add validated rows."""
        self._absorb(self._stream_.branch(), rows)
        return self

    def _absorb(self, stream: ExpiringStream, rows: Rows) -> None:
        homes = np.full(len(rows.X), -1, dtype=np.int64)
        X, weights = rows.positive
        if len(X):
            homes[rows.weights > 0] = stream.add(X, weights)
        self._stream_, self._homes_, self._set_ = stream, homes, None

    def _shadow(self) -> ShadowDensity:
        """Return the shadow density that determines the radius."""
        if self.density is None:
            return ShadowDensity(self.kernel)
        self._check_density(self.density)
        return clone(self.density).set_params(kernel=self.own_kernel)

    def _check_density(self, density: ShadowDensity) -> None:
        if type(density) is not ShadowDensity:
            raise TypeError(
                "density must be a ShadowDensity, whose centers are opened one by one, "
                f"got {density!r}."
            )
        for name in ("max_centers", "warm_start"):
            if value := density.get_params(deep=False)[name]:
                raise ValueError(
                    f"{name}={value!r} cannot be combined with {type(self).__name__}, whose "
                    "centers expire automatically; omit it."
                )
        if self.kernel is not None and density.kernel is not None:
            raise ValueError(
                f"kernel={self.kernel!r} was given, but the density already has one, "
                f"{density.kernel!r}; omit one of them."
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
        """The reduced set of the rows with their current weights; computed on first use."""
        check_is_fitted(self)
        stream, cached = self._stream_, self._set_
        if cached is None or cached[0] is not stream:
            cached = self._set_ = stream, stream.reduced_set()
        return cached[1]

    @property
    def labels_(self) -> Labels:  # type: ignore[override]
        """The center of each row of the last ``fit`` or ``partial_fit``; -1 if it has expired."""
        check_is_fitted(self)
        if self._homes_ is None:
            raise AttributeError(
                "labels_ refers to the last fit or partial_fit and is not available after forget."
            )
        aging = self._stream_.aging
        opened = aging.opened[aging.alive]
        found = np.minimum(np.searchsorted(opened, self._homes_), len(opened) - 1)
        return np.where(opened[found] == self._homes_, found, -1)


def _agrees(asked: RadialKernel, resolved: RadialKernel) -> bool:
    """Return True if a resolved kernel is compatible with the requested one."""
    same = isinstance(asked.bandwidth, str) or asked.bandwidth == resolved.bandwidth
    return same and type(asked) is type(resolved)

"""The ``landmarks`` parameter: the points that span the components of a landmark model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils import check_array, check_random_state

from .. import _validation as check
from .._core.sparse import is_sparse
from .._validation import Rows
from ..kernels import AnyKernel
from ..reduced_set import ReducedSet
from ..spectral.landmarks import RULES
from ..spectral.means import Basis, choose_means, default_axes, sample_for_means
from ._sizing import BasisSearch

Array = NDArray[np.floating]

_CANDIDATES = ("means", "rpcholesky")  # for landmarks="auto"
_DEFAULT_ERROR, _DEFAULT_COUNT = 0.01, 100


@dataclass(frozen=True)
class LandmarkRule:
    """The parameters of a landmark model that determine its landmarks.

    Attributes
    ----------
    landmarks, n_centers, max_error, n_axes, n_components, center, random_state
        The parameters of :class:`NystromKernelPCA`.
    """

    landmarks: Any
    n_centers: int | None
    max_error: float | None
    n_axes: int | None
    n_components: int | None
    center: bool
    random_state: Any

    @property
    def is_named(self) -> bool:
        """True if ``landmarks`` is the name of a rule."""
        return isinstance(self.landmarks, str)

    @property
    def wanted_error(self) -> float | None:
        """The error that determines the number of landmarks, or None if the number is given."""
        auto = self.is_named and self.landmarks == "auto"
        return _DEFAULT_ERROR if auto and self.max_error is None else self.max_error

    def count(self, n_rows: int) -> int:
        """Return the number of landmarks if ``max_error`` does not determine it."""
        default = _DEFAULT_COUNT if self.n_centers is None else self.n_centers
        count = default if self.is_named else self.landmarks
        name = "n_centers" if self.is_named else "landmarks"
        check.positive_integer(name, count)
        _check_at_most(name, count, n_rows, "rows with positive weight")
        return int(count)

    def given(self, X: Array) -> Basis | None:
        """Return landmarks that were passed as points, or None if they have yet to be chosen."""
        landmarks = self.landmarks
        if isinstance(landmarks, Basis):
            _check_n_features(landmarks.points, X)
            return landmarks
        if isinstance(landmarks, ReducedSet):
            return Basis(_check_points(landmarks.centers, X))
        if not self.is_named and np.ndim(landmarks) > 0:
            return Basis(_check_points(landmarks, X))
        return None

    def choose(self, kernel: AnyKernel, rows: Rows) -> Basis:
        """Return the requested number of landmarks, chosen by the rule."""
        X, weights = rows.counted
        count, rng = self.count(X.shape[0]), check_random_state(self.random_state)
        if self.is_named and self.landmarks == "means":
            return self._choose_means(X, weights, count, rng)
        rule = RULES[self.landmarks if self.is_named else "uniform"]
        return Basis(X[rule(kernel, X, weights, count, rng)])

    def _choose_means(
        self, X: Array, weights: Array | None, count: int, rng: np.random.RandomState
    ) -> Basis:
        """Return means, or raise if the data have fewer distinct values or axes than requested."""
        n_axes = default_axes(count, self.n_components or 0) if self.n_axes is None else self.n_axes
        if self.n_axes is not None:
            _check_at_most("n_axes", n_axes, X.shape[1], "features")
        means = choose_means(sample_for_means(X, weights, count, rng), count, n_axes, rng)
        if self.n_axes is not None and means.subspace is not None:
            kind = "principal axes with nonzero variance in the sampled rows"
            _check_at_most("n_axes", n_axes, means.subspace.n_axes, kind)
        if len(means) < count:
            raise ValueError(
                f"n_centers={count} means were requested, but the sampled rows have only "
                f"{len(means)} distinct values. Use n_centers={len(means)} or fewer."
            )
        return means

    def search(self, kernel: AnyKernel, rows: Rows) -> BasisSearch:
        """Return a search for landmarks that reach the requested error."""
        assert self.wanted_error is not None
        assert self.n_components is not None
        return BasisSearch(
            kernel,
            rows.counted,
            self.n_components,
            center=self.center,
            rules=_CANDIDATES if self.landmarks == "auto" else (self.landmarks,),
            max_error=self.wanted_error,
            random_state=self.random_state,
        )

    # -------------------------------------------------------------- checks

    def check(self) -> None:
        """Raise if the parameters are invalid or contradict each other."""
        if self.n_centers is not None and not self.is_named:
            raise ValueError(
                f"n_centers={self.n_centers!r} can be set only if landmarks is the name of a rule, "
                f'such as "rpcholesky", got landmarks of type {type(self.landmarks).__name__}.'
            )
        rules = (*RULES, "means", "auto")
        if self.is_named and self.landmarks not in rules:
            raise ValueError(
                f"landmarks must be one of {', '.join(map(repr, rules))}, an integer, an array, a "
                f"density estimator or a ReducedSet, got {self.landmarks!r}."
            )
        if self.wanted_error is not None:
            self._check_wanted_error()
        if self.n_axes is not None:
            self._check_axes()

    def _check_wanted_error(self) -> None:
        check.share("max_error", self.wanted_error, 0.02)
        if self.n_centers is not None or not self.is_named:
            raise ValueError(
                f"max_error={self.wanted_error!r} determines the number of landmarks, so it "
                'requires the name of a rule, such as landmarks="means", and n_centers=None.'
            )
        if self.n_components is None:
            raise ValueError(
                "max_error refers to the leading components, so n_components must be an integer, "
                "got None."
            )

    def _check_axes(self) -> None:
        check.positive_integer("n_axes", self.n_axes)
        if not self.is_named or self.landmarks != "means" or self.wanted_error:
            raise ValueError(
                f'n_axes={self.n_axes!r} can be set only for landmarks="means" without max_error. '
                "Set n_axes to None."
            )


def _check_at_most(name: str, value: int, limit: int, kind: str) -> None:
    """Raise a ValueError if more points or axes are requested than the data have."""
    if value > limit:
        raise ValueError(f"{name} must be at most {limit}, the number of {kind}, got {value}.")


def _check_points(landmarks: Any, X: Array) -> Array:
    """Check user-supplied landmarks and return them in the dtype of the data."""
    points = check_array(landmarks, accept_sparse="csr", dtype=X.dtype, input_name="landmarks")
    points = csr_array(points) if is_sparse(points) else points
    _check_n_features(points, X)
    return points


def _check_n_features(points: Array, X: Array) -> None:
    if points.shape[1] != X.shape[1]:
        raise ValueError(
            f"landmarks must have {X.shape[1]} features, like the data, got {points.shape[1]}. "
            "Compute both from the same columns."
        )

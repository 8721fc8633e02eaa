"""What the Nystrom family shares: landmarks, and the extension through them or the data."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _validation as check
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet
from ..spectral import EigenSystem, nystrom
from ._base import Array
from ._principal import PrincipalComponents

EXTENSIONS = ("landmarks", "data")


_NOT_ORTHOGONAL = (
    'axes through the data are not orthogonal, which this needs; use extension="landmarks".'
)


def _has_orthogonal_axes(estimator: LandmarkKernelPCA) -> bool:
    if estimator.extension == "data":
        raise AttributeError(_NOT_ORTHOGONAL)
    return True


class LandmarkKernelPCA(PrincipalComponents):
    """Kernel PCA through landmarks. A subclass chooses them, and says what they stand for."""

    extension: str
    landmarks_: Array
    _points_: ReducedSet
    _system_: EigenSystem | None

    @abstractmethod
    def _chosen(self, X: Array, weights: Array | None) -> tuple[RadialKernel, ReducedSet]:
        """The kernel with its bandwidth, and the landmarks with weights that sum to n."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.extension not in EXTENSIONS:
            raise ValueError(f'extension must be "landmarks" or "data", got {self.extension!r}.')

    def _started(
        self, X: Any, sample_weight: Any, at_least: int
    ) -> tuple[Array, Array | None, RadialKernel, ReducedSet]:
        """Rows of positive weight, their weights, the kernel and the landmarks."""
        self._check_parameters()
        rows = check.new_rows(self, X, at_least)
        weights = None
        if sample_weight is not None:
            weights = check.sample_weights(sample_weight, len(rows))
            rows, weights = rows[weights > 0], weights[weights > 0]
        return rows, weights, *self._chosen(rows, weights)

    @available_if(_has_orthogonal_axes)
    def reconstruction_error(self, X: Any) -> Array:
        """Squared distance in feature space between points and their projections.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points; one pass over blocks of kernel values.

        Returns
        -------
        ndarray of shape (n_samples,)
            Not negative. Not for ``extension="data"``, whose axes are not orthogonal.
        """
        return super().reconstruction_error(X)

    @available_if(_has_orthogonal_axes)
    def score_samples(self, X: Any) -> Array:
        """Minus :meth:`reconstruction_error`: the larger, the more a point is as the data are.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Not positive. Not for ``extension="data"``.
        """
        return super().score_samples(X)

    def inverse_transform(self, Z: Any, *, method: str = "ridge") -> Array:
        """Points whose coordinates are about these; of noisy points, their denoised selves.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)
            Coordinates, as of ``transform``.
        method : {"ridge", "fixed-point", "distances"}, default="ridge"
            As of :class:`ReducedSetKernelPCA`; only ``"ridge"`` for ``extension="data"``, whose
            axes are not orthogonal.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            float32 for float32 coordinates, else float64.
        """
        if self.extension == "data" and method != "ridge":
            raise ValueError(f"method={method!r}: {_NOT_ORTHOGONAL}")
        return super().inverse_transform(Z, method=method)

    def _known_points(self) -> ReducedSet:
        return self._points_

    def _model_fields(self) -> dict[str, Any]:
        total = self._points_.n_samples
        share = np.full(len(self.landmarks_), total / len(self.landmarks_))
        landmarks = ReducedSet(self.landmarks_, share)
        return {"reduced_set": landmarks, "landmarks": True, "known": self._points_}

    def _count(self) -> int:
        """How many components to look for."""
        return np.iinfo(np.int32).max if self.n_components is None else self.n_components

    def _through_data(
        self, kernel: RadialKernel, landmarks: ReducedSet, data: ReducedSet
    ) -> EigenSystem:
        system = nystrom(kernel, landmarks, data, self._count(), center=self.center)
        self._check_found(len(system.eigenvalues), landmarks.n_centers)
        return system

    def _adopt(
        self, X: Any, kernel: RadialKernel, landmarks: ReducedSet, points: ReducedSet
    ) -> None:
        validate_data(self, X, reset=True, skip_check_array=True)
        self.kernel_, self.landmarks_, self._points_ = kernel, landmarks.centers, points

    @property
    def eigensystem_(self) -> EigenSystem:
        """The solved eigenproblem."""
        check_is_fitted(self)
        return self._system_  # type: ignore[return-value]

    @property
    def n_centers_(self) -> int:
        """m, the number of landmarks."""
        check_is_fitted(self)
        return len(self.landmarks_)


def whole(X: Array, weights: Array | None) -> ReducedSet:
    """All rows, as a reduced set."""
    return ReducedSet(X, np.ones(len(X)) if weights is None else weights)

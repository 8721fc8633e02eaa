"""What every kernel PCA shares: coordinates, pre-images, and what the components leave out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _validation as check
from ..reduced_set import ReducedSet
from ..spectral import Centered, EigenSystem, FeatureSpace, Operator, Plain
from ._base import Array, KernelEmbedding
from .preimages import METHODS, Preimages


class PrincipalComponents(KernelEmbedding):
    """An embedding whose operator is plain, or about the mean: kernel PCA."""

    center: bool
    reduced_set_: ReducedSet
    _preimages_: tuple[EigenSystem, Preimages]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check.boolean("center", self.center)

    def _operator(self) -> Operator:
        return Centered() if self.center else Plain()

    def _coordinates(self, system: EigenSystem, functions: Array) -> Array:
        """sqrt(mu) f(x): the projection on the unit-norm principal axis in H."""
        return functions * np.sqrt(system.eigenvalues).astype(functions.dtype)

    @property
    def explained_variance_ratio_(self) -> Array:
        """Share of the variance in feature space that each component holds."""
        return self.eigensystem_.eigenvalues / self.eigensystem_.trace

    def inverse_transform(self, Z: Any, *, method: str = "ridge") -> Array:
        """Points whose coordinates are about these; of noisy points, their denoised selves.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)
            Coordinates, as of ``transform``.
        method : {"ridge", "fixed-point", "distances"}, default="ridge"
            ``"ridge"``: kernel ridge regression of the weighted centers on their coordinates
            (Bakir, Weston and Schoelkopf 2004), for every kernel; fitted at the first call.
            ``"fixed-point"``: the point whose image is nearest (Mika et al. 1999).
            ``"distances"``: placed by the distances from the nearest centers (Kwok and Tsang
            2004). The last two for the Gaussian kernel.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            float32 for float32 coordinates, else float64.
        """
        check_is_fitted(self)
        if not isinstance(method, str) or method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}.")
        system = self.eigensystem_
        checked = check_array(Z, dtype=check.FLOATS, input_name="Z")
        if checked.shape[1] != len(system.eigenvalues):
            raise ValueError(
                f"Z has {checked.shape[1]} columns, but the model has {len(system.eigenvalues)} "
                "components; pass what transform returns."
            )
        return self._fitted_preimages(system, method)(checked)

    def _fitted_preimages(self, system: EigenSystem, method: str) -> Preimages:
        """Kept until another method is asked for or the model changes."""
        kind = METHODS[method]
        fitted_for, found = self.__dict__.get("_preimages_", (None, None))
        if found is None or fitted_for is not system or not isinstance(found, kind):
            found = kind.fit(system, self._known_points())
            self._preimages_ = system, found
        return found

    def _known_points(self) -> ReducedSet:
        """Points and their weights that a regression learns from."""
        return self.reduced_set_

    def reconstruction_error(self, X: Any) -> Array:
        """Squared distance in feature space between points and their projections.

        Hoffmann, Kernel PCA for novelty detection, 2007: k(x, x) - 2 mu(x) + ||mu||^2 less the
        sum of the squared coordinates, with mu the mean in feature space, zero where the model
        is not centered. With a basis of few points mu is its projection on their span.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points; one pass over blocks of kernel values.

        Returns
        -------
        ndarray of shape (n_samples,)
            Not negative; 0 where the components hold all of the point.
        """
        check_is_fitted(self)
        checked = validate_data(self, X, dtype=check.FLOATS, reset=False)
        return FeatureSpace.of(self.eigensystem_).residuals(checked)

    def score_samples(self, X: Any) -> Array:
        """Minus :meth:`reconstruction_error`: the larger, the more a point is as the data are.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Not positive.
        """
        return -self.reconstruction_error(X)

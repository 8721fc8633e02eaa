"""Kernel PCA models compressed to fewer points."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from .. import _validation as check
from ..kernels import RadialKernel
from ..model import FittedModel
from ..reduced_set import ReducedSet
from ..spectral import EigenSystem

Array = NDArray[np.floating]


class CompressedKernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Fitted kernel PCA whose axes are expanded over fewer points.

    This transformer is returned by :func:`~rskpca.select_reduced_set`,
    :func:`~rskpca.baselines.construct_reduced_set` and :func:`~rskpca.baselines.compress_map`. Like
    scikit-learn's ``FrozenEstimator``, it is always fitted: ``fit`` does nothing, and cloning
    returns the transformer itself.

    Parameters
    ----------
    eigensystem : EigenSystem
        The eigensystem over the new points, with the eigenvalues, trace and residual of the
        original model.
    axis_errors : ndarray of shape (n_components,)
        Distance in H between each unit axis and its approximation.

    Attributes
    ----------
    basis_ : ndarray of shape (n_centers, n_features)
        The points at which ``transform`` evaluates the kernel.
    n_centers_ : int
        Number of these points.
    axis_errors_ : ndarray of shape (n_components,)
        Distance in H between each unit axis and its approximation. The error of a point's
        coordinate is at most this distance times the point's distance from the mean in H.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the original model.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Explained variance ratios of the original model.
    kernel_ : RadialKernel
        The kernel with its bandwidth resolved.
    eigensystem_ : EigenSystem
        The eigensystem over the new points.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Feature names; defined only if the original model has them.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca import ReducedSetKernelPCA, select_reduced_set
    >>> X = load_digits().data
    >>> model = ReducedSetKernelPCA(n_components=2, bandwidth=60.0).fit(X)
    >>> small = select_reduced_set(model, n_centers=50)
    >>> small
    CompressedKernelPCA(50 centers, 2 components)
    >>> small.transform(X).shape
    (1797, 2)
    """

    _model_: FittedModel

    def __init__(self, eigensystem: EigenSystem, axis_errors: Array) -> None:
        self.eigensystem = eigensystem
        self.axis_errors = axis_errors

    @classmethod
    def of(cls, model: Any, eigensystem: EigenSystem, axis_errors: Array) -> Self:
        """Create a transformer with the feature names of the original model.

        Parameters
        ----------
        model : estimator
            The original model.
        eigensystem : EigenSystem
            The eigensystem over the new points.
        axis_errors : ndarray of shape (n_components,)
            Distance in H between each unit axis and its approximation.

        Returns
        -------
        CompressedKernelPCA
            The fitted transformer.
        """
        compressed = cls(eigensystem, axis_errors)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(model, name):
                setattr(compressed, name, getattr(model, name))
        return compressed

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing; the transformer is already fitted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Ignored.
        y : None
            Ignored.

        Returns
        -------
        Self
            The unchanged transformer.
        """
        return self

    def transform(self, X: Any) -> Array:
        """Return the coordinates of new points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New points. They are processed in batches, so that memory use stays small.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The coordinates; float32 for float32 data, else float64.
        """
        checked = check.validate_values(self, X, reset=False)
        return self.model_.embed(checked)

    @property
    def eigensystem_(self) -> EigenSystem:
        """The eigensystem over the new points."""
        return self.eigensystem

    @property
    def model_(self) -> FittedModel:
        """The fitted model over the new points."""
        found: FittedModel | None = self.__dict__.get("_model_")
        if found is None:
            system = self.eigensystem
            total = np.full(len(system.centers), 1.0)
            found = self._model_ = FittedModel(
                system.kernel,
                ReducedSet(system.centers, total),
                system,
                system,
                np.sqrt(system.eigenvalues),
                landmarks=True,
            )
        return found

    @property
    def axis_errors_(self) -> Array:
        """Distance in H between each unit axis and its approximation."""
        return self.axis_errors

    @property
    def basis_(self) -> Array:
        """The points at which ``transform`` evaluates the kernel."""
        return self.eigensystem.centers

    @property
    def n_centers_(self) -> int:
        """The number of points, m."""
        return len(self.basis_)

    @property
    def eigenvalues_(self) -> Array:
        """Eigenvalues of the original model."""
        return self.eigensystem.eigenvalues

    @property
    def explained_variance_ratio_(self) -> Array:
        """Fraction of the feature-space variance explained by each component."""
        return self.eigensystem.eigenvalues / self.eigensystem.trace

    @property
    def kernel_(self) -> RadialKernel:
        """The kernel with its bandwidth resolved."""
        return self.eigensystem.kernel

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def __sklearn_clone__(self) -> Self:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Return a repr with the sizes instead of the parameters, which are arrays."""
        return (
            f"CompressedKernelPCA({self.n_centers_} centers, {len(self.eigenvalues_)} components)"
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

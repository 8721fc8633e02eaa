"""Kernel PCA models compressed to fewer points, and the principal axes that they approximate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .. import _validation as check
from .._core import gram
from ..kernels import Gaussian, RadialKernel
from ..model import FittedModel
from ..reduced_set import ReducedSet
from ..spectral import EigenSystem, FittedCentered, Moments, Plain, Shifted
from ._base import KernelEmbedding

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
        Number of points, m.
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
        """Return a transformer that takes the same features as the original estimator."""
        compressed = cls(eigensystem, axis_errors)
        compressed.n_features_in_ = model.n_features_in_
        if "feature_names_in_" in vars(model):
            compressed.feature_names_in_ = model.feature_names_in_
        return compressed

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing; the transformer is already fitted."""
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


@dataclass(frozen=True, eq=False)
class Axes:
    """Unit principal axes in H and the mean of the data in H, expanded over the centers.

    The axes are v_k = sum_j coefficients_jk psi(c_j), and the mean is sum_j shares_j psi(c_j), or
    zero if ``shares`` is None. The coordinates of a point x are <psi(x) - mean, v_k>.
    """

    model: Any
    system: EigenSystem
    centers: Array
    coefficients: Array
    shares: Array | None

    @classmethod
    def of(cls, model: Any, n_centers: object) -> Axes:
        """Return the axes of a fitted model after validating the model and n_centers."""
        system = _eigensystem(model)
        check.positive_integer("n_centers", n_centers)
        if n_centers > len(system.centers):  # type: ignore[operator]
            raise ValueError(
                f"n_centers must be at most {len(system.centers)}, the number of centers of the "
                f"model, got {n_centers}. Decrease n_centers or fit a model with more centers."
            )
        expansion, shares = _on_the_kernel(model, system)
        unit = expansion * np.sqrt(system.eigenvalues)
        return cls(model, system, system.centers.astype(np.float64), unit, shares)

    @property
    def kernel(self) -> RadialKernel:
        return self.system.kernel

    def at(self, Z: Array) -> Array:
        """Return v_k(z) = <v_k, psi(z)>, one row per point."""
        return self._sums(Z, self.coefficients)

    def means_at(self, Z: Array) -> Array:
        """Return <mean, psi(z)> for each point."""
        return (
            np.zeros(len(Z)) if self.shares is None else self._sums(Z, self.shares[:, None])[:, 0]
        )

    def _sums(self, Z: Array, columns: Array) -> Array:
        centers = self.system.prepare_centers(np.float64)
        return gram.product(self.kernel, Z, centers, gram.multiplier(columns), columns.shape[1])

    def projected(self, Z: Array) -> tuple[Array, Array]:
        """Project the axes onto the span of psi(Z); return independent points and coefficients."""
        # The coefficients A solve K_ZZ A = <psi(Z), v>: A = T T' <psi(Z), v>, K_ZZ^{-1} = T T'.
        span = Moments.of(self.kernel, Z)
        return span.basis, span.columns @ (span.columns.T @ self.at(span.basis))

    def compressed(self, Z: Array, coefficients: Array | None = None) -> CompressedKernelPCA:
        """Return the model in terms of Z; by default, project the axes onto the span of psi(Z)."""
        Z = Z.astype(self.system.centers.dtype)
        if coefficients is None:
            Z, coefficients = self.projected(Z)
        operator = Plain() if self.shares is None else self._shifted(Z)
        subspace = self.system.subspace
        system = replace(
            self.system,
            operator=operator,
            centers=Z,
            coefficients=coefficients / np.sqrt(self.system.eigenvalues),
            subspace=subspace if subspace is not None and subspace.serves(Z) else None,
        )
        system = replace(system, functions=system.extend(Z.astype(np.float64)))
        return CompressedKernelPCA.of(self.model, system, self._errors(Z, coefficients))

    def _shifted(self, Z: Array) -> Shifted:
        """Return an operator with the mean evaluated at Z and projected onto the span of psi(Z)."""
        means = self.means_at(Z)
        return Shifted(means, lstsq(gram.gram(self.kernel, Z, Z), means, cond=1e-12)[0])

    def _errors(self, Z: Array, coefficients: Array) -> Array:
        """Return the distances ||v - v'||, where v' = sum_j coefficients_j psi(z_j)."""
        lengths = np.sum(self.coefficients * self.at(self.centers), axis=0)
        products = np.sum(coefficients * self.at(Z), axis=0)
        squares = np.sum(coefficients * (gram.gram(self.kernel, Z, Z) @ coefficients), axis=0)
        return np.sqrt(np.maximum(lengths - 2 * products + squares, 0))


def _eigensystem(model: Any) -> EigenSystem:
    wrong = (
        "model must be a fitted kernel PCA model such as "
        f"ReducedSetKernelPCA(n_components=5).fit(X), got {model!r}."
    )
    if not isinstance(model, KernelEmbedding | CompressedKernelPCA):
        raise TypeError(wrong)
    check_is_fitted(model)
    return model.model_.system


def _on_the_kernel(model: Any, system: EigenSystem) -> tuple[Array, Array | None]:
    """Return the coefficients of the eigenfunctions, and those of the mean.

    The coefficients are with respect to the functions k(., c_j). Without centering, those of the
    mean are None.
    """
    operator = system.operator
    if isinstance(operator, Plain):
        return system.coefficients, None
    if isinstance(operator, FittedCentered | Shifted):
        return operator.columns(system.coefficients), operator.shares
    raise TypeError(
        f"Only kernel PCA models have axes in feature space that can be compressed, but "
        f"{type(model).__name__} uses the operator {type(operator).__name__}. Pass a model such "
        "as ReducedSetKernelPCA(n_components=5).fit(X)."
    )


def require_gaussian(kernel: RadialKernel, name: str) -> Gaussian:
    """Return the kernel if it is Gaussian, so that its gradient is available; else raise."""
    if not isinstance(kernel, Gaussian):
        raise ValueError(
            f"{name} requires a Gaussian kernel, whose gradient it uses, but the model's kernel "
            f"is {kernel!r}. Use select_reduced_set, which supports every kernel."
        )
    return kernel

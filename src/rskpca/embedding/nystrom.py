"""Nystrom method: kernel PCA of all the data in the span of a few landmarks."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .. import _validation as check
from .._validation import Rows, validate_more_rows, validate_points, validate_rows
from ..density import BaseDensity
from ..density._base import claim_kernel
from ..kernels import RadialKernel, as_kernel
from ..model import FittedModel
from ..reduced_set import ReducedSet
from ..spectral import EigenSystem, Moments, nystrom, ritz
from ..spectral.landmarks import RULES
from ._base import Array, KernelEmbedding, check_components
from .kernel_pca import invert

_EXTENSIONS = ("landmarks", "data")
_NOT_ORTHOGONAL = (
    'This method requires orthogonal axes, which extension="data" does not produce. Use '
    'extension="landmarks".'
)


def _has_orthogonal_axes(estimator: NystromKernelPCA) -> bool:
    if estimator.extension == "data":
        raise AttributeError(_NOT_ORTHOGONAL)
    return True


def _keeps_no_data(estimator: NystromKernelPCA) -> bool:
    if estimator.extension == "data":
        raise AttributeError(
            'partial_fit requires extension="landmarks", got extension="data", which stores all '
            "rows."
        )
    if not estimator._takes_chunks:
        raise AttributeError(
            f"{type(estimator).__name__} does not support partial_fit. Call fit with all rows."
        )
    return True


class NystromKernelPCA(KernelEmbedding):
    """Kernel PCA of all the data in the span of a few landmarks.

    Parameters
    ----------
    n_components : int, default=None
        Number of components. None keeps every component with a positive eigenvalue.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        The kernel. None means the kernel of the density passed as ``landmarks`` if it has one,
        else the Gaussian.
    gamma : float, default=None
        scikit-learn's kernel parameter, for a kernel given by name; for the Gaussian,
        ``gamma = 1 / bandwidth**2``.
    bandwidth : float or "median", default=None
        sigma, for a kernel given by name. None means the median pairwise distance in a sample.
    landmarks : str, int, array, density estimator or ReducedSet, default="uniform"
        A string is a rule that chooses ``n_centers`` rows: ``"uniform"``, ``"cholesky"``
        (incomplete, pivoted), ``"rpcholesky"`` (randomly pivoted) or ``"leverage"`` (ridge
        leverage scores). An integer is a number of rows drawn uniformly. An array of points, or
        the centers of a ReducedSet, are used directly. A density is fitted to the data, and its
        centers are used.
    n_centers : int, default=None
        Number of landmarks m, for a rule given by name. None means 100.
    extension : {"landmarks", "data"}, default="landmarks"
        ``"landmarks"`` applies Rayleigh-Ritz in the span of the landmarks; the data are read once
        and not stored, and embedding a new point takes O(m) time. ``"data"``, the method that the
        paper compares with, extends the eigenvectors of K_mm to all n points, which are stored;
        embedding a new point takes O(n) time.
    center : bool, default=True
        If True, center the data in feature space, as scikit-learn does. If False, use the
        uncentered operator of the paper.
    random_state : int, RandomState or None, default=0
        Seed for the landmarks and for the sample from which the median bandwidth is computed.

    Attributes
    ----------
    landmarks_ : ndarray of shape (n_centers, n_features)
        The landmarks.
    n_centers_ : int
        Number of landmarks, m.
    basis_ : ndarray of shape (n_basis, n_features)
        The points at which ``transform`` evaluates the kernel: the non-redundant landmarks, or
        all the data with ``extension="data"``.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues in descending order, scaled like ``KernelPCA.eigenvalues_``.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Fraction of the feature-space variance explained by each component (with
        ``center=False``, of the second moment). With ``extension="landmarks"`` it is a lower
        bound, because the mean is known only in the span of the landmarks; with
        ``extension="data"`` it refers to the variance of the landmarks.
    kernel_ : RadialKernel
        The kernel with its bandwidth resolved.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Feature names seen during ``fit``; defined only if X has feature names.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca import NystromKernelPCA
    >>> X = load_digits().data
    >>> model = NystromKernelPCA(2, landmarks="rpcholesky", n_centers=50).fit(X)
    >>> model.transform(X).shape, model.basis_.shape
    ((1797, 2), (50, 64))
    """

    _takes_chunks = True
    landmarks_: Array
    _landmarks_: ReducedSet
    _moments_: Moments | None

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: RadialKernel | str | None = None,
        gamma: float | None = None,
        bandwidth: float | str | None = None,
        landmarks: Any = "uniform",
        n_centers: int | None = None,
        extension: str = "landmarks",
        center: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.bandwidth = bandwidth
        self.landmarks = landmarks
        self.n_centers = n_centers
        self.extension = extension
        self.center = center
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the landmarks and solve the eigenproblem in their span.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data with at least two rows.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        Self
            The fitted estimator.
        """
        self._check_parameters()
        rows = validate_rows(self, X, sample_weight)
        kernel, landmarks = self._choose_landmarks(rows)
        moments = None
        if self.extension == "data":
            model = self._through_data(kernel, landmarks, rows)
        else:
            moments = Moments.of(kernel, landmarks.centers).add(*_counted(rows))
            model = self._through_landmarks(landmarks, moments)
        return self._store_landmarks(rows, kernel, landmarks, moments, model)

    @available_if(_keeps_no_data)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to the operator. The first chunk fixes the kernel and the landmarks.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        Self
            The estimator. The eigenproblem is solved when its result is first used.
        """
        self._check_parameters()
        if not self._is_fitted:
            rows = validate_rows(self, X, sample_weight, min_rows=1)
            kernel, landmarks = self._choose_landmarks(rows)
            moments = Moments.of(kernel, landmarks.centers).add(*_counted(rows))
            return self._store_landmarks(rows, kernel, landmarks, moments, None)
        if self._moments_ is None:
            raise ValueError(
                'partial_fit cannot continue a fit with extension="data". Call fit again with '
                'extension="landmarks".'
            )
        rows = validate_more_rows(self, X, sample_weight, all_zero=False)
        self._moments_ = self._moments_.add(rows.X, rows.given_weights)
        self._solved_ = None
        return self

    def _store_landmarks(
        self,
        rows: Rows,
        kernel: RadialKernel,
        landmarks: ReducedSet,
        moments: Moments | None,
        model: FittedModel | None,
    ) -> Self:
        """Store the result of a fit, after everything that can fail has succeeded."""
        rows.name_features(self)
        self.kernel_, self.landmarks_, self._landmarks_ = kernel, landmarks.centers, landmarks
        self._moments_ = moments
        self._solved_ = None if model is None else (moments, model)
        return self

    @property
    def _is_fitted(self) -> bool:
        return "landmarks_" in self.__dict__

    def _summary(self) -> Moments | None:
        return self._moments_

    def _solve(self, summary: Any) -> FittedModel:
        return self._through_landmarks(self._landmarks_, summary)

    def _decompose(self, kernel: RadialKernel, reduced_set: ReducedSet) -> FittedModel:
        """Solve the eigenproblem for weighted landmarks that represent the data."""
        moments = Moments.of(kernel, reduced_set.centers)
        moments = moments.add(reduced_set.centers, reduced_set.weights)
        return self._through_landmarks(reduced_set, moments)

    def _through_landmarks(self, landmarks: ReducedSet, moments: Moments) -> FittedModel:
        """Solve the eigenproblem of the data by Rayleigh-Ritz in the span of the landmarks."""
        system = ritz(moments, self._count(), center=self.center)
        return self._model(landmarks, system, len(moments.basis), known=landmarks)

    def _through_data(self, kernel: RadialKernel, landmarks: ReducedSet, rows: Rows) -> FittedModel:
        """Extend the eigenvectors of the landmark Gram matrix to all rows."""
        data = ReducedSet(*rows.positive)
        system = nystrom(kernel, landmarks, data, self._count(), center=self.center)
        return self._model(landmarks, system, landmarks.n_centers, known=data)

    def _model(
        self, points: ReducedSet, system: EigenSystem, n_points: int, **fields: Any
    ) -> FittedModel:
        found = len(system.eigenvalues)
        check_components("n_components", self.n_components, found, n_points, "landmarks")
        scale = np.sqrt(system.eigenvalues)
        fields = {"landmarks": True, **fields}
        return FittedModel(system.kernel, points, system, system, scale, **fields)

    def _count(self) -> int:
        """Return the number of components to compute."""
        return np.iinfo(np.int32).max if self.n_components is None else self.n_components

    # -------------------------------------------------------------- landmarks

    def _choose_landmarks(self, rows: Rows) -> tuple[RadialKernel, ReducedSet]:
        """Return the resolved kernel and the landmarks, with equal weights that sum to n."""
        kernel, points = self._kernel_and_points(rows)
        total = float(rows.weights.sum())
        return kernel, ReducedSet(points, np.full(len(points), total / len(points)))

    def _kernel_and_points(self, rows: Rows) -> tuple[RadialKernel, Array]:
        landmarks, (X, weights) = self.landmarks, _counted(rows)
        if isinstance(landmarks, BaseDensity):
            density = clone(landmarks)
            kernel = self._resolve_kernel(rows, density)
            return kernel, density.summarize(rows, kernel).reduced_set_.centers
        asked = as_kernel(self.kernel, self.gamma, self.bandwidth)
        if isinstance(landmarks, ReducedSet):
            points = _check_landmarks(landmarks.centers, X)
        elif isinstance(landmarks, str) or np.ndim(landmarks) == 0:
            rule, count = self._rule_and_count(len(X))
            kernel = asked.resolve(X, weights, self.random_state)
            rng = check_random_state(self.random_state)
            return kernel, X[rule(kernel, X, weights, count, rng)]
        else:
            points = _check_landmarks(landmarks, X)
        return asked.resolve(X, weights, self.random_state), points

    def _rule_and_count(self, n_rows: int) -> tuple[Any, int]:
        named = isinstance(self.landmarks, str)
        if named and self.landmarks not in RULES:
            raise ValueError(
                f"landmarks must be one of {', '.join(map(repr, RULES))}, an integer, an array, a "
                f"density estimator or a ReducedSet, got {self.landmarks!r}."
            )
        default = 100 if self.n_centers is None else self.n_centers
        count = default if named else self.landmarks
        name = "n_centers" if named else "landmarks"
        check.positive_integer(name, count)
        if count > n_rows:
            raise ValueError(
                f"{name} must be at most {n_rows}, the number of rows with positive weight, "
                f"got {count}."
            )
        return RULES[self.landmarks if named else "uniform"], count

    def _fix_bandwidth(self, rows: Rows) -> Self:
        asked: Any = self.kernel, self.gamma, self.bandwidth
        if isinstance(self.landmarks, BaseDensity):
            kernel, given = claim_kernel(self.landmarks, asked, type(self).__name__)
        else:
            kernel, given = as_kernel(*asked), False
        kernel = kernel.resolve(rows.X, rows.given_weights, self.random_state)
        fixed = clone(self).set_params(kernel=kernel, gamma=None, bandwidth=None)
        if given:
            fixed.set_params(landmarks=clone(self.landmarks)._drop_kernel())
        return fixed

    def _check_parameters(self) -> None:
        if self.n_components is not None:
            check.positive_integer("n_components", self.n_components)
        check.boolean("center", self.center)
        check.one_of("extension", self.extension, _EXTENSIONS)
        self._check_landmarks()

    def _check_landmarks(self) -> None:
        if self.n_centers is not None and not isinstance(self.landmarks, str):
            raise ValueError(
                f"n_centers={self.n_centers!r} can be set only if landmarks is the name of a rule, "
                f'such as "rpcholesky", got landmarks of type {type(self.landmarks).__name__}.'
            )

    def _refuse_stream(self, verb: str) -> None:
        raise AttributeError(f"{type(self).__name__} does not support {verb}.")

    # -------------------------------------------------------------- fitted results

    @property
    def reduced_set_(self) -> ReducedSet:
        """Not available, because landmarks do not represent the data."""
        raise AttributeError(
            f"{type(self).__name__} does not have a reduced_set_. Use landmarks_ instead."
        )

    @property
    def n_centers_(self) -> int:
        """The number of landmarks, m."""
        check_is_fitted(self)
        return len(self.landmarks_)

    @property
    def explained_variance_ratio_(self) -> Array:
        """Fraction of the feature-space variance explained by each component."""
        return self.model_.explained_variance_ratio  # type: ignore[return-value]

    @available_if(_has_orthogonal_axes)
    def reconstruction_error(self, X: Any) -> Array:
        """Return the squared distance in feature space between points and their projections.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Non-negative errors. Not available with ``extension="data"``, which does not produce
            orthogonal axes.
        """
        return self.model_.residuals(validate_points(self, X))

    @available_if(_has_orthogonal_axes)
    def score_samples(self, X: Any) -> Array:
        """Return the negative :meth:`reconstruction_error`; higher means more like the data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Non-positive scores. Not available with ``extension="data"``.
        """
        return -self.reconstruction_error(X)

    def inverse_transform(
        self, Z: Any, *, method: str = "ridge", alpha: float | None = None
    ) -> Array:
        """Return points with approximately these coordinates.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)
            Coordinates, as returned by ``transform``.
        method : {"ridge", "fixed-point", "distances"}, default="ridge"
            See :meth:`ReducedSetKernelPCA.inverse_transform`. With ``extension="data"``, only
            ``"ridge"`` is available, because the axes are not orthogonal.
        alpha : float, default=None
            The ridge of ``method="ridge"``; see :meth:`ReducedSetKernelPCA.inverse_transform`.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The points; float32 for float32 coordinates, else float64.
        """
        if self.extension == "data" and method != "ridge":
            raise ValueError(
                f'method={method!r} is not available with extension="data". Use "ridge".'
            )
        return invert(self.model_, Z, method, alpha)


def _counted(rows: Rows) -> tuple[Array, Any]:
    """Return the rows with positive weight, and their weights or None if unweighted."""
    X, weights = rows.positive
    return X, weights if rows.weighted else None


def _check_landmarks(landmarks: Any, X: Array) -> Array:
    """Check user-supplied landmarks and return them in the dtype of the data."""
    points = check_array(landmarks, dtype=X.dtype, input_name="landmarks")
    if points.shape[1] != X.shape[1]:
        raise ValueError(
            f"landmarks must have {X.shape[1]} features, like the data, got {points.shape[1]}. "
            "Compute both from the same columns."
        )
    return points

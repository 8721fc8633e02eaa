"""The Nystrom method: kernel PCA of all the data in the span of a few landmarks."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _validation as check
from ..density import BaseDensity
from ..kernels import RadialKernel, as_kernel
from ..reduced_set import ReducedSet
from ..spectral import EigenSystem, Moments, ritz
from ..spectral.landmarks import RULES
from ._base import Array
from ._landmark import LandmarkKernelPCA, whole


def _keeps_no_data(estimator: NystromKernelPCA) -> bool:
    if estimator.extension == "data":
        raise AttributeError(
            'partial_fit needs extension="landmarks", got "data", which keeps all rows.'
        )
    return True


class NystromKernelPCA(LandmarkKernelPCA):
    """Kernel PCA of all the data in the span of a few landmarks.

    Parameters
    ----------
    n_components : int, default=None
        r. None keeps every component with a positive eigenvalue.
    kernel : RadialKernel, "rbf", "gaussian", "laplacian" or None, default=None
        None is the Gaussian, or the kernel of a density that is given as ``landmarks``.
    gamma : float, default=None
        With a kernel's name: scikit-learn's parameter, 1 / bandwidth^2 for the Gaussian.
    bandwidth : float or "median", default=None
        With a kernel's name: sigma. None is the median pairwise distance of a sample.
    landmarks : str, int, array, density estimator or ReducedSet, default="uniform"
        A rule that chooses ``n_centers`` rows: ``"uniform"``, ``"cholesky"`` (incomplete,
        pivoted), ``"rpcholesky"`` (randomly pivoted) or ``"leverage"`` (ridge leverage scores).
        A number is that many uniform rows. An array of points is taken as it is; so are the
        centers of a reduced set, or of a density that is fitted to the data.
    n_centers : int, default=None
        m, for a rule's name; None is 100.
    extension : {"landmarks", "data"}, default="landmarks"
        ``"landmarks"`` is Rayleigh-Ritz on the span of the landmarks: the data are read in
        blocks and not kept, and a new point costs O(m). ``"data"`` is the method as the paper
        compares with: eigenvectors of K_mm, extended to all n points, which are kept; a new
        point costs O(n).
    center : bool, default=True
        True is scikit-learn's kernel PCA, about the mean in feature space; False is the
        paper's operator.
    random_state : int, RandomState or None, default=0
        Seed of the landmarks, and of the sample that the median bandwidth is taken from.

    Attributes
    ----------
    landmarks_ : ndarray of shape (n_centers, n_features)
        The landmarks.
    n_centers_ : int
        m, their number.
    basis_ : ndarray of shape (n_basis, n_features)
        The points that ``transform`` evaluates the kernel at: the landmarks less those that
        others make redundant, or all the data.
    eigenvalues_ : ndarray of shape (n_components,)
        Descending, on the scale of ``KernelPCA.eigenvalues_``.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the variance in feature space (with ``center=False``, of the second moment). Of
        that of the landmarks with ``extension="data"``; else at least this share, as the mean is
        known in the span of the landmarks only.
    kernel_ : RadialKernel
        The kernel with a number for its bandwidth.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has them.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca import NystromKernelPCA
    >>> X = load_digits().data
    >>> model = NystromKernelPCA(2, landmarks="rpcholesky", n_centers=50).fit(X)
    >>> model.transform(X).shape, model.basis_.shape
    ((1797, 2), (50, 64))
    """

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
        """Choose the landmarks, and solve for the data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data, at least two rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        NystromKernelPCA
            Itself.
        """
        rows, weights, kernel, landmarks = self._started(X, sample_weight, at_least=2)
        points, moments = landmarks, None
        if self.extension == "data":
            points = whole(rows, weights)
            system = self._through_data(kernel, landmarks, points)
        else:
            moments = Moments.of(kernel, landmarks.centers).add(rows, weights)
            system = self._solved(moments)
        self._adopt(X, kernel, landmarks, points)
        self._moments_, self._system_ = moments, system
        return self

    @available_if(_keeps_no_data)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to the operator. The first chunk fixes the kernel and the landmarks.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        NystromKernelPCA
            Itself; its eigenproblem is solved when an answer is asked for.
        """
        self._check_parameters()
        if not hasattr(self, "landmarks_"):
            rows, weights, kernel, landmarks = self._started(X, sample_weight, at_least=1)
            moments = Moments.of(kernel, landmarks.centers).add(rows, weights)
            self._adopt(X, kernel, landmarks, landmarks)
        elif self._moments_ is None:
            raise ValueError(
                'partial_fit goes on from a fit with extension="landmarks", not "data".'
            )
        else:
            rows = validate_data(self, X, dtype=check.FLOATS, reset=False)
            given = sample_weight is not None
            weights = check.sample_weights(sample_weight, len(rows)) if given else None
            moments = self._moments_.add(rows, weights)
        self._moments_, self._system_ = moments, None
        return self

    @property
    def eigensystem_(self) -> EigenSystem:
        """The solved eigenproblem; solved now if the data changed."""
        check_is_fitted(self)
        if self._system_ is None:
            self._system_ = self._solved(self._moments_)  # type: ignore[arg-type]
        return self._system_

    def _solved(self, moments: Moments) -> EigenSystem:
        system = ritz(moments, self._count(), center=self.center)
        self._check_found(len(system.eigenvalues), len(moments.basis))
        return system

    def _chosen(self, X: Array, weights: Array | None) -> tuple[RadialKernel, ReducedSet]:
        total = float(len(X) if weights is None else weights.sum())
        kernel, points = self._kernel_and_points(X, weights)
        return kernel, ReducedSet(points, np.full(len(points), total / len(points)))

    def _kernel_and_points(self, X: Array, weights: Array | None) -> tuple[RadialKernel, Array]:
        landmarks = self.landmarks
        if isinstance(landmarks, BaseDensity):
            kernel, density = self._lent_kernel(clone(landmarks), X, weights)
            return kernel, density.fit(X, sample_weight=weights).reduced_set_.centers
        kernel = as_kernel(self.kernel, self.gamma, self.bandwidth)
        if isinstance(landmarks, ReducedSet):
            points = _given(landmarks.centers, X)
        elif isinstance(landmarks, str) or np.ndim(landmarks) == 0:
            rule, count = self._rule_and_count(X)
            kernel = kernel.resolve(X, weights, self.random_state)
            rng = check_random_state(self.random_state)
            return kernel, X[rule(kernel, X, weights, count, rng)]
        else:
            points = _given(landmarks, X)
        return kernel.resolve(X, weights, self.random_state), points

    def _rule_and_count(self, X: Array) -> tuple[Any, int]:
        named = isinstance(self.landmarks, str)
        if named and self.landmarks not in RULES:
            raise ValueError(
                f"landmarks must be one of {', '.join(map(repr, RULES))}, a number, an array, a "
                f"density estimator or a ReducedSet, got {self.landmarks!r}."
            )
        default = 100 if self.n_centers is None else self.n_centers
        count = default if named else self.landmarks
        name = "n_centers" if named else "landmarks"
        check.positive_integer(name, count)
        if count > len(X):
            raise ValueError(
                f"{name}={count} is more than the {len(X)} rows of positive weight; "
                "ask for at most as many."
            )
        return RULES[self.landmarks if named else "uniform"], count

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_centers is not None and not isinstance(self.landmarks, str):
            raise ValueError(
                f"n_centers={self.n_centers!r} goes with a rule's name such as "
                '"rpcholesky"; landmarks already say how many.'
            )


def _given(landmarks: Any, X: Array) -> Array:
    """Points of the user, in the dtype of the data."""
    points = check_array(landmarks, dtype=X.dtype, input_name="landmarks")
    if points.shape[1] != X.shape[1]:
        raise ValueError(
            f"landmarks have {points.shape[1]} features, but the data have {X.shape[1]}; "
            "both must come from the same columns."
        )
    return points

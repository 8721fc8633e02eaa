"""Nystrom method: kernel PCA of all the data in the span of a few landmarks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import reduce
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .. import _validation as check
from .._core.parallel import one_at_a_time
from .._core.sparse import same_rows
from .._validation import Rows, validate_more_rows, validate_points, validate_rows
from ..density import BaseDensity
from ..density._base import claim_kernel
from ..kernels import AnyKernel, RadialKernel, as_kernel
from ..model import FittedModel
from ..reduced_set import ReducedSet
from ..row_sample import RowSample
from ..spectral import EigenSystem, Moments, nystrom
from ..spectral.means import Basis
from ._base import Array, KernelEmbedding, check_components, ritz_with_more
from ._landmarks import LandmarkRule
from ._sizing import BasisSearch
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


def _keeps_sums(verb: str) -> Callable[[NystromKernelPCA], bool]:
    """Return a check for ``available_if`` that raises unless sums over the rows are kept."""

    def check_sums(estimator: NystromKernelPCA) -> bool:
        if estimator.extension == "data":
            raise AttributeError(
                f'{verb} requires extension="landmarks", got extension="data", which stores all '
                "rows."
            )
        estimator._refuse_stream(verb)
        return True

    return check_sums


class NystromKernelPCA(KernelEmbedding):
    """Kernel PCA of all the data in the span of a few landmarks.

    Parameters
    ----------
    n_components : int, default=None
        Number of components. None keeps every component with a positive eigenvalue.
    kernel : RadialKernel, Kernel, "rbf", "gaussian", "laplacian" or None, default=None
        The kernel; :class:`rskpca.kernels.Kernel` wraps any positive definite one. None means the
        kernel of the density passed as ``landmarks`` if it has one, else the Gaussian.
    gamma : float, default=None
        scikit-learn's kernel parameter, for a kernel given by name; for the Gaussian,
        ``gamma = 1 / bandwidth**2``.
    bandwidth : float, "median", "neighbors", "slope" or "reconstruction", default=None
        sigma, for a kernel given by name, or a rule that computes it from a sample of the rows (see
        :class:`Gaussian`). None means ``"median"``, the median pairwise distance.
    landmarks : str, int, array, density estimator or ReducedSet, default="uniform"
        A string is a rule that chooses ``n_centers`` rows: ``"uniform"``, ``"cholesky"``
        (incomplete, pivoted), ``"rpcholesky"`` (randomly pivoted) or ``"leverage"`` (ridge
        leverage scores). ``"means"`` uses k-means centroids in the span of the leading principal
        axes, which are much more accurate than the same number of rows, and faster if there are
        many features. ``"auto"`` tries means and randomly pivoted Cholesky, and uses the better
        one. An integer is a number of rows drawn uniformly. An array of points, the centers of a
        ReducedSet, or the ``shared_landmarks_`` of a fitted model are used directly. A density is
        fitted to the data, and its centers are used.
    n_centers : int, default=None
        Number of landmarks m, for a rule given by name. None means 100, or as many as
        ``max_error`` requires.
    max_error : float, default=None
        The largest acceptable error of the embedding, instead of ``n_centers``. The number of
        landmarks grows until the upper limit of the estimated error (``certificate_.embedding``)
        is at most this value. With ``landmarks="auto"``, the default is 0.01.
    n_axes : int, default=None
        Number of principal axes for ``landmarks="means"``. None means 15 + n_centers / 5, but at
        least twice the number of components.
    extension : {"landmarks", "data"}, default="landmarks"
        ``"landmarks"`` applies Rayleigh-Ritz in the span of the landmarks; the data are read once
        and not stored, and embedding a new point takes O(m) time. ``"data"``, the baseline method
        in the paper, extends the eigenvectors of K_mm to all n points, which are stored;
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
    shared_landmarks_ : Basis
        The landmarks as an object that other models accept as ``landmarks``. Models with the same
        landmarks can be merged with :func:`rskpca.merge`.
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
    kernel_ : RadialKernel or Kernel
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
    _takes_sparse_rows = True
    _takes_any_kernel = True
    kernel_: AnyKernel
    landmarks_: Array
    _landmarks_: ReducedSet
    _moments_: Moments | None

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: AnyKernel | str | None = None,
        gamma: float | None = None,
        bandwidth: float | str | None = None,
        landmarks: Any = "uniform",
        n_centers: int | None = None,
        max_error: float | None = None,
        n_axes: int | None = None,
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
        self.max_error = max_error
        self.n_axes = n_axes
        self.extension = extension
        self.center = center
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the landmarks and solve the eigenproblem in their span.

        Parameters
        ----------
        X : {array-like, sparse array} of shape (n_samples, n_features)
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
        kernel, basis, search = self._choose_basis(rows)
        if self.extension == "data":
            landmarks = self._landmarks(basis, rows)
            model = self._through_data(kernel, landmarks, rows)
            return self._store_landmarks(rows, kernel, landmarks, None, model)
        better: Basis | None = basis
        while better is not None:
            sample = search.sample_for(len(better)) if search else None
            solved = self._solve_basis(rows, kernel, better, sample)
            better = search.improve(better, solved[2], solved[1]) if search else None
        return self._store_landmarks(rows, kernel, *solved)

    def fit_basis(
        self, rows: Rows, kernel: AnyKernel, basis: Basis, sample: RowSample | None = None
    ) -> Self:
        """Solve the eigenproblem of validated rows in the span of given landmarks.

        Parameters
        ----------
        rows : Rows
            The rows and their weights.
        kernel : RadialKernel or Kernel
            The kernel with its bandwidth resolved.
        basis : Basis
            The landmarks.
        sample : RowSample, default=None
            A sample of the rows. If None, one is drawn.

        Returns
        -------
        Self
            The fitted estimator.
        """
        return self._store_landmarks(rows, kernel, *self._solve_basis(rows, kernel, basis, sample))

    def _solve_basis(
        self, rows: Rows, kernel: AnyKernel, basis: Basis, sample: RowSample | None
    ) -> tuple[ReducedSet, Moments, FittedModel]:
        landmarks = self._landmarks(basis, rows, sample)
        moments = Moments.of(kernel, basis.points, basis.subspace).add(*rows.counted)
        return landmarks, moments, self._through_landmarks(landmarks, moments)

    @available_if(_keeps_sums("partial_fit"))
    @one_at_a_time
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
            kernel, basis, _ = self._choose_basis(rows, once=True)
            moments = Moments.of(kernel, basis.points, basis.subspace).add(*rows.counted)
            return self._store_landmarks(rows, kernel, self._landmarks(basis, rows), moments, None)
        held = self._sums("partial_fit")
        rows = validate_more_rows(self, X, sample_weight, all_zero=False)
        moments = held.add(rows.X, rows.given_weights)
        self._landmarks_ = _represent(self._landmarks_, moments.total, rows)
        self._moments_, self._solved_ = moments, None
        return self

    @available_if(_keeps_sums("forget"))
    @one_at_a_time
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Remove rows that were added before.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows that were added by earlier calls.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights with which the rows were added.

        Returns
        -------
        Self
            The estimator, with the same landmarks. If the rows weigh more than all rows of the
            model, an error is raised and nothing changes. Because rows are not stored, there is no
            check that they were added before.
        """
        check_is_fitted(self)
        self._check_parameters()
        held = self._sums("forget")
        rows = validate_more_rows(self, X, sample_weight, all_zero=False)
        moments = held.remove(rows.X, rows.given_weights)
        self._landmarks_ = _withdraw(self._landmarks_, moments.total, rows)
        self._moments_, self._solved_ = moments, None
        return self

    def _merge(self, others: Sequence[Any]) -> Self:
        """Return the embedding for the combined data; see :func:`rskpca.merge`."""
        self._check_parameters()
        models: tuple[Any, ...] = (self, *others)
        sums = [model._sums("merge") for model in models]
        for i, other in enumerate(others, start=1):
            if not same_rows(self.landmarks_, other.landmarks_):
                raise ValueError(
                    f"merge requires models with the same landmarks, but models 0 and {i} have "
                    "different ones. Fit the others as NystromKernelPCA with "
                    "landmarks=first.shared_landmarks_, where first is a fitted NystromKernelPCA "
                    "or the embedding_ of a KernelPCA."
                )
        merged = clone(self)
        merged.kernel_, merged.landmarks_, merged._solved_ = self.kernel_, self.landmarks_, None
        merged._moments_ = reduce(Moments.merge, sums)
        merged._landmarks_ = reduce(_join, [model._landmarks_ for model in models])
        return merged

    @property
    def takes_more(self) -> bool:
        """True if rows can be added to the fitted model."""
        return self._moments_ is not None

    def _sums(self, verb: str) -> Moments:
        """Return the sums over all rows, or raise if the model was fitted without them."""
        if self._moments_ is None:
            raise ValueError(
                f"{verb} cannot continue a fit that did not keep sums over the rows. Fit a "
                'NystromKernelPCA with extension="landmarks".'
            )
        return self._moments_

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
        system, wider = ritz_with_more(moments, self.n_components, center=self.center)
        fields = {"known": landmarks, "certified": True, "wider": wider}
        return self._model(landmarks, system, moments.basis.shape[0], **fields)

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse_rows
        return tags

    def _count(self) -> int:
        """Return the number of components to compute."""
        return np.iinfo(np.int32).max if self.n_components is None else self.n_components

    # -------------------------------------------------------------- landmarks

    def _landmarks(self, basis: Basis, rows: Rows, sample: RowSample | None = None) -> ReducedSet:
        """Return landmarks with equal weights that sum to n, together with a sample of the rows."""
        X, weights = rows.positive
        sample = RowSample.of(X, weights, None, self.random_state) if sample is None else sample
        total, count = float(weights.sum()), len(basis)
        equal = np.full(count, total / count)
        return ReducedSet(basis.points, equal, n_samples=total, sample=sample)

    def _choose_basis(
        self, rows: Rows, *, once: bool = False
    ) -> tuple[RadialKernel, Basis, BasisSearch | None]:
        """Return the resolved kernel, the landmarks, and the search that found them, if any."""
        # Unless ``once`` is True, the search continues if the landmarks turn out to be too few.
        if isinstance(self.landmarks, BaseDensity):
            density = clone(self.landmarks)
            kernel = self._resolve_kernel(rows, density)
            return kernel, Basis(density.summarize(rows, kernel).reduced_set_.centers), None
        asked = as_kernel(self.kernel, self.gamma, self.bandwidth, radial=False)
        kernel, rule = asked.resolve(*rows.counted, self.random_state), self._rule
        given = rule.given(rows.X)
        if given is not None:
            return kernel, given, None
        if rule.wanted_error is None:
            return kernel, rule.choose(kernel, rows), None
        search = rule.search(kernel, rows)
        basis = search.find() if once else search.start()
        assert basis is not None  # the search returns None only if it has an alternative
        return kernel, basis, search

    @property
    def _rule(self) -> LandmarkRule:
        """The parameters that determine the landmarks."""
        names = (field.name for field in fields(LandmarkRule))
        return LandmarkRule(**{name: getattr(self, name) for name in names})

    def _fix_bandwidth(self, rows: Rows) -> Self:
        kernel, given = self._asked_kernel()
        kernel = kernel.resolve(rows.X, rows.given_weights, self.random_state)
        fixed = clone(self).set_params(kernel=kernel, gamma=None, bandwidth=None)
        if given:
            fixed.set_params(landmarks=clone(self.landmarks)._drop_kernel())
        return fixed

    def _asked_kernel(self) -> tuple[RadialKernel, bool]:
        """Return the requested kernel, and whether it comes from the density in ``landmarks``."""
        asked: Any = self.kernel, self.gamma, self.bandwidth
        if isinstance(self.landmarks, BaseDensity):
            return claim_kernel(self.landmarks, asked, type(self).__name__, radial=False)
        return as_kernel(*asked, radial=False), False

    def _check_parameters(self) -> None:
        if self.n_components is not None:
            check.positive_integer("n_components", self.n_components)
        check.boolean("center", self.center)
        check.one_of("extension", self.extension, _EXTENSIONS)
        self._check_landmarks()

    def _check_landmarks(self) -> None:
        self._rule.check()
        if self._rule.wanted_error is not None and self.extension != "landmarks":
            raise ValueError(
                f'max_error requires extension="landmarks", got extension={self.extension!r}.'
            )

    def _refuse_stream(self, verb: str) -> None:
        if not self._takes_chunks:
            raise AttributeError(
                f"{type(self).__name__} does not support {verb}. Call fit with all rows."
            )

    # -------------------------------------------------------------- fitted results

    @property
    def reduced_set_(self) -> ReducedSet:
        """Not available, because landmarks do not represent the data."""
        raise AttributeError(
            f"{type(self).__name__} does not have a reduced_set_. Use landmarks_ instead."
        )

    @property
    def method_(self) -> str:
        """A sentence that says which points represent the data."""
        return f"{type(self).__name__} evaluates the kernel at {self.n_centers_:,} landmarks."

    @property
    def n_centers_(self) -> int:
        """The number of landmarks, m."""
        check_is_fitted(self)
        return int(self.landmarks_.shape[0])

    @property
    def shared_landmarks_(self) -> Basis:
        """The landmarks, to be passed as ``landmarks`` to models that will be merged."""
        check_is_fitted(self)
        subspace = None if self._moments_ is None else self._moments_.subspace
        return Basis(self.landmarks_, subspace)

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
            Ridge parameter for ``method="ridge"``; see
            :meth:`ReducedSetKernelPCA.inverse_transform`.

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


def _represent(landmarks: ReducedSet, total: float, rows: Rows) -> ReducedSet:
    """Return landmarks whose weights sum to ``total``, with rows added to their row sample."""
    sample, (X, weights) = landmarks.sample, rows.positive
    if sample is not None:  # rows are not assigned to landmarks
        sample = sample.add(X, weights, np.zeros(X.shape[0], dtype=np.intp))
    return with_total(landmarks, total, sample)


def _withdraw(landmarks: ReducedSet, total: float, rows: Rows) -> ReducedSet:
    """Return landmarks whose weights sum to ``total``, with rows removed from their row sample."""
    sample = landmarks.sample
    if sample is not None:
        sample = sample.remove(*rows.positive, total)
    return with_total(landmarks, total, sample)


def _join(first: ReducedSet, second: ReducedSet) -> ReducedSet:
    """Return the shared landmarks, with the combined row sample and total weight of both models."""
    sample = first.sample
    if sample is not None:
        sample = sample.merge(second.sample, np.zeros(1, dtype=np.intp))
    return with_total(first, first.n_samples + second.n_samples, sample)


def with_total(landmarks: ReducedSet, total: float, sample: RowSample | None) -> ReducedSet:
    """Return landmarks with a new row sample and equal weights that sum to ``total``."""
    weights = np.full(landmarks.n_centers, total / landmarks.n_centers)
    return replace(landmarks, weights=weights, n_samples=total, sample=sample)

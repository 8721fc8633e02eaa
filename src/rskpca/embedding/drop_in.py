"""Kernel PCA with scikit-learn's interface; the acceptable error determines the method."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import solve
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .. import _validation as check
from .._core import gram
from .._core.parallel import one_at_a_time
from .._core.sampling import RULES
from .._validation import Rows, validate_more_rows, validate_points, validate_rows
from ..certificate import Certificate, RowErrors
from ..density import merge
from ..kernels import AnyKernel, Gaussian, RadialKernel, sklearn_kernel
from ..model import FittedModel
from ..reduced_set import ReducedSet
from ..spectral import Moments
from ..spectral.means import Basis
from ..value_kernels import NAMES, RowKernel
from ._autopilot import Autopilot, is_unit_basis, spanned_by_features
from ._base import NoComponentError
from ._components import (
    ALL_UP_TO_ROWS,
    MOST,
    check_n_components,
    count_components,
    cut,
    fit_components,
)
from ._notebook import FittedDisplay
from ._precomputed import PrecomputedSystem
from ._sizing import describe, full_error
from .nystrom import NystromKernelPCA

Array = NDArray[np.floating]

_SOLVERS = ("auto", "dense", "arpack", "randomized")


def _takes_chunks(estimator: KernelPCA) -> bool:
    if estimator._is_precomputed:
        raise AttributeError(
            'partial_fit is not available with kernel="precomputed". Call fit with all rows.'
        )
    if not isinstance(estimator.n_components, Integral):
        raise AttributeError(
            f"partial_fit requires an integer for n_components, got {estimator.n_components!r}."
        )
    if estimator.eigen_solver != "auto":
        raise AttributeError(
            f'partial_fit requires eigen_solver="auto", got {estimator.eigen_solver!r}.'
        )
    return True


class KernelPCA(FittedDisplay, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Kernel PCA with a known error: a drop-in replacement for scikit-learn's ``KernelPCA``.

    The constructor, the methods and the fitted attributes are those of
    :class:`sklearn.decomposition.KernelPCA`. Small data sets are solved exactly. For larger ones,
    the result is an approximation whose coordinates differ from those of exact kernel PCA by at
    most ``max_error``. The eigenproblem of all rows is solved in the span of a few hundred points.
    Their number grows until the upper limit of the error, which is estimated from a sample of the
    rows, is small enough.

    Parameters
    ----------
    n_components : int, float, "auto" or None, default=None
        Number of components. A float between 0 and 1 is the share of the variance in feature space
        to explain. ``"auto"`` cuts at the largest gap between eigenvalues. None keeps all
        components for up to 2,000 rows, and the first 100 for more rows.
    kernel : str, callable, Kernel or RadialKernel, default="linear"
        ``"linear"``, ``"poly"``, ``"rbf"``, ``"sigmoid"``, ``"cosine"``, ``"laplacian"``,
        ``"precomputed"``, a function of two rows, or a kernel object such as ``Gaussian(2.0)``.
    gamma : float, "median", "neighbors", "slope", "reconstruction" or None, default=None
        Kernel coefficient for rbf, poly, sigmoid and laplacian kernels. None means 1 / n_features.
        For ``"rbf"``, a name is a rule that computes the bandwidth from the data; see
        :class:`Gaussian`.
    degree : float, default=3
        Degree of the poly kernel.
    coef0 : float, default=1
        Independent term of the poly and sigmoid kernels.
    kernel_params : dict, default=None
        Keyword arguments for a kernel that is a function.
    alpha : float, default=1.0
        Ridge parameter of the regression that learns the inverse transform.
    fit_inverse_transform : bool, default=False
        Whether to learn the inverse transform; not available for precomputed kernels.
    eigen_solver : {"auto", "dense", "arpack", "randomized"}, default="auto"
        ``"auto"`` chooses the method. The others request exact kernel PCA regardless of
        ``max_memory``; the same solver is used for all of them.
    tol, max_iter, iterated_power : default=0, None, "auto"
        Accepted for compatibility; they have no effect.
    remove_zero_eig : bool, default=False
        Whether to remove components with zero eigenvalues. They are always removed with
        ``n_components=None``.
    random_state : int, RandomState or None, default=None
        Seed for drawing the rows from which the basis of an approximation is chosen. None is the
        same as 0, so that results are reproducible. A RandomState is advanced by each fit.
    copy_X : bool, default=True
        Accepted for compatibility; the rows are not modified, and only exact models keep them.
    n_jobs : int, default=None
        Accepted for compatibility; it has no effect.
    max_error : float, default=0.02
        Largest acceptable relative error of the embedding. The error is the Frobenius norm of the
        difference between the coordinates and those of exact kernel PCA, after the best linear
        alignment, divided by the norm of the exact coordinates.
    max_memory : float, default=2.0
        Memory limit in gigabytes for the matrices that a method needs in addition to the data.

    Attributes
    ----------
    error_ : float
        Upper limit of the error at 95% confidence; 0.0 for exact kernel PCA.
    method_ : str
        A description of the method that was used.
    certificate_ : Certificate
        Estimates of the error and bounds on it; not available for precomputed kernels.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centered kernel matrix in descending order.
    eigenvectors_ : ndarray of shape (n_points, n_components)
        Eigenvectors of the centered kernel matrix. For an approximation, they are the coefficients
        of the points in ``X_fit_``, on the same scale: the coordinates of x are the centered values
        k(x, X_fit_) times ``eigenvectors_ / sqrt(eigenvalues_)``.
    X_fit_ : ndarray of shape (n_points, n_features)
        The points at which ``transform`` evaluates the kernel: all rows for an exact model, else
        the basis of the approximation.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the variance in feature space that each component explains.
    dual_coef_ : ndarray of shape (n_known, n_features)
        Coefficients of the inverse transform, if it was learned.
    X_transformed_fit_ : ndarray of shape (n_known, n_components)
        Coordinates from which the inverse transform was learned: those of all rows for an
        exact model, else those of a sample of 2,000 to 4,000 rows.
    gamma_ : float
        The kernel coefficient that was used.
    embedding_ : NystromKernelPCA
        The fitted embedding that computes the coordinates.
    model_ : FittedModel
        The fitted model as a single immutable object.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Feature names seen during ``fit``; defined only if X has feature names.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from rskpca import KernelPCA
    >>> X, _ = make_moons(20_000, noise=0.05, random_state=0)
    >>> model = KernelPCA(n_components=2, kernel="rbf", gamma=2.0).fit(X)
    >>> model.transform(X).shape
    (20000, 2)
    >>> model.error_ < 0.02
    True
    """

    embedding_: NystromKernelPCA | None
    _error_: float | None  # None if rows were added to the embedding
    method_: str
    gamma_: float
    dual_coef_: Array
    X_transformed_fit_: Array
    _system_: PrecomputedSystem | None
    _n_columns_: int  # transform appends columns of zeros up to this number
    _estimated: tuple[NystromKernelPCA, float] | None = None  # an embedding and its error

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | str = "auto",
        remove_zero_eig: bool = False,
        random_state: Any = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
        max_error: float = 0.02,
        max_memory: float = 2.0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.max_error = max_error
        self.max_memory = max_memory

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model to the rows of X.

        Parameters
        ----------
        X : {array-like, sparse array} of shape (n_samples, n_features)
            Training data; with ``kernel="precomputed"``, the square kernel matrix.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row. An integer weight is equivalent to repeating the row.

        Returns
        -------
        Self
            The fitted estimator.
        """
        self._check_parameters()
        rows = validate_rows(self, X, sample_weight, min_rows=1)
        if self._is_precomputed:
            return self._fit_precomputed(rows)
        kernel = self._resolve_kernel(rows)
        pilot = Autopilot(kernel, rows, self.max_error, self.max_memory, self._seed)
        exact = self.eigen_solver != "auto" or self._wants_all(rows)
        try:
            fit_method = pilot.fit_exactly if exact else pilot.fit
            found = fit_components(self.n_components, rows.X.shape[0], fit_method)
        except NoComponentError:
            method = "exact kernel PCA; no component has a positive eigenvalue"
            return self._store(rows, kernel, None, 0.0, method)
        return self._store(rows, kernel, found.embedding, found.error.limit, found.method)

    def _wants_all(self, rows: Rows) -> bool:
        return self.n_components is None and rows.X.shape[0] <= ALL_UP_TO_ROWS

    def _fit_precomputed(self, rows: Rows) -> Self:
        """Solve the eigenproblem of the kernel matrix."""
        n_rows, n_columns = rows.X.shape
        if n_rows != n_columns:
            raise ValueError(
                f'kernel="precomputed" requires a square kernel matrix, got shape {rows.X.shape}. '
                "Pass k(X, X) to fit and k(X_new, X) to transform."
            )
        if rows.weighted:
            raise ValueError(
                'sample_weight cannot be combined with kernel="precomputed". Set it to None.'
            )
        matrix: Any = rows.X
        matrix = matrix.toarray() if sparse.issparse(matrix) else matrix
        system = PrecomputedSystem.of(matrix, count_components(self.n_components, n_rows))
        if not isinstance(self.n_components, Integral | None):
            many = MOST if n_rows > ALL_UP_TO_ROWS else n_rows
            system = PrecomputedSystem.of(matrix, many)
            system = system.leading(cut(self.n_components, system.eigenvalues, system.trace))
        method = f"exact kernel PCA of a precomputed matrix of {n_rows:,} rows"
        return self._store(rows, None, None, 0.0, method, system)

    def _store(
        self,
        rows: Rows,
        kernel: AnyKernel | None,
        embedding: NystromKernelPCA | None,
        error: float | None,
        method: str,
        system: PrecomputedSystem | None = None,
    ) -> Self:
        """Store the result of a fit, after everything that can fail has succeeded."""
        inverse = None
        if self.fit_inverse_transform and embedding is not None and kernel is not None:
            inverse = self._learn_inverse(kernel, embedding)
        rows.name_features(self)
        default: Any = 1 / self.n_features_in_ if self.gamma is None else self.gamma
        self.gamma_ = float(kernel.gamma if isinstance(kernel, Gaussian) else default)
        n_rows = rows.X.shape[0]
        if error is None:  # the rows are only a part of those in the embedding
            n_rows = max(n_rows, int(embedding._moments_.total))  # type: ignore[union-attr]
        self._n_columns_ = self._count_columns(n_rows)
        self.embedding_, self._system_ = embedding, system
        self._error_, self.method_ = error, method
        self.__dict__.pop("_estimated", None)
        if inverse is not None:
            self.X_transformed_fit_, self.dual_coef_ = inverse
        else:
            for name in ("X_transformed_fit_", "dual_coef_"):  # left over from an earlier fit
                self.__dict__.pop(name, None)
        return self

    def _count_columns(self, n_rows: int) -> int:
        """Return the least number of components, some of which may have zero eigenvalues."""
        if self.remove_zero_eig or not isinstance(self.n_components, Integral):
            return 0
        return min(int(self.n_components), n_rows)  # as in scikit-learn

    @available_if(_takes_chunks)
    @one_at_a_time
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows. The first chunk fixes the kernel and the points of the approximation.

        Parameters
        ----------
        X : {array-like, sparse array} of shape (n_samples, n_features)
            The next rows. The first chunk should represent all rows, because the error is
            controlled only for its rows; ``certificate_`` contains the error for all rows.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        Self
            The estimator.
        """
        self._check_parameters()
        if "embedding_" not in self.__dict__:
            rows = validate_rows(self, X, sample_weight, min_rows=1)
            embedding = self._start(rows, self._resolve_kernel(rows))
        else:
            rows = validate_more_rows(self, X, sample_weight)
            embedding = self._continue().partial_fit(rows.X, None, rows.given_weights)
        method = f"kernel PCA of a stream in the span of {embedding.n_centers_:,} points"
        return self._store(rows, embedding.kernel_, embedding, None, method)

    def _continue(self) -> NystromKernelPCA:
        """Return a copy of the fitted embedding to which rows can be added."""
        held = self.embedding_
        if held is None:
            raise ValueError(
                "partial_fit cannot continue a fit without components. Call fit with all rows."
            )
        asked = self._requested_kernel(self.n_features_in_)
        rule = isinstance(asked, RadialKernel) and isinstance(asked.bandwidth, str)
        if not rule and not asked.same_as(held.kernel_):
            raise ValueError(
                f"partial_fit cannot change the kernel from {held.kernel_!r} to {asked!r}. Call "
                "fit with all rows."
            )
        if not held.takes_more:
            return self._restart(held.model_)
        return copy.copy(held).set_params(n_components=self.n_components)

    def _start(self, rows: Rows, kernel: AnyKernel) -> NystromKernelPCA:
        """Return an approximation to which rows can be added."""
        pilot = Autopilot(kernel, rows, self.max_error, self.max_memory, self._seed)
        return pilot.start(int(self.n_components))  # type: ignore[arg-type]

    def _restart(self, model: FittedModel) -> NystromKernelPCA:
        """Return an approximation of an exact model, to which rows can be added."""
        held = model.reduced_set
        return self._start(Rows(held.centers, held.weights, weighted=True), model.kernel)

    # -------------------------------------------------------------- data that are not in memory

    def _as_landmark_model(self, n_features: int) -> NystromKernelPCA:
        """Return an unfitted embedding with the same ``max_error`` that can be fitted in blocks."""
        self._check_parameters()
        self._check_in_blocks()
        kernel: Any = self._requested_kernel(n_features)
        count = int(self.n_components)  # type: ignore[arg-type]
        options: dict[str, Any] = {"max_error": self.max_error}
        landmarks: Any = "rpcholesky" if isinstance(kernel, RowKernel) else "auto"
        if spanned_by_features(kernel, n_features):
            landmarks, count, options = Basis(np.eye(n_features)), min(count, n_features), {}
        return NystromKernelPCA(
            count, kernel=kernel, landmarks=landmarks, random_state=self._seed, **options
        )

    def _adopt(self, fitted: NystromKernelPCA) -> Self:
        """Store an embedding that was fitted in blocks or merged, and its error."""
        model, basis = fitted.model_, fitted.shared_landmarks_
        exact = is_unit_basis(model.kernel, basis)
        method = f"kernel PCA of all rows in the span of {basis.describe()}"
        if exact:
            method = f"exact kernel PCA in {len(basis):,} features"
        known = model.known_rows
        names = vars(fitted).get("feature_names_in_")
        rows = Rows(known, np.ones(known.shape[0]), names=names)
        return self._store(rows, model.kernel, fitted, 0.0 if exact else None, method)

    def _check_in_blocks(self) -> None:
        """Raise unless the model can be computed from blocks of rows."""
        whole = isinstance(self.n_components, Integral)
        fixes = {
            'kernel="precomputed"': ('Use a kernel such as "rbf"', self._is_precomputed),
            f"eigen_solver={self.eigen_solver!r}": ('Use "auto"', self.eigen_solver != "auto"),
            f"n_components={self.n_components!r}": ("Use an integer such as 10", not whole),
        }
        for setting, (fix, refused) in fixes.items():
            if refused:
                raise ValueError(f"{setting} requires all rows in memory. {fix}.")

    def _merge(self, others: Sequence[Any]) -> Self:
        """Return the model of the combined data; see :func:`rskpca.merge`."""
        models = (self, *others)
        for model in models:
            model.model_  # noqa: B018  raises if there is no model
        return clone(self)._adopt(merge(*(model.embedding_ for model in models)))

    # -------------------------------------------------------------- kernel

    def _resolve_kernel(self, rows: Rows) -> AnyKernel:
        """Return the kernel with all its parameters as numbers."""
        kernel = self._requested_kernel(rows.X.shape[1])
        if isinstance(kernel, RowKernel):  # checked when the eigenproblem is solved
            return kernel
        return kernel.resolve(rows.X, rows.given_weights, self._seed)

    def _requested_kernel(self, n_features: int) -> AnyKernel:
        """Return the kernel as an object whose bandwidth may be the name of a rule."""
        if isinstance(self.kernel, AnyKernel):
            return self.kernel
        if isinstance(self.gamma, str):
            return Gaussian(self.gamma)
        parameters = self.gamma, self.degree, self.coef0, self.kernel_params
        return sklearn_kernel(self.kernel, *parameters, n_features=n_features)

    @property
    def _seed(self) -> Any:
        return 0 if self.random_state is None else self.random_state

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _check_parameters(self) -> None:
        check_n_components(self.n_components)
        check.share("max_error", self.max_error, 0.02)
        check.positive_number("max_memory", self.max_memory, infinite=True)
        check.one_of("eigen_solver", self.eigen_solver, _SOLVERS)
        check.number_within("alpha", self.alpha, 0, math.inf)
        check.boolean("fit_inverse_transform", self.fit_inverse_transform)
        check.boolean("remove_zero_eig", self.remove_zero_eig)
        if self.fit_inverse_transform and self._is_precomputed:
            raise ValueError(
                "Cannot fit_inverse_transform with a precomputed kernel. Set "
                "fit_inverse_transform=False."
            )
        self._check_kernel()

    def _check_kernel(self) -> None:
        if isinstance(self.kernel, str):
            check.one_of("kernel", self.kernel, ("rbf", *NAMES, "precomputed"))
        elif not callable(self.kernel):
            raise TypeError(
                "kernel must be the name of a kernel, a function of two rows or a kernel object "
                f"such as Gaussian(2.0), got {self.kernel!r}."
            )
        if isinstance(self.gamma, str):
            if self.kernel != "rbf":
                raise ValueError(
                    f'gamma={self.gamma!r} requires kernel="rbf", got kernel={self.kernel!r}.'
                )
            check.one_of("gamma", self.gamma, tuple(RULES))
        elif self.gamma is not None:
            check.positive_number("gamma", self.gamma)

    # -------------------------------------------------------------- coordinates

    def transform(self, X: Any) -> Array:
        """Return the coordinates of new points.

        Parameters
        ----------
        X : {array-like, sparse array} of shape (n_samples, n_features)
            New points; with ``kernel="precomputed"``, their kernel values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The coordinates; float32 for float32 data, else float64.
        """
        check_is_fitted(self)
        points = validate_points(self, X)
        self._current_error()  # warns if it is too large
        return self._pad(self._embed(points)).astype(points.dtype, copy=False)

    def _embed(self, points: Any) -> Array:
        if self._system_ is not None:
            return self._system_.embed(points.toarray() if sparse.issparse(points) else points)
        if self.embedding_ is None:
            return np.zeros((points.shape[0], 0))
        return self.embedding_.model_.embed(points)

    def _pad(self, columns: Array) -> Array:
        """Append zeros for components without variance to the last axis."""
        n_zeros = max(self._n_columns_ - columns.shape[-1], 0)
        return np.pad(columns, [(0, 0)] * (columns.ndim - 1) + [(0, n_zeros)])

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit the model to the rows of X and return their coordinates.

        Parameters
        ----------
        X : {array-like, sparse array} of shape (n_samples, n_features)
            Training data; with ``kernel="precomputed"``, the square kernel matrix.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The coordinates.
        """
        return self.fit(X, y, sample_weight).transform(X)

    def inverse_transform(self, X: Any) -> Array:
        """Return points in the input space with approximately these coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Coordinates.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The points, from a kernel ridge regression of rows on their coordinates.
        """
        if not self.fit_inverse_transform:
            raise NotFittedError(
                "inverse_transform is not available, because fit_inverse_transform is False. Set "
                "it to True and call fit."
            )
        check_is_fitted(self, "dual_coef_")
        Z = check_array(X, dtype=check.FLOATS, input_name="X")
        if Z.shape[1] != self._n_features_out:
            raise ValueError(
                f"X must have {self._n_features_out} columns, one per component, got {Z.shape[1]}."
            )
        known, coefficients = self.X_transformed_fit_, self.dual_coef_
        Z = Z[:, : known.shape[1]]  # without components of zero variance
        values = gram.gram(self.model_.kernel, Z, known)
        return (values @ coefficients).astype(Z.dtype, copy=False)

    def _learn_inverse(self, kernel: AnyKernel, embedding: Any) -> tuple[Array, Array]:
        """Return coordinates of known rows, and ridge coefficients that map them to the rows."""
        model = embedding.model_
        known = model.known_rows if embedding.takes_more else model.basis
        if sparse.issparse(known):
            raise NotImplementedError(  # as in scikit-learn
                "fit_inverse_transform=True requires dense rows. Set it to False, or convert X "
                "with X.toarray()."
            )
        known = known.astype(np.float64)
        Z = model.embed(known)
        matrix = gram.gram(kernel, Z, Z)
        matrix[np.diag_indices_from(matrix)] += self.alpha
        return Z, solve(matrix, known, assume_a="pos", overwrite_a=True)

    # -------------------------------------------------------------- fitted results

    @property
    def model_(self) -> FittedModel:
        """The fitted model as a single immutable object."""
        check_is_fitted(self)
        if self.embedding_ is None:
            raise AttributeError(f"model_ is not available (method: {self.method_}).")
        return self.embedding_.model_

    @property
    def error_(self) -> float:
        """Upper limit of the error at 95% confidence; 0.0 for exact kernel PCA."""
        check_is_fitted(self)
        return self._current_error()

    def _current_error(self) -> float:
        """Return the error, which is estimated on demand after rows were added."""
        error, embedding, estimated = self._error_, self.embedding_, self._estimated
        if error is not None or embedding is None:
            return error or 0.0
        if estimated is None or estimated[0] is not embedding:
            estimated = self._estimated = embedding, self._estimate_error(embedding.model_)
        return estimated[1]

    def _estimate_error(self, model: FittedModel) -> float:
        """Estimate the error of a model to which rows were added, and warn if it is large."""
        found = full_error(model)
        if found.limit > self.max_error:
            check.warn(
                f"max_error={self.max_error:g} was not reached for all rows: the "
                f"{describe(found)}. The points of the approximation were chosen from the first "
                "rows. Use a first chunk that represents all rows, or call fit with all rows."
            )
        return found.limit

    def __getstate__(self) -> dict[str, Any]:
        """Return the state, with the estimated error of the embedding as a number."""
        state: dict[str, Any] = {**super().__getstate__()}
        estimated = state.pop("_estimated", None)
        if state.get("_error_") is None and estimated and estimated[0] is state["embedding_"]:
            state["_error_"] = estimated[1]
        return state

    @property
    def eigenvalues_(self) -> Array:
        """Eigenvalues of the centered kernel matrix in descending order."""
        check_is_fitted(self)
        if self._system_ is not None:
            return self._pad(self._system_.eigenvalues)
        return self._pad(np.empty(0) if self.embedding_ is None else self.model_.eigenvalues)

    @property
    def eigenvectors_(self) -> Array:
        """Eigenvectors, or coefficients of the points in ``X_fit_`` on the same scale."""
        check_is_fitted(self)
        if self._system_ is not None:
            vectors = self._system_.eigenvectors
        else:
            system = self.model_.evaluated
            vectors = system.coefficients * system.eigenvalues
        return self._pad(vectors)

    @property
    def X_fit_(self) -> Array:  # noqa: N802  the name that scikit-learn uses
        """The points at which ``transform`` evaluates the kernel."""
        return self.model_.basis

    @property
    def explained_variance_ratio_(self) -> Array:
        """Share of the variance in feature space that each component explains."""
        check_is_fitted(self)
        solved = self.model_.system if self._system_ is None else self._system_
        return self._pad(solved.eigenvalues / solved.trace)

    @property
    def certificate_(self) -> Certificate:
        """Estimates of the error and bounds on it."""
        self.model_  # noqa: B018  raises if there is no model
        return self.embedding_.certificate_  # type: ignore[union-attr]

    def row_error(self, X: Any) -> RowErrors:
        """Estimate the coordinate error of each row, and how well the row is represented.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        RowErrors
            ``coordinates`` and ``residual``; see :meth:`ReducedSetKernelPCA.row_error`.
        """
        model = self.model_
        return model.row_errors(validate_points(self, X))

    def feature_map(self, X: Any) -> Array:
        """Return features for linear models; their inner products approximate the kernel.

        Parameters
        ----------
        X : {array-like, sparse array} of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            Coordinates of the points in an orthonormal basis of the span of ``X_fit_`` in feature
            space, like the output of :class:`sklearn.kernel_approximation.Nystroem`.
        """
        model = self.model_
        moments = Moments.of(model.kernel, model.basis, model.evaluated.subspace)
        return moments.project(validate_points(self, X))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of the variance of X that is reconstructed from the coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points that were not used to fit the model.
        y : None
            Ignored.

        Returns
        -------
        float
            1 minus the squared error of the pre-images relative to the variance of X. It can be
            compared across kernels and values of gamma, for example in a grid search.
        """
        points = validate_points(self, X)
        if sparse.issparse(points):
            raise ValueError("score requires dense rows. Convert X with X.toarray().")
        points = points.astype(np.float64)
        total = float(np.sum((points - points.mean(axis=0)) ** 2))
        if not total:
            raise ValueError("score requires rows that differ, but all rows of X are equal.")
        model = self.model_
        rows = model.known_rows.astype(np.float64)
        model = replace(model, known=ReducedSet(rows, np.ones(len(rows))))
        found = model.preimages(model.embed(points), "ridge")
        return 1 - float(np.sum((points - found) ** 2)) / total

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_precomputed
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

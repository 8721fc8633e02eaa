"""What every embedding shares: fit a density, solve, extend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _validation as check
from ..density import BaseDensity, ShadowDensity, merge
from ..kernels import RadialKernel, as_kernel
from ..model import FittedModel
from ..reduced_set import ReducedSet
from ..spectral import EigenSystem, Operator, solve
from ..spectral.eigensystem import STORED_CENTERS
from ._notebook import NotebookTables

Array = NDArray[np.floating]


class KernelEmbedding(
    NotebookTables, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC
):
    """Eigenfunctions as coordinates. A subclass fits ``eigensystem_`` and names the scale."""

    _wanted_name = "n_components"  # the parameter that says how many

    kernel: RadialKernel | str | None
    gamma: float | None
    bandwidth: float | str | None
    random_state: Any
    kernel_: RadialKernel
    _model_: FittedModel

    @property
    @abstractmethod
    def eigensystem_(self) -> EigenSystem:
        """The solved eigenproblem."""

    @abstractmethod
    def _coordinates(self, system: EigenSystem, functions: Array) -> Array:
        """Eigenfunctions at points -> their coordinates."""

    def transform(self, X: Any) -> Array:
        """Coordinates of new points, from the centers alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points. Never more than a few blocks of kernel values are held.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            float32 for float32 data, else float64.
        """
        return self._embedded(X)

    @property
    def model_(self) -> FittedModel:
        """The fitted model; solved now if the data changed."""
        system = self.eigensystem_
        found: FittedModel | None = self.__dict__.get("_model_")
        if found is None or found.system is not system:
            ones = np.ones((1, len(system.eigenvalues)))
            found = self._model_ = FittedModel(
                self.kernel_,
                system=system,
                evaluated=self._evaluated,
                scale=self._coordinates(system, ones)[0],
                **self._model_fields(),
            )
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in super().__getstate__().items() if k != "_model_"}

    def _model_fields(self) -> dict[str, Any]:
        """The reduced set, and what only some models have."""
        return {"reduced_set": self.reduced_set_}

    def _embedded(self, X: Any) -> Array:
        """The coordinates as an array, whatever ``set_output`` says."""
        check_is_fitted(self)
        checked = validate_data(self, X, dtype=check.FLOATS, reset=False)
        return self._coordinates(self.eigensystem_, self.model_.functions(checked))

    @property
    def _evaluated(self) -> EigenSystem:
        """The eigenproblem through the points that the kernel is evaluated at."""
        return self.eigensystem_

    @property
    def _wanted(self) -> int | None:
        """r, or None for all."""
        return getattr(self, self._wanted_name)

    def _check_parameters(self) -> None:
        if self._wanted is not None:
            check.positive_integer(self._wanted_name, self._wanted)

    def _lent_kernel(
        self,
        density: BaseDensity,
        X: Array,
        sample_weight: Array | None,
        before: RadialKernel | None = None,
    ) -> tuple[RadialKernel, BaseDensity]:
        """The kernel with its bandwidth, and the density: each lends the other a kernel.

        A kernel ``before`` lends its bandwidth where it would be the median.
        """
        asked = self.kernel, self.gamma, self.bandwidth
        own = density.own_kernel if asked == (None, None, None) else None
        if own is not None:
            asked = own, None, None
        kernel = as_kernel(*asked).resolve(X, sample_weight, self.random_state, before)
        return kernel, density._use_kernel(kernel, instead=own is not None)

    def _with_bandwidth_of(self, X: Any, sample_weight: Array | None) -> Self:
        """A copy whose bandwidth is a number, that of these rows, whatever comes first."""
        asked = as_kernel(self.kernel, self.gamma, self.bandwidth)
        kernel = asked.resolve(X, sample_weight, self.random_state)
        return clone(self).set_params(kernel=kernel, gamma=None, bandwidth=None)

    def _check_found(self, found: int, n_points: int, points: str = "centers") -> None:
        """An error for no component, and a warning for fewer than were wanted."""
        if found <= 0:
            raise ValueError(
                "no component has a positive eigenvalue: as far as the kernel can tell all "
                "points are equal. A smaller bandwidth or more centers tell them apart."
            )
        if self._wanted is not None and found < self._wanted:
            check.warn(
                f"{self._wanted_name}={self._wanted}, but {found} came back: the {n_points} "
                f"{points} have no more eigenvalues above rounding. More {points} have more."
            )

    @property
    def basis_(self) -> Array:
        """The points that ``transform`` evaluates the kernel at."""
        return self.eigensystem_.centers

    @property
    def eigenvalues_(self) -> Array:
        """Eigenvalues of the weighted Gram matrix, on the scale of scikit-learn's KernelPCA."""
        return self.eigensystem_.eigenvalues

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _density_can(verb: str) -> Callable[[ReducedSetEmbedding], bool]:
    """Whether an embedding's density has this method; an error that says so where it has not."""

    def check_density(embedding: ReducedSetEmbedding) -> bool:
        embedding._refuse_stream(verb)
        density = embedding._streamed_density()
        if not hasattr(density, verb):
            fitted = " and call fit" if hasattr(embedding, "density_") else ""
            raise AttributeError(
                f"{type(density).__name__} cannot {verb}; use a ShadowDensity{fitted}, which can."
            )
        return True

    return check_density


class ReducedSetEmbedding(KernelEmbedding):
    """Data -> reduced set -> eigenfunctions. A subclass names the operator and the scale.

    The eigenproblem is solved when an answer is first asked for after the data changed.
    """

    density: BaseDensity | None
    ell: float | None
    verbose: int
    _system_: EigenSystem | None

    @abstractmethod
    def _operator(self) -> Operator:
        """What is decomposed."""

    def _refuse_stream(self, verb: str) -> None:
        """An AttributeError where the parameters do not go with rows in parts."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the reduced set and solve its eigenproblem.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data, at least two rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; whole numbers equal repeated rows, but for a
            ``WindowDensity`` or ``FadingDensity``, where a row is one row of the stream.

        Returns
        -------
        Self
            The fitted estimator.
        """
        kernel, density = self._started(X, sample_weight, at_least=2)
        self._adopt(X, kernel, density, self._solve(kernel, density.reduced_set_))
        return self

    def _started(
        self, X: Any, sample_weight: Any, at_least: int
    ) -> tuple[RadialKernel, BaseDensity]:
        """A kernel and a density of the data; nothing of the estimator is changed."""
        self._check_parameters()
        checked = check.new_rows(self, X, at_least)
        given = None if sample_weight is None else check.sample_weights(sample_weight, len(checked))
        kernel, density = self._kernel_and_density(checked, given)
        begin = density.fit if at_least == 2 else density.partial_fit
        begin(checked, sample_weight=given)
        return kernel, density

    def _adopt(
        self, X: Any, kernel: RadialKernel, density: BaseDensity, system: EigenSystem | None
    ) -> None:
        validate_data(self, X, reset=True, skip_check_array=True)
        self.kernel_, self.density_, self._system_ = kernel, density, system

    @available_if(_density_can("partial_fit"))
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows; any chunking of the same rows gives the model of one ``fit``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows. The first chunk fixes the kernel's bandwidth.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        Self
            The estimator; its eigenproblem is solved when an answer is asked for.
        """
        if not hasattr(self, "density_"):
            self._adopt(X, *self._started(X, sample_weight, at_least=1), None)
            return self
        self._change("partial_fit", X, sample_weight)
        return self

    @available_if(_density_can("forget"))
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take rows away again that were fitted before.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of earlier calls.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights that they were counted with.

        Returns
        -------
        Self
            The estimator. Rows that lie in no shadow are an error, and nothing is changed then;
            others that were never fitted cannot be told from fitted ones. A ``WindowDensity``
            has its rows, and knows them all.
        """
        check_is_fitted(self)
        self._change("forget", X, sample_weight)
        return self

    def _merged(self, others: Sequence[ReducedSetEmbedding]) -> Self:
        """The embedding of the data of all; see :func:`rskpca.merge`."""
        self._check_parameters()
        try:
            self._refuse_stream("merge")
        except AttributeError as error:
            raise ValueError(str(error)) from None
        merged = clone(self)
        densities = [embedding.density_ for embedding in others]
        merged.kernel_, merged._system_ = self.kernel_, None
        merged.density_ = merge(self.density_, *densities)
        return merged

    def _change(self, verb: str, X: Any, sample_weight: Any) -> None:
        self._check_parameters()
        asked = self._new_density() if self.density is None else self.density
        asked._check_unchanged(self.density_)
        checked = validate_data(self, X, dtype=check.FLOATS, reset=False)
        density = self.density_._branch()  # a copy of this embedding may share it
        getattr(density, verb)(checked, sample_weight=sample_weight)
        self.density_, self._system_ = density, None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.density is not None and self.ell is not None:
            raise ValueError(
                f"ell={self.ell!r} was given beside a density; set it in the density: "
                f"ShadowDensity(ell={self.ell!r})."
            )
        if self.density is not None and not isinstance(self.density, BaseDensity):
            raise TypeError(
                "density must be a density estimator such as ShadowDensity(ell=4.0), "
                f"got {self.density!r}."
            )

    def _kernel_and_density(
        self, X: Array, sample_weight: Array | None
    ) -> tuple[RadialKernel, BaseDensity]:
        """The kernel with its bandwidth, and a fresh density, or one that starts warm."""
        density = self._new_density()
        if not (getattr(density, "warm_start", False) and hasattr(self, "density_")):
            return self._lent_kernel(density, X, sample_weight)
        kernel, density = self._lent_kernel(density, X, sample_weight, self.kernel_)
        cast(ShadowDensity, density)._warm_up(self.density_)
        return kernel, density

    def _warm_up(self, fitted: Any) -> None:
        """Take over from a fitted embedding what a warm start starts from."""
        if hasattr(fitted, "density_"):
            self.kernel_, self.density_ = fitted.kernel_, fitted.density_

    def _streamed_density(self) -> BaseDensity:
        """What takes the next rows: the fitted density, before the first rows the one given."""
        if hasattr(self, "density_"):
            return self.density_
        return self._new_density() if self.density is None else self.density

    def _with_bandwidth_of(self, X: Any, sample_weight: Array | None) -> Self:
        kernel, density = self._kernel_and_density(X, sample_weight)
        settled = clone(self).set_params(kernel=kernel, gamma=None, bandwidth=None, ell=None)
        return settled.set_params(density=density._with_bandwidth_of(X, sample_weight))

    def _new_density(self) -> BaseDensity:
        if self.density is not None:
            return clone(self.density)
        ell = 4.0 if self.ell is None else self.ell
        return ShadowDensity(ell=ell, random_state=self.random_state, verbose=self.verbose)

    def _solve(self, kernel: RadialKernel, reduced_set: ReducedSet) -> EigenSystem:
        wanted = self._wanted
        if wanted is None and reduced_set.n_centers > STORED_CENTERS:
            raise ValueError(
                f"n_components=None asks for all of {reduced_set.n_centers:,} components; "
                "give a number."
            )
        count = reduced_set.n_centers if wanted is None else wanted
        system = solve(self._operator(), kernel, reduced_set, count)
        self._check_found(len(system.eigenvalues), reduced_set.n_centers)
        return system

    @property
    def eigensystem_(self) -> EigenSystem:
        """The solved eigenproblem; solved now if the data changed."""
        check_is_fitted(self)
        if self._system_ is None:
            self._system_ = self._solve(self.kernel_, self.reduced_set_)
        return self._system_

    @property
    def reduced_set_(self) -> ReducedSet:
        """The reduced set that stands for the data."""
        check_is_fitted(self)
        return self.density_.reduced_set_

    @property
    def n_centers_(self) -> int:
        """m, the number of centers."""
        return self.reduced_set_.n_centers

    @property
    def eigenvectors_(self) -> Array:
        """Unit eigenvectors of the weighted Gram matrix, a row a center."""
        centers, system = self.reduced_set_.centers, self.eigensystem_
        own = np.array_equal(system.centers, centers)
        functions = system.functions if own else system.extend(centers.astype(np.float64))
        return np.sqrt(self.reduced_set_.weights)[:, None] * functions

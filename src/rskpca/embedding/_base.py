"""Base class for embeddings: the scikit-learn interface to a fitted model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .. import _validation as check
from .._core.parallel import one_at_a_time
from .._validation import Rows, validate_more_rows, validate_points, validate_rows
from ..certificate import Certificate, RowErrors
from ..certificate.sampled import FURTHER_AXES
from ..density import BaseDensity, ShadowDensity, merge
from ..density._base import claim_kernel
from ..density._counting import MOST_CENTERS, Report
from ..density._expiring import ExpiringDensity
from ..density.forecast import roughly_forecast
from ..density.tolerance import Limit
from ..kernels import RadialKernel
from ..model import FittedModel
from ..reduced_set import ReducedSet
from ..spectral import EigenSystem, Moments, ritz
from ._notebook import FittedDisplay

Array = NDArray[np.floating]

DEFAULT_MOST_CENTERS = 10_000  # default limit, at which the weighted Gram matrix takes 0.8 GB


class TooManyCentersError(ValueError):
    """Raised if a cover would not reduce the data, because most rows would become centers."""


class NoComponentError(ValueError):
    """Raised if no component has a positive eigenvalue."""


def _density_can(verb: str) -> Callable[[KernelEmbedding], bool]:
    """Return a check for ``available_if`` that raises if the density lacks the method."""

    def check_density(embedding: KernelEmbedding) -> bool:
        embedding._refuse_stream(verb)
        given = embedding.__dict__.get("density_", embedding.density)
        density = embedding._new_density() if given is None else given
        if not hasattr(density, verb):
            fitted = " and call fit" if "density_" in embedding.__dict__ else ""
            raise AttributeError(
                f"{type(density).__name__} does not support {verb}. Use a ShadowDensity{fitted}."
            )
        return True

    return check_density


def _ignore_centers(n_centers: int, n_rows: int) -> None:
    """Do nothing, because ``fit`` predicts the number of centers before it starts."""


class KernelEmbedding(
    FittedDisplay, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC
):
    """Base class for embeddings computed from the eigenfunctions of a kernel on a reduced set.

    A subclass has the parameters ``kernel``, ``gamma``, ``bandwidth``, ``density``, ``ell``,
    ``random_state`` and ``verbose``, and implements :meth:`_decompose` (Algorithm 1). Its ``fit``
    validates the rows, resolves the kernel, summarizes the rows (Algorithm 2) and solves the
    eigenproblem.

    After ``partial_fit`` or ``forget``, the eigenproblem is not solved until its result is used.
    The solution is stored together with the reduced set from which it was computed, so an
    outdated solution is never used.
    """

    kernel: RadialKernel | str | None
    gamma: float | None
    bandwidth: float | str | None
    density: BaseDensity | None
    ell: float | None
    random_state: Any
    verbose: int
    kernel_: RadialKernel
    density_: BaseDensity
    _solved_: tuple[Any, FittedModel] | None
    _takes_any_kernel = False  # True if the kernel need not be radial
    _bandwidth_rule = "median"  # used if neither kernel, gamma nor bandwidth sets the bandwidth
    _most_centers = DEFAULT_MOST_CENTERS  # limit for the default density

    @abstractmethod
    def _decompose(self, kernel: RadialKernel, reduced_set: ReducedSet) -> FittedModel:
        """Solve the eigenproblem on a reduced set (Algorithm 1)."""

    def _check_parameters(self) -> None:
        """Check the shared parameters; subclasses extend this method."""
        if self.density is not None and self.ell is not None:
            raise ValueError(
                f"ell={self.ell!r} cannot be combined with density. Set ell on the density, as in "
                f"ShadowDensity(ell={self.ell!r})."
            )
        if self.density is not None and not isinstance(self.density, BaseDensity):
            raise TypeError(
                "density must be a density estimator such as ShadowDensity(ell=4.0), "
                f"got {self.density!r}."
            )

    # -------------------------------------------------------------- fitting

    def _new_density(self) -> BaseDensity:
        """Return an unfitted density, initialized from the previous fit if warm_start is set."""
        if self.density is None:
            ell = 4.0 if self.ell is None else self.ell
            return ShadowDensity(ell=ell, random_state=self.random_state, verbose=self.verbose)
        density = clone(self.density)
        if isinstance(density, ShadowDensity) and density.warm_start and self._is_fitted:
            density._warm_up(self.density_)
        return density

    def _resolve_kernel(self, rows: Rows, density: BaseDensity) -> RadialKernel:
        """Return the embedding's kernel with its bandwidth resolved."""
        kernel, previous = self._claim_kernel(density), density._previous_kernel
        return kernel.resolve(rows.X, rows.given_weights, self.random_state, previous)

    def _summarize(
        self,
        density: BaseDensity,
        rows: Rows,
        kernel: RadialKernel,
        report: Report = _ignore_centers,
    ) -> BaseDensity:
        """Fit the density to the rows (Algorithm 2); see :meth:`ShadowDensity.summarize`."""
        limit = self._coordinate_limit(rows, kernel)
        if isinstance(density, ShadowDensity):
            return density.summarize(rows, kernel, limit, report)
        if isinstance(density, ExpiringDensity):
            return density.summarize(rows, kernel, limit)
        return density.summarize(rows, kernel)

    def _coordinate_limit(self, rows: Rows, kernel: RadialKernel) -> Limit | None:
        """Return a function that maps a reduced set to the error limit of its coordinates."""
        # A density with ell="auto" uses this function to choose the radius. None means no limit.
        return None

    def _claim_kernel(self, density: BaseDensity) -> RadialKernel:
        """Return the embedding's kernel, whose bandwidth may be the name of a rule."""
        asked = self.kernel, self.gamma, self.bandwidth
        radial = not self._takes_any_kernel
        name = type(self).__name__
        return claim_kernel(density, asked, name, self._bandwidth_rule, radial=radial)[0]

    def _suitable_density(
        self, rows: Rows, kernel: RadialKernel, density: BaseDensity
    ) -> BaseDensity:
        """Return the density or, if a cover would have too many centers, a substitute.

        A cover that was requested by ``ell`` or ``density`` is never replaced; it is rejected
        only if most rows would become centers. If there is no substitute, TooManyCentersError is
        raised.
        """
        if not isinstance(density, ShadowDensity) or density.max_centers is not None:
            return density
        X = rows.positive[0]
        limit = max(MOST_CENTERS, X.shape[0] / 2) if self._cover_requested else self._most_centers
        radius = density.planned_radius(kernel, rows) if X.shape[0] > limit else None
        if not radius:
            return density
        expected = roughly_forecast(X, radius, np.random.RandomState(0), kernel)
        if expected <= limit:
            if self._cover_requested and expected > MOST_CENTERS:
                check.warn(
                    f"About {expected:,.0f} of {X.shape[0]:,} rows will become centers at this "
                    "radius, which can take minutes. A larger bandwidth or a smaller ell results "
                    "in fewer centers."
                )
            return density
        substitute = None if self._cover_requested else self._substitute()
        if substitute is None:
            raise TooManyCentersError(
                f"The data do not compress at this radius: about {expected:,.0f} of {X.shape[0]:,} "
                f"rows would become centers, because few rows are within {radius:.3g} of each "
                f"other. {self._alternative()}"
            )
        return substitute

    @property
    def _cover_requested(self) -> bool:
        """True if parameters request a cover regardless of the number of centers."""
        return self.density is not None or self.ell is not None

    def _substitute(self) -> BaseDensity | None:
        """Return the density to use if the data do not compress, or None if there is none."""
        return None

    def _alternative(self) -> str:
        """Return a sentence that says what to use for data that do not compress."""
        return (
            "Use a larger bandwidth or a smaller ell, or limit the number of centers with "
            "density=KMeansDensity(2000, max_iter=3) or, if the rows arrive in chunks, with "
            "density=ShadowDensity(max_centers=2000)."
        )

    def _store(
        self, rows: Rows, kernel: RadialKernel, density: BaseDensity, model: FittedModel | None
    ) -> Self:
        """Store the result of a fit, after everything that can fail has succeeded."""
        rows.name_features(self)
        self.kernel_ = kernel
        self._replace_density(density)
        self._solved_ = None if model is None else (density.reduced_set_, model)
        return self

    def _replace_density(self, density: BaseDensity) -> None:
        """Store a density with different rows; the eigenproblem is solved again on demand."""
        self.density_, self._solved_ = density, None

    @property
    def _is_fitted(self) -> bool:
        return "density_" in self.__dict__

    def _fix_bandwidth(self, rows: Rows) -> Self:
        """Return an unfitted copy whose bandwidth is computed from these rows."""
        density = self._new_density()
        kernel = self._resolve_kernel(rows, density)
        fixed = clone(self).set_params(kernel=kernel, gamma=None, bandwidth=None)
        return fixed if self.density is None else fixed.set_params(density=density._drop_kernel())

    # -------------------------------------------------------------- streams

    def _refuse_stream(self, verb: str) -> None:
        """Raise an AttributeError if the parameters do not support incremental fitting."""

    @available_if(_density_can("partial_fit"))
    @one_at_a_time
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows; the model is the same as after a single ``fit``, however the rows are chunked.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows. The first chunk fixes the kernel's bandwidth.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        Self
            The estimator. The eigenproblem is solved when its result is first used.

        Raises
        ------
        ValueError
            If there are more than 16,384 centers and most rows have become centers. The chunk is
            then not added, and nothing is changed. Densities with a limited number of centers,
            and ``ell=np.inf``, never raise this error.
        """
        self._check_parameters()
        if not self._is_fitted:
            rows = validate_rows(self, X, sample_weight, min_rows=1)
            density = self._new_density()
            kernel = self._resolve_kernel(rows, density)
            self._summarize(density, rows, kernel, self._refuse_centers)
            return self._store(rows, kernel, density, None)
        self._new_density()._check_unchanged(self.density_)
        rows = validate_more_rows(self, X, sample_weight)
        branch: Any = self.density_._branch()  # copies of this embedding may share the density
        report = (self._refuse_centers,) if isinstance(branch, ShadowDensity) else ()
        self._replace_density(branch._extend(rows, *report))
        return self

    def _refuse_centers(self, n_centers: int, n_rows: int) -> None:
        """Raise an error because most rows have become centers."""
        raise TooManyCentersError(
            f"The data do not compress at this radius: {n_centers:,} of the first {n_rows:,} rows "
            f"became centers. {self._alternative()}"
        )

    @available_if(_density_can("forget"))
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
            The estimator. If a row lies outside every shadow, an error is raised and nothing
            changes. A row inside a shadow is removed even if it was never added, except with a
            ``WindowDensity``, which stores its rows.
        """
        check_is_fitted(self)
        self._check_parameters()
        self._new_density()._check_unchanged(self.density_)
        rows = validate_more_rows(self, X, sample_weight, all_zero=False)
        branch: Any = self.density_._branch()
        self._replace_density(branch._withdraw(rows))
        return self

    def _merge(self, others: Sequence[KernelEmbedding]) -> Self:
        """Return the embedding for the combined data; see :func:`rskpca.merge`."""
        self._check_parameters()
        try:
            self._refuse_stream("merge")
        except AttributeError as error:
            raise ValueError(str(error)) from None
        merged = clone(self)
        merged.kernel_, merged._solved_ = self.kernel_, None
        merged.density_ = merge(self.density_, *(other.density_ for other in others))
        return merged

    # -------------------------------------------------------------- fitted results

    @property
    def model_(self) -> FittedModel:
        """The fitted model, recomputed on access if the data have changed."""
        check_is_fitted(self)
        summary, solved = self._summary(), self._solved_
        if solved is None or solved[0] is not summary:
            solved = self._solved_ = summary, self._solve(summary)
        return solved[1]

    @model_.setter
    def model_(self, model: FittedModel) -> None:
        self._solved_ = self._summary(), model

    def _summary(self) -> Any:
        """Return the summary of the data from which the model is computed."""
        return self.density_.reduced_set_

    def _solve(self, summary: Any) -> FittedModel:
        """Compute the model from a data summary."""
        return self._decompose(self.kernel_, summary)

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
        return self._embed(X)

    def _embed(self, X: Any) -> Array:
        """Return the coordinates as an array, regardless of ``set_output``."""
        return self.model_.embed(validate_points(self, X))

    @property
    def eigensystem_(self) -> EigenSystem:
        """The solved eigenproblem."""
        return self.model_.system

    @property
    def eigenvalues_(self) -> Array:
        """Eigenvalues of the weighted Gram matrix, on the scale of scikit-learn's KernelPCA."""
        return self.model_.eigenvalues

    @property
    def basis_(self) -> Array:
        """The points at which ``transform`` evaluates the kernel."""
        return self.model_.basis

    @property
    def certificate_(self) -> Certificate:
        """Bounds on the difference from the exact method, computed without the data."""
        found = self.model_.certificate
        if found is None:
            raise AttributeError(f"{type(self).__name__} has no certificate.")
        return found

    def certify(
        self, X: Any = None, sample_weight: Any = None, *, confidence: float = 0.95
    ) -> Certificate:
        """Return a certificate at the given confidence, optionally with measured errors.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            The training data, or a sample of them, on which to measure the errors. The
            measurement is exact. It takes O(n^2) time, but needs memory for only a few blocks of
            kernel values.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row of X.
        confidence : float, default=0.95
            Confidence level of the estimated bounds, between 0 and 1.

        Returns
        -------
        Certificate
            The certificate, which includes the level "measured" if X is given.
        """
        confidence = check.share("confidence", confidence)
        if X is None:
            return self.model_.certify(confidence)
        model = self.model_
        rows = validate_more_rows(self, X, sample_weight, all_zero=False)
        return model.certify(confidence, rows.X, rows.weights)

    def row_error(self, X: Any) -> RowErrors:
        """Estimate the coordinate error of each row, and how well the row is represented.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        RowErrors
            ``coordinates``: the estimated distance between the coordinates from ``transform`` and
            those of exact kernel PCA, after the best linear alignment of the two embeddings.
            ``residual``: the reconstruction error, which is large for rows that the components
            do not represent.
        """
        return self.model_.row_errors(validate_points(self, X))

    @property
    def reduced_set_(self) -> ReducedSet:
        """The reduced set that represents the data."""
        check_is_fitted(self)
        return self.density_.reduced_set_

    @property
    def n_centers_(self) -> int:
        """The number of centers, m."""
        return self.reduced_set_.n_centers

    @property
    def method_(self) -> str:
        """A sentence that says which points represent the data, and why."""
        reduced_set, density = self.reduced_set_, self.density_
        points = (
            f"{type(density).__name__} represents {reduced_set.n_samples:,.6g} rows by "
            f"{reduced_set.n_centers:,} centers"
        )
        substitute = self._substitute()
        if isinstance(density, type(substitute)) and not self._cover_requested:
            return (
                f"{points}, because the default cover would have more than "
                f"{self._most_centers:,}. Set ell or density to choose other centers."
            )
        return f"{points}."

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def ritz_with_more(
    moments: Moments, n_components: int | None, *, center: bool
) -> tuple[EigenSystem, EigenSystem]:
    """Return the requested eigenpairs for all rows, and an extended set with a few more."""
    size = moments.basis.shape[0]
    count = size if n_components is None else n_components
    more = min(count + FURTHER_AXES, size)
    wider = replace(ritz(moments, more, center=center), exact=True)
    return wider.select(slice(count)), wider


def check_components(
    name: str, requested: int | None, found: int, n_points: int, points: str = "centers"
) -> None:
    """Raise if no component was found, and warn if fewer were found than requested."""
    if found <= 0:
        raise NoComponentError(
            "No component has a positive eigenvalue, because the kernel cannot distinguish the "
            "points. Use a smaller bandwidth or more centers."
        )
    if requested is not None and found < requested:
        example = "" if points == "landmarks" else ", for example with a larger ell"
        check.warn(
            f"Only {found} of the {requested} requested components ({name}={requested}) have "
            f"eigenvalues above rounding error. Use more than {n_points} {points}{example}.",
            check.FewComponentsWarning,
        )

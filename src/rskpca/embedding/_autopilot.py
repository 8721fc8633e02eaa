"""Choice between exact kernel PCA and an approximation, given the acceptable error."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _validation as check
from .._core import gram
from .._validation import Rows
from ..certificate.sampled import MOST_COMPONENTS
from ..kernels import AnyKernel, RadialKernel
from ..model import FittedModel
from ..pairs import Estimate
from ..reduced_set import ReducedSet
from ..row_sample import RowSample
from ..spectral import Centered
from ..spectral.eigensystem import decompose
from ..spectral.means import Basis
from ..value_kernels import NamedKernel, RowKernel
from ._base import NoComponentError
from ._precomputed import check_definite, check_diagonal
from ._sizing import CALL, BasisSearch, describe
from .nystrom import NystromKernelPCA

GIGABYTE = 2**30
_EXACT_BYTES = 16  # per entry of the Gram matrix: the matrix and its weighted copy
_MOMENT_BYTES = 80  # per entry of the moments, with one copy per span of rows
_SMALL = 2_000  # up to this number of rows, the solution is exact
_ROUNDING = 1e-6  # acceptable relative error of eigenvalues due to rounding
_AT_ONCE = 0.1  # seconds; exact solutions that take less time need no approximation
# Rough times in seconds per entry of the Gram matrix: fixed cost, per feature, per Lanczos step.
# Fits of 4,597 to 9,298 rows (spambase, twonorm, usps) took 0.9 to 1.3 times as long as predicted.
_VALUE, _FEATURE, _STEP = 1.5e-9, 5e-11, 8e-10
_FIRST_STEPS, _STEPS_PER_COMPONENT = 30, 2
_MOST_POINTS = 2_000  # a larger basis takes minutes
_WHOLE = 5  # time to fit a large basis, relative to the time for its moments alone
_MOST_FEATURES = 2_000  # up to this number, unit vectors are the basis for a linear kernel


@dataclass(frozen=True)
class Found:
    """A fitted embedding, its error, and a description of how it was computed."""

    embedding: NystromKernelPCA
    error: Estimate
    method: str


@dataclass(frozen=True, eq=False)
class Autopilot:
    """Fits kernel PCA to the given rows by the fastest method with an acceptable error.

    Attributes
    ----------
    kernel : RadialKernel or Kernel
        The kernel with its parameters resolved.
    rows : Rows
        The validated rows.
    max_error : float
        The largest acceptable relative error of the embedding.
    max_memory : float
        Memory limit in gigabytes.
    random_state : int, RandomState or None
        Seed for drawing the rows from which a basis is chosen.
    """

    kernel: AnyKernel
    rows: Rows
    max_error: float
    max_memory: float
    random_state: Any

    def fit(self, n_components: int) -> Found:
        """Return kernel PCA with an acceptable error, or warn and return the best model found."""
        if self._spanned:
            return self._fit_unit_vectors(n_components)
        if self._name == "sigmoid":
            self._require_exact('kernel="sigmoid" is not positive definite')
            return self.fit_exactly(n_components)
        if n_components > MOST_COMPONENTS:
            self._require_exact(f"The error is not estimated for n_components={n_components}")
            return self.fit_exactly(n_components)
        most = self._most_points(n_components)
        seconds = self._exact_seconds(n_components) if self._exact_fits else math.inf
        search = self._search(n_components, most, alternative=seconds)
        if most < search.fewest:
            self._require_exact(f"{n_components} components need at least {search.fewest} points")
            return self.fit_exactly(n_components)
        found = self._fit_basis(search)
        if found is not None and found.error.limit <= self.max_error:
            return found
        if found is None or self._exact_fits:
            return self.fit_exactly(n_components)
        check.warn(
            f"max_error={self.max_error:g} was not reached: the {describe(found.error)}. Exact "
            f"kernel PCA of {self._n_rows:,} rows would need {self._exact_gigabytes:.3g} GB. "
            "Increase max_memory or max_error, decrease gamma, or use fewer components."
        )
        return found

    def _require_exact(self, reason: str) -> None:
        """Raise a ValueError if an exact solution needs more memory than ``max_memory``."""
        if not self._exact_fits:
            raise ValueError(
                f"{reason}, and exact kernel PCA of {self._n_rows:,} rows needs "
                f"{self._exact_gigabytes:.3g} GB, more than max_memory={self.max_memory:g}. "
                "Increase max_memory or use fewer components."
            )

    def start(self, n_components: int) -> NystromKernelPCA:
        """Return kernel PCA in the span of a fixed basis, so that rows can be added later."""
        search = self._search(n_components, self._largest_basis)
        embedding = self._new_landmark_model(n_components)
        return embedding.fit_basis(self.rows, self.kernel, search.find())

    # -------------------------------------------------------------- methods

    def fit_exactly(self, n_components: int) -> Found:
        """Return exact kernel PCA of all rows."""
        X, weights = self.rows.positive
        zeros = np.zeros(X.shape[0])  # each row is its own center
        sample = RowSample.of(X, weights, np.arange(X.shape[0]), self.random_state)
        moved: Any = {"displacement": zeros, "scatter": zeros}
        points = ReducedSet(X, weights, 0.0, spacing=0.0, sample=sample, **moved)
        system = decompose(Centered(), self.kernel, points, n_components)
        found = len(system.eigenvalues)
        if not isinstance(self.kernel, RadialKernel):
            check_diagonal(self.kernel.diagonal(X))
            if found < n_components:
                self._check_definite(n_components)
        if found == 0:
            raise NoComponentError("No component has a positive eigenvalue.")
        scale = np.sqrt(system.eigenvalues)
        model = FittedModel(self.kernel, points, system, system, scale, certified=True)
        embedding = NystromKernelPCA(n_components, kernel=self.kernel, n_centers=X.shape[0])
        embedding._store_landmarks(self.rows, self.kernel, points, None, model)
        return Found(embedding, Estimate(0.0, 0.0), f"exact kernel PCA of {X.shape[0]:,} rows")

    def _check_definite(self, n_components: int) -> None:
        X, weights = self.rows.positive
        root, shares = np.sqrt(weights)[:, None], weights / weights.sum()
        matrix = gram.gram(self.kernel, X, X)
        means = matrix @ shares
        check_definite(
            (matrix - means - means[:, None] + shares @ means) * root * root.T, n_components
        )

    def _fit_unit_vectors(self, n_components: int) -> Found:
        """Return exact kernel PCA if the feature space is spanned by the unit vectors."""
        size = self.rows.X.shape[1]
        embedding = self._new_landmark_model(n_components)
        with _no_warning_about_components():
            embedding.fit_basis(self.rows, self.kernel, Basis(np.eye(size)))
        values, moments = embedding.eigenvalues_, embedding.model_.system.trace
        means = float(np.sum(np.asarray(self.rows.weights @ self.rows.X) ** 2)) / self._total
        lost = float(np.finfo(np.float64).eps) * (moments + means) / float(values[-1])
        if lost > _ROUNDING and self._exact_fits:  # the mean is far from the origin
            return self.fit_exactly(n_components)
        error = 0.0 if lost <= _ROUNDING else min(lost, 1.0)
        return Found(embedding, Estimate(error, error), f"exact kernel PCA in {size:,} features")

    def _fit_basis(self, search: BasisSearch) -> Found | None:
        """Return kernel PCA in the span of a basis, enlarged until the error is acceptable."""
        embedding = self._new_landmark_model(search.n_components)
        basis = search.start()
        if basis is None:
            return None
        while basis is not None:
            with _no_warning_about_components():
                embedding.fit_basis(self.rows, self.kernel, basis, search.sample_for(len(basis)))
            model, used = embedding.model_, basis
            error = search.error(model, embedding._moments_)
            basis = None if error.limit <= self.max_error else search.enlarge(used, model, error)
        return Found(embedding, error, f"kernel PCA of all rows in the span of {used.describe()}")

    def _new_landmark_model(self, n_components: int) -> NystromKernelPCA:
        options: Any = {"kernel": self.kernel, "random_state": self.random_state}
        return NystromKernelPCA(n_components, landmarks="auto", max_error=self.max_error, **options)

    def _search(
        self, n_components: int, most: int, *, alternative: float = math.inf
    ) -> BasisSearch:
        # A kernel function passed by the user may not be defined for means of rows.
        rules = ("rpcholesky",) if self._is_function else ("means", "rpcholesky")
        return BasisSearch(
            self.kernel,
            self.rows.counted,
            n_components,
            center=True,
            rules=rules,
            max_error=self.max_error,
            random_state=self.random_state,
            most=most,
            alternative=alternative,
        )

    # -------------------------------------------------------------- costs

    @property
    def _total(self) -> float:
        return float(self.rows.weights.sum())

    @property
    def _n_rows(self) -> int:
        return int(np.count_nonzero(self.rows.weights))

    @property
    def _is_function(self) -> bool:
        return isinstance(self.kernel, RowKernel)

    @property
    def _name(self) -> str | None:
        return self.kernel.name if isinstance(self.kernel, NamedKernel) else None

    @property
    def _spanned(self) -> bool:
        """True if the unit vectors span all rows in feature space and are few enough to use."""
        n_features = self.rows.X.shape[1]
        return n_features <= self._n_rows and spanned_by_features(self.kernel, n_features)

    @property
    def _exact_gigabytes(self) -> float:
        return _EXACT_BYTES * float(self._n_rows) ** 2 / GIGABYTE

    @property
    def _exact_fits(self) -> bool:
        return self._exact_gigabytes <= self.max_memory

    def _exact_seconds(self, n_components: int) -> float:
        steps = _FIRST_STEPS + _STEPS_PER_COMPONENT * n_components
        value = CALL if self._is_function else _VALUE + _FEATURE * self.rows.X.shape[1]
        return float(self._n_rows) ** 2 * (value + _STEP * steps)

    @property
    def _largest_basis(self) -> int:
        """The largest number of basis points that the limits on memory and time allow."""
        in_memory = math.isqrt(int(min(self.max_memory, 2**20) * GIGABYTE / _MOMENT_BYTES))
        return min(in_memory, _MOST_POINTS)

    def _most_points(self, n_components: int) -> int:
        """Return the largest basis size worth trying; 0 if an exact solution takes little time."""
        most = self._largest_basis
        if not self._exact_fits:
            return min(most, self._n_rows)
        seconds = self._exact_seconds(n_components)
        if seconds <= _AT_ONCE or (self._n_rows <= _SMALL and not self._is_function):
            return 0
        sizes = np.arange(1, self._n_rows)
        times = gram.moments_seconds(self._n_rows, sizes, self.rows.X.shape[1])
        return min(most, int(sizes[_WHOLE * times <= seconds].max(initial=0)))


def spanned_by_features(kernel: AnyKernel, n_features: int) -> bool:
    """Return True if the unit vectors span all rows in feature space and are few enough to use."""
    linear = isinstance(kernel, NamedKernel) and kernel.name in ("linear", "cosine")
    return linear and n_features <= _MOST_FEATURES


def is_unit_basis(kernel: AnyKernel, basis: Basis) -> bool:
    """Return True if a basis consists of the unit vectors, which span all rows."""
    spanned = spanned_by_features(kernel, basis.points.shape[1])
    return spanned and np.array_equal(basis.points, np.eye(basis.points.shape[1]))


def _no_warning_about_components() -> warnings.catch_warnings[None]:
    """Return a context that suppresses the warning about fewer components than requested."""
    return warnings.catch_warnings(action="ignore", category=check.FewComponentsWarning)

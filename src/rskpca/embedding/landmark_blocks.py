"""Landmark models for data that are not in memory: landmarks from a sample, sums from all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from .. import _validation as check
from .._core.sampling import limit_rows
from .._validation import Rows, validate_rows
from ..density import BaseDensity
from ..density.blocks import checked_block
from ..kernels import RadialKernel
from ..model import FittedModel
from ..pairs import Estimate
from ..reduced_set import ReducedSet
from ..row_sample import SIZE, RowSample, block_salt
from ..spectral import Moments
from ..spectral.means import Basis, sample_size
from ._sizing import describe, error_limit
from .blocks import named_like, not_in_blocks
from .nystrom import NystromKernelPCA, with_total

Array = NDArray[np.floating]

# Rules that compare rows, and the search for a requested error, receive rows with this number of
# values in total: 128 MB in float32. The largest basis of the search has 4,000 points.
_CANDIDATE_VALUES = 2**25
_FEWEST_CANDIDATES, _MOST_CANDIDATES = 10_000, 80_000


# ------------------------------------------------------------------ landmarks


def chooses_landmarks(estimator: Any) -> bool:
    """Return True for a landmark model whose landmarks are not given, but depend on the rows."""
    kinds = str | Integral | BaseDensity
    return isinstance(estimator, NystromKernelPCA) and isinstance(estimator.landmarks, kinds)


def n_candidates(estimator: NystromKernelPCA, n_features: int) -> int:
    """Return the number of rows from which landmarks are chosen if the data are not in memory."""
    if _draws_rows(estimator):
        return sample_size(estimator._rule.count(np.iinfo(np.intp).max))
    return int(np.clip(_CANDIDATE_VALUES // n_features, _FEWEST_CANDIDATES, _MOST_CANDIDATES))


def _draws_rows(estimator: NystromKernelPCA) -> bool:
    """Return True if the rule only draws a few rows uniformly, without comparing rows."""
    rule = estimator.landmarks
    drawn = isinstance(rule, Integral) or (isinstance(rule, str) and rule in ("uniform", "means"))
    return drawn and estimator._rule.wanted_error is None


def _candidates(estimator: NystromKernelPCA, rows: Rows) -> Rows:
    """Return a sample from which to choose landmarks, or all rows if the rule itself samples."""
    if _draws_rows(estimator):
        return rows
    X, weights = rows.positive
    given = weights if rows.weighted else None
    rng = check_random_state(estimator.random_state)
    X, given = limit_rows(X, given, n_candidates(estimator, X.shape[1]), rng)
    weights = np.ones(len(X)) if given is None else given
    return Rows(np.asarray(X), weights, given is not None)


def choose_landmarks(estimator: NystromKernelPCA, rows: Rows) -> NystromKernelPCA:
    """Return an unfitted copy with landmarks chosen from rows that need not be in memory."""
    # The landmarks equal those of fit if the rule draws rows uniformly, or if there are few rows.
    _, basis, _ = estimator._choose_basis(_candidates(estimator, rows))
    return with_basis(estimator, basis)


def with_basis(estimator: NystromKernelPCA, basis: Basis) -> NystromKernelPCA:
    """Return an unfitted copy with these landmarks instead of a rule."""
    options = {"n_centers": None, "n_axes": None, "max_error": None}
    return clone(estimator).set_params(landmarks=basis, **options)


def find_more_landmarks(
    estimator: NystromKernelPCA, fitted: NystromKernelPCA, rows: Callable[[], Rows] | None
) -> Basis | None:
    """Return a larger basis, or None if the model is accurate enough or cannot be improved."""
    wanted = estimator._rule.wanted_error
    if wanted is None:
        return None
    found = error_limit(fitted.model_, wanted)
    if found.limit <= wanted:
        return None
    if rows is None:
        _warn_once_only(wanted, found)
        return None
    search = estimator._rule.search(fitted.kernel_, _candidates(estimator, rows()))
    larger = search.enlarge(fitted.shared_landmarks_, fitted.model_, found)
    if larger is None:
        search.warn_missed(found)
    return larger


def _warn_once_only(wanted: float, found: Estimate) -> None:
    check.warn(
        f"max_error={wanted:g} was not reached: the {describe(found)}. The landmarks were chosen "
        "from the first block, because the data can be read only once. Pass a source that can be "
        "read again, or set n_centers instead of max_error."
    )


# ------------------------------------------------------------------ blocks


@dataclass(frozen=True, eq=False)
class LandmarkSums:
    """Moments of a block of rows in the span of the landmarks, and a sample of these rows."""

    moments: Moments
    sample: RowSample

    def merge(self, other: LandmarkSums) -> LandmarkSums:
        """Return the sums over the rows of both blocks, which must have the same landmarks."""
        sample = self.sample.merge(other.sample, np.zeros(1, dtype=np.intp))
        assert sample is not None
        return LandmarkSums(self.moments.merge(other.moments), sample)


@dataclass(frozen=True, eq=False)
class LandmarkBlocks:
    """Settings shared by all blocks: empty moments, and the seed for the row sample."""

    moments: Moments
    seed: int

    def summarize(self, X: Any, sample_weight: Any = None) -> LandmarkSums | None:
        """Return the sums over the rows of one block, or None if it has no rows."""
        rows, weights = checked_block(self.moments.basis.shape[1], X, sample_weight)
        if len(rows) == 0:
            return None
        empty = RowSample.empty(rows, SIZE, block_salt(rows, self.seed))
        assert empty is not None
        sample = empty.add(rows, weights, np.zeros(len(rows), dtype=np.intp))
        given = None if sample_weight is None else weights
        return LandmarkSums(self.moments.add(rows, given), sample)


@dataclass(frozen=True, eq=False)
class LandmarkFit:
    """Fit of a landmark model to blocks of rows: summarize, merge and solve.

    The step that processes blocks is the pure method ``summarize`` of ``blocks``, which is small
    and can be pickled.

    Attributes
    ----------
    estimator : NystromKernelPCA
        The estimator to fit; it does not change until :meth:`fitted` is called.
    kernel : RadialKernel
        The kernel with its bandwidth resolved.
    candidates : Rows
        Rows from which landmarks are chosen.
    basis : Basis
        The landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> from functools import reduce
    >>> from rskpca import NystromKernelPCA
    >>> from rskpca.embedding.landmark_blocks import LandmarkFit, LandmarkSums
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> fit = LandmarkFit.of(NystromKernelPCA(2, landmarks="means", n_centers=20), X[::2])
    >>> parts = map(fit.blocks().summarize, np.array_split(X, 8))
    >>> sums = reduce(LandmarkSums.merge, parts)
    >>> model = fit.fitted(sums, fit.solve(sums))
    >>> model.model_.reduced_set.n_samples
    1000.0
    """

    estimator: NystromKernelPCA
    kernel: RadialKernel
    candidates: Rows
    basis: Basis

    @classmethod
    def of(
        cls,
        estimator: NystromKernelPCA,
        X: Any,
        sample_weight: Any = None,
        fixed: NystromKernelPCA | None = None,  # an unfitted copy with a numeric bandwidth
    ) -> LandmarkFit:
        """Check the parameters, and choose the landmarks from a sample of the rows."""
        check_in_blocks(estimator)
        rows = validate_rows(estimator, X, sample_weight, min_rows=1)
        fixed = estimator._fix_bandwidth(rows) if fixed is None else fixed
        kernel, basis, _ = fixed._choose_basis(rows)
        return cls(estimator, kernel, rows, basis)

    def blocks(self) -> LandmarkBlocks:
        """Return the settings shared by all blocks."""
        moments = Moments.of(self.kernel, self.basis.points, self.basis.subspace)
        seed = check_random_state(self.estimator.random_state).randint(2**31 - 1)
        return LandmarkBlocks(moments, int(seed))

    def solve(self, sums: LandmarkSums) -> FittedModel:
        """Solve the eigenproblem of all rows in the span of the landmarks, given merged sums."""
        landmarks = ReducedSet(self.basis.points, np.ones(len(self.basis)))
        landmarks = with_total(landmarks, sums.moments.total, sums.sample)
        return self.estimator._through_landmarks(landmarks, sums.moments)

    def improve(self, model: FittedModel) -> LandmarkFit | None:
        """Return a fit with more landmarks if a solved model misses ``max_error``, else None."""
        if self.estimator._rule.wanted_error is None:
            return None
        search = self.estimator._rule.search(self.kernel, self.candidates)
        larger = search.improve(self.basis, model)
        return None if larger is None else replace(self, basis=larger)

    def fitted(self, sums: LandmarkSums, model: FittedModel, *, like: Any = None) -> Any:
        """Store a solved model in the estimator, with the feature names of ``like``."""
        landmarks = model.reduced_set
        like = landmarks.centers if like is None else like
        rows = named_like(self.estimator, like, landmarks)
        return self.estimator._store_landmarks(rows, self.kernel, landmarks, sums.moments, model)


def check_in_blocks(estimator: Any) -> None:
    """Raise if the parameters are invalid, or the model cannot be computed from sums over rows."""
    if estimator.extension != "landmarks" or not estimator._takes_chunks:
        raise not_in_blocks(estimator)
    estimator._check_parameters()


def median_seeds(estimator: NystromKernelPCA) -> list[Any]:
    """Return a list with the seed for the bandwidth rule; empty if the bandwidth is a number."""
    check_in_blocks(estimator)
    kernel, _ = estimator._asked_kernel()
    rule = isinstance(kernel, RadialKernel) and isinstance(kernel.bandwidth, str)
    return [estimator.random_state] if rule else []

"""Choice of the basis points, and of their number, for a requested error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from .._core import gram
from .._core.subspace import Subspace
from ..certificate.sampled import Analysis
from ..kernels import RadialKernel
from ..model import FittedModel
from ..pairs import Estimate, PairValues
from ..reduced_set import ReducedSet
from ..row_sample import RowSample
from ..spectral import Moments
from ..spectral.landmarks import RULES
from ..spectral.means import (
    Basis,
    choose_means,
    default_axes,
    principal_subspace,
    sample_for_means,
)
from ._base import ritz_with_more

Array = NDArray[np.floating]

CONFIDENCE = 0.95
_FEWEST = 25  # number of points in the first basis that is tried
_PER_COMPONENT = 5
_SHARE = 0.8  # share of max_error at which the limit for the next model is aimed
_ESTIMATED_SHARE = 0.6  # the same for the estimated error of a basis; its limit is larger
_ROWS = 600  # sampled rows from which the error of a basis is estimated
_FIRST_ROWS = 250  # sampled rows that are enough to decide clear cases
_MUCH_WORSE = 2.0  # a rule whose error exceeds the best one by this factor is not tried again
_LEAST_GROWTH, _MOST_GROWTH = 1.3, 3.0
# Relative residual up to which rows may be better basis points than means. Above it, means were
# always better on covtype, magic, pendigits and generated data in 2 to 10 dimensions.
_SMALL_RESIDUAL = 0.03
# The error is assumed to decrease with this power of the size. The power is 1 on mnist and 2 on
# pendigits; the search should not overshoot, because the cost grows with the square of the size.
_RATE = 1.25
_FAR = 4  # give up if more than this multiple of the largest basis size is needed
_PATIENCE = 20.0  # seconds; but do not give up if the largest basis takes less time
_HOPEFUL_RATE = 2.0  # optimistic rate, assumed before giving up
_RATES = 0.5, 3.0  # range to which rates measured during a search are clipped
_CHEAP = 0.02  # seconds; about the time to estimate the error of one basis
_DIRECT = 0.15  # seconds; a model that takes less time is fitted without estimating its error first
_MOST_CHEAP = 200
_ROWS_PER_POINT = 10  # smallest ratio of rows to points in the guessed basis
_UNKNOWN = 0.9  # error above which the coordinates are unrelated to the exact ones
_EXPENSIVE = 0.3  # seconds; before a longer step, the error is estimated from all sampled rows
_MOST = 4_000  # basis points; their moments take 128 MB


class Candidate(NamedTuple):
    """A basis and its estimated error."""

    error: float
    basis: Basis


class BasisSearch:
    """Search for a small basis whose estimated embedding error is below a limit.

    Parameters
    ----------
    kernel : RadialKernel
        The kernel with its bandwidth resolved.
    rows : tuple of ndarray and ndarray or None
        The rows with positive weight, and their weights.
    sample : RowSample
        A uniform sample of the rows, from which errors are estimated.
    n_components : int
        Number of components of the embedding.
    center : bool
        Whether to center in feature space.
    rules : sequence of str
        Rules that choose basis points; all of them are tried for each size.
    max_error : float
        The largest acceptable error.
    seed : int
        Seed for the rows from which basis points are chosen. It is used for every size, so that
        the basis of a given size does not depend on the sizes that were tried before.
    most : int
        Largest number of basis points.
    alternative : float
        Seconds that another method takes, which the caller uses if too many points are needed;
        infinity if there is none.
    """

    def __init__(
        self,
        kernel: RadialKernel,
        rows: tuple[Array, Array | None],
        sample: RowSample,
        n_components: int,
        *,
        center: bool,
        rules: Sequence[str],
        max_error: float,
        seed: int,
        most: int = _MOST,
        alternative: float = math.inf,
    ) -> None:
        self.kernel, self.n_components, self.center = kernel, n_components, center
        self.rules, self.seed = rules, seed
        self._rows, self.n_rows = rows, rows[0].shape[0]
        self.sample, self._sample = sample, sample.head(_ROWS)
        self._values = PairValues(kernel, sample)
        self.total = float(rows[0].shape[0] if rows[1] is None else rows[1].sum())
        self.wanted, self.most = max_error, min(most, _MOST)
        self.alternative = alternative
        self._axes: dict[int, Subspace] = {}
        self._missed: list[tuple[int, float]] = []  # sizes and errors of models fitted to all rows

    def start(self) -> Basis | None:
        """Return the basis for a first model, whose error then shows whether the basis suffices."""
        # If the moments of many basis points take less time than estimating the error of a few,
        # there is no point in looking for the smallest basis.
        size = self._feasible(min(self._cheap_size(), max(self._guess(), self.fewest)))
        if size < self.fewest or size == self.n_rows:
            return self._find(self.fewest)
        return self._first_choice(size)

    def find(self) -> Basis:
        """Return the first basis with a small enough estimated error, or the largest one."""
        found = self._find(self.fewest)
        assert found is not None
        return found

    def _find(self, size: int) -> Basis | None:
        """Return the result of :meth:`find`, starting from a given size.

        If there is an alternative, return None as soon as too many points seem to be needed.
        """
        tried: list[tuple[int, float]] = []
        while True:
            size = self._feasible(size)
            if size == self.n_rows:
                return self._all_rows()
            if 2 * size > len(self._sample):  # too many points for an estimate from these rows
                return self._first_choice(size)
            error, basis = self._best(size)
            tried.append((size, error))
            accurate = error <= _ESTIMATED_SHARE * self.wanted
            if accurate or self._exhausted(basis, size) or _hopeless(tried, 3):
                return basis
            grown = self._grow(tried, _ESTIMATED_SHARE)
            if grown is None:
                return None if self._has_alternative else basis
            size = grown

    def _best(self, size: int) -> Candidate:
        """Return the best basis of one size, and drop rules that are much worse."""
        found = {
            rule: Candidate(self._estimate(basis), basis)
            for rule, basis in self._candidates(size, self._suitable(size)).items()
        }
        best = min(found.values(), key=lambda candidate: candidate.error)
        order = sorted(found, key=lambda rule: found[rule].error)
        self.rules = [rule for rule in order if found[rule].error <= _MUCH_WORSE * best.error]
        return best

    @property
    def fewest(self) -> int:
        """The smallest basis that is tried."""
        return max(_FEWEST, _PER_COMPONENT * self.n_components)

    def _guess(self) -> int:
        """Return a size that often suffices for the requested error."""
        # The size includes a margin for the error limit. It suffices on pendigits, covtype, magic
        # and skin.
        size = 40 * (0.1 / self.wanted) ** 0.6 * (self.n_components / 2) ** 0.4
        return min(round(size), self.n_rows // _ROWS_PER_POINT)

    def _cheap_size(self) -> int:
        """Return the largest basis whose moments take less time than estimating an error."""
        sizes = np.arange(_FEWEST, _MOST_CHEAP + 1)
        return int(sizes[self._moments_seconds(sizes) <= _CHEAP].max(initial=0))

    def _moments_seconds(self, sizes: Any) -> Any:
        """Estimate the seconds needed to compute the moments of all rows for each basis size."""
        widths = np.minimum(default_axes(sizes, self.n_components), self._rows[0].shape[1])
        return gram.moments_seconds(self.n_rows, sizes, widths)

    def error(self, model: FittedModel, span: Moments | None = None) -> Estimate:
        """Estimate the error of a model of all rows, as accurately as the search requires."""
        size = model.reduced_set.n_centers

        def next_seconds(found: Estimate) -> float:
            grown = self._grow([*self._missed, (size, found.limit)])
            return self.alternative if grown is None else float(self._moments_seconds(grown))

        return error_limit(model, self.wanted, self._values, span, next_seconds)

    def improve(
        self, basis: Basis, model: FittedModel, span: Moments | None = None
    ) -> Basis | None:
        """Return a larger basis, or None if the model is accurate enough or cannot be improved."""
        found = self.error(model, span)
        if found.limit <= self.wanted:
            return None
        larger = self.enlarge(basis, model, found)
        if larger is None:
            self.warn_missed(found)
        return larger

    def enlarge(self, basis: Basis, model: FittedModel, found: Estimate) -> Basis | None:
        """Return a larger basis for a model whose error is too large, or None if there is none."""
        size = len(basis)
        self._missed.append((size, found.limit))
        grown = self._grow(self._missed)
        if grown is None or self._exhausted(basis, size) or _hopeless(self._missed, 2):
            return None
        larger = self._choose_size(self._feasible(grown), model)
        return larger if len(larger) > size else None

    def _choose_size(self, size: int, model: FittedModel) -> Basis:
        """Return a basis of this size, after comparing the rules if it could pay off."""
        # The size follows from the errors of fitted models, which are estimated more accurately
        # than those of a basis.
        if size == self.n_rows:
            return self._all_rows()
        direct = self._moments_seconds(size) <= _DIRECT and _residual(model) > _SMALL_RESIDUAL
        if direct or len(self._suitable(size)) == 1 or 2 * size > len(self._sample):
            return self._first_choice(size)
        return self._best(size).basis

    def _all_rows(self) -> Basis:
        return Basis(self._rows[0].astype(np.float64), kind="rows")

    def warn_missed(self, found: Estimate) -> None:
        """Warn that the requested error was not reached."""
        check.warn(
            f"max_error={self.wanted:g} was not reached with the largest possible basis: the "
            f"{describe(found)}. Use a larger bandwidth, fewer components or a larger max_error."
        )

    def _feasible(self, size: int) -> int:
        """Return the size, increased to all rows if above half of them, and limited to ``most``."""
        return min(self.n_rows if 2 * size > self.n_rows else size, self.most)

    def _exhausted(self, basis: Basis, size: int) -> bool:
        return len(basis) < size or size in (self.most, self.n_rows)

    def _grow(self, tried: list[tuple[int, float]], share: float = _SHARE) -> int | None:
        """Return the next size to try, or None if larger bases are not worth trying.

        If more than half of the rows are likely to be needed, the next size is the number of rows.
        """
        size, error = tried[-1]
        known = [(size, error) for size, error in tried if error < 1]
        ratio, rate = error / (share * self.wanted), _rate(known)
        needed = size * ratio ** (1 / rate)
        if 2 * needed > self.n_rows and len(known) > 1 and self.most >= self.n_rows:
            return self.n_rows
        if self._out_of_reach(size * ratio ** (1 / (rate if len(known) > 1 else _HOPEFUL_RATE))):
            return None
        return math.ceil(np.clip(needed, _LEAST_GROWTH * size, _MOST_GROWTH * size))

    def _out_of_reach(self, needed: float) -> bool:
        """Return True if larger bases are not worth trying, because too many points are needed."""
        if self._has_alternative:
            return needed > self.most
        # The largest basis is still the best one, if it does not take long.
        return needed > _FAR * self.most and self._moments_seconds(self.most) > _PATIENCE

    @property
    def _has_alternative(self) -> bool:
        return math.isfinite(self.alternative)

    def _first_choice(self, size: int) -> Basis:
        """Return a basis chosen by the best rule so far."""
        rule = self._suitable(size)[0]
        return self._candidates(size, [rule])[rule]

    def _candidates(self, size: int, rules: Sequence[str]) -> dict[str, Basis]:
        """Return one basis per rule."""
        rng = np.random.RandomState(self.seed)
        rows = sample_for_means(*self._rows, size, rng)
        return {rule: self._choose(rule, rows, size, rng) for rule in rules}

    def _suitable(self, size: int) -> Sequence[str]:
        """Return the rules worth trying for this size."""
        if default_axes(size, self.n_components) < self._rows[0].shape[1]:
            # In high dimensions, means are several times as accurate as rows.
            return [rule for rule in self.rules if rule == "means"] or self.rules
        return self.rules

    def _choose(self, rule: str, rows: Array, size: int, rng: Any) -> Basis:
        """Return a basis of sampled rows or of their means, chosen by the rule."""
        if size == rows.shape[0]:
            return Basis(rows, kind="rows")
        if rule == "means":
            n_axes = default_axes(size, self.n_components)
            subspace = self._subspace(n_axes)
            if subspace is not None and subspace.n_axes == 0:  # all sampled rows are equal
                return Basis(rows[:1], kind="rows")
            return choose_means(rows, size, n_axes, rng, subspace)
        return Basis(rows[RULES[rule](self.kernel, rows, None, size, rng)], kind="rows")

    def _subspace(self, n_axes: int) -> Subspace | None:
        """Return at least ``n_axes`` cached principal axes, or None if all axes are needed."""
        if n_axes >= self._rows[0].shape[1]:
            return None
        n_axes = 2 ** math.ceil(math.log2(n_axes))
        if n_axes not in self._axes:
            rows = sample_for_means(*self._rows, 0, np.random.RandomState(self.seed))
            self._axes[n_axes] = principal_subspace(rows, n_axes)
        return self._axes[n_axes]

    def _estimate(self, basis: Basis) -> float:
        """Estimate the error of the embedding in the span of a basis."""
        sample = self._sample
        counts = sample.weights / sample.probabilities  # number of rows that each represents
        moments = Moments.of(self.kernel, basis.points, basis.subspace)
        moments = moments.add(sample.rows.astype(np.float64), counts)
        system, wider = ritz_with_more(moments, self.n_components, center=self.center)
        if len(system.eigenvalues) < self.n_components:
            return 1.0
        weights = np.full(len(basis), self.total / len(basis))
        points = ReducedSet(basis.points, weights, sample=self.sample)
        analysis = Analysis.of(
            self.kernel, points, system, wider, len(sample), values=self._values, span=moments
        )
        return 1.0 if analysis is None else analysis.estimate()


def _residual(model: FittedModel) -> float:
    """Return the share of the trace outside the span of the basis."""
    system = model.system
    return float(system.residual / max(system.trace, system.residual))


def _hopeless(tried: list[tuple[int, float]], patience: int) -> bool:
    """Return True if none of the last ``patience`` bases approximates the embedding."""
    return len(tried) >= patience and all(error > _UNKNOWN for _, error in tried[-patience:])


def _rate(known: list[tuple[int, float]]) -> float:
    """Return the exponent of the decrease in error, measured at the last two sizes if possible."""
    if len(known) < 2:
        return _RATE
    (before, large), (now, small) = known[-2:]
    if small >= large:  # by chance
        return _RATE
    return float(np.clip(math.log(large / small) / math.log(now / before), *_RATES))


def error_limit(
    model: FittedModel,
    wanted: float,
    values: PairValues | None = None,
    span: Moments | None = None,
    next_seconds: Callable[[Estimate], float] = lambda found: math.inf,
) -> Estimate:
    """Estimate the error from a few rows, and from more rows while this could save time.

    ``next_seconds`` returns the time, in seconds, of what the caller does if the error is too
    large. Estimates from few rows are often too large, which could make this needlessly expensive.
    """
    parts = model.kernel, model.reduced_set, model.system, model.wider
    for rows in (_FIRST_ROWS, _ROWS, None):
        analysis = Analysis.of(*parts, rows, values=values, span=span)
        if analysis is None:
            return Estimate(1.0, 1.0)
        found = analysis.embedding_limit(CONFIDENCE)
        if found.limit <= wanted:
            break
        too_large = 2 * found.estimate - found.limit >= wanted
        certain = too_large or (rows == _ROWS and analysis.resolved)
        if certain and next_seconds(found) <= _EXPENSIVE:
            break
    return found


def full_error(model: FittedModel) -> Estimate:
    """Estimate the error of a model from all sampled rows."""
    analysis = Analysis.of(model.kernel, model.reduced_set, model.system, model.wider)
    return Estimate(1.0, 1.0) if analysis is None else analysis.embedding_limit(CONFIDENCE)


def describe(found: Estimate) -> str:
    """Return an estimated error as part of a sentence."""
    return f"estimated error is {found.estimate:.2g} (at most {found.limit:.2g})"

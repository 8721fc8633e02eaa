"""Choice of the basis points, and of their number, for a requested error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .. import _validation as check
from .._core import gram
from .._core.parallel import single_threaded_blas
from .._core.subspace import Subspace
from ..certificate.sampled import Analysis, AxisImages
from ..kernels import AnyKernel
from ..model import FittedModel
from ..pairs import Estimate, PairValues
from ..reduced_set import ReducedSet
from ..row_sample import SIZE, RowSample
from ..spectral import EigenSystem, Moments
from ..spectral.landmarks import RULES
from ..spectral.means import (
    Basis,
    choose_means,
    default_axes,
    principal_subspace,
    sample_for_means,
    sample_size,
)
from ..value_kernels import RowKernel
from ._base import ritz_with_more

Array = NDArray[np.floating]

CONFIDENCE = 0.95
_FEWEST = 25  # number of points in the first basis that is tried
_PER_COMPONENT = 5
_SHARE = 0.8  # share of max_error at which the limit for the next model is aimed
# Bases are first tried on a sample of this many rows; fewer if it would have more than
# _TRIAL_VALUES entries, but at least SIZE. More rows take more time, but allow larger bases.
_TRIAL_ROWS, _TRIAL_VALUES = 8_000, 2**22
_TRIAL_AXES = 64  # principal axes that are computed at once, enough for most searches
_FEW_ROWS = 3  # trials on a sample save no time if there are fewer than this multiple of its rows
_TRIAL_ROWS_PER_POINT = 6  # smallest ratio of tried rows to points
_MUCH_WORSE = 2.0  # a rule whose error exceeds the best one by this factor is not tried again
_LEAST_GROWTH, _MOST_GROWTH = 1.5, 3.0
# Relative residual up to which rows may be better basis points than means. Above it, means were
# always better on covtype, magic, pendigits and generated data in 2 to 10 dimensions.
_SMALL_RESIDUAL = 0.03
# The size needed for a smaller error is assumed to grow with this power of the ratio of the errors:
# a constant, plus a multiple of the logarithm of the share of the trace outside the span. This was
# fitted to covtype, magic, pendigits, skin, usps and generated data, where it predicts the size
# within a factor of about 1.5. _WEIGHT is the weight of this assumption relative to the errors
# measured for other sizes.
_POWER, _POWER_OF_RESIDUAL, _WEIGHT = 1.0, 0.16, 0.1
_FAR = 4  # give up if more than this multiple of the largest basis size is needed
_PATIENCE = 20.0  # seconds; but do not give up if the largest basis takes less time
_HOPEFUL_RATE = 2.0  # optimistic rate, assumed before giving up
_RATES = 0.5, 5.0  # range to which rates are clipped; those up to 5 occur in 3 dimensions
_ROUGH = 0.3  # errors above this do not show how fast the error decreases
_CHEAP, _CHEAP_ROWS = 0.02, 1_000  # seconds to estimate the error of one basis from so many rows
_MOST_CHEAP = 200
_WORTHWHILE = 4  # a trial has to save this multiple of its time, because it may fail
_MEANS, _EIGEN = 6e-9, 2e-10  # seconds per pair of means and feature, and per triple
# The first basis has c * max_error^a * n_components^b * s^p points, where s is the share of the
# trace of sampled rows outside the span of every eighth of them. The values of c, a, b, p were
# fitted to covtype, magic, pendigits, skin, usps and generated data, where they predict the size
# within a factor of about 1.8. Because a second basis takes more time, the first one is larger by
# _MARGIN.
_GUESS, _MARGIN = (8.0, -0.63, 0.45, 1 / 3), 1.3
_SPANNING, _ONE_IN, _REDUNDANT = 32, 8, 1e-10
_ROWS_PER_GUESSED_POINT = 10  # smallest ratio of rows to points in the guessed basis
CALL = 2e-6  # seconds per kernel value computed by a Python function
_UNKNOWN = 0.9  # error above which the coordinates are unrelated to the exact ones
_MOST = 4_000  # basis points; their moments take 128 MB


class Level(NamedTuple):
    """A way to estimate errors.

    Attributes
    ----------
    rows : int or None
        The number of sampled rows; None for all of them.
    exact : bool
        Whether the operator is applied to the axes of the model exactly, using all rows of the
        data, so that only the effect on the embedding is estimated from the sampled rows.
    too_large : float
        Factor by which the limits may be too large.
    """

    rows: int | None
    exact: bool = False
    too_large: float = 1.0

    def seconds(self, model: FittedModel, n_rows: int) -> float:
        """Predict how long an estimate takes, given the number of rows of the data."""
        sample, points = model.reduced_set.sample, model.reduced_set.centers
        known = SIZE if sample is None else len(sample)
        size = known if self.rows is None else min(self.rows, known)
        value = CALL if isinstance(model.kernel, RowKernel) else 0.0
        spent = _ESTIMATE + size**2 * (_PAIR + value / 2)
        if self.exact:
            subspace, n_features = model.system.subspace, points.shape[1]
            width = n_features if subspace is None else subspace.n_axes
            n_axes = _axes(model)
            spent += float(gram.product_seconds(n_rows, len(points), width, n_axes))
            spent += float(gram.product_seconds(n_rows, size, n_features, n_axes))
            spent += n_rows * (len(points) + size) * value
        return spent


# Better levels follow worse ones. The factors are a compromise between two choices that were timed
# on classification, heavy tails, phoneme, satimage, spambase, texture, twonorm and usps. Where
# eigenvalues are close, as on classification, limits can be too large by larger factors.
LEVELS = (
    Level(250, False, 6.0),
    Level(600, False, 4.0),
    Level(250, True, 3.0),
    Level(None, False, 1.7),
    Level(1_000, True, 1.7),
    Level(None, True),
)
_ESTIMATE, _PAIR = 0.0035, 2.8e-8  # seconds of an estimate: fixed, and per pair of sampled rows
_NOT_WORSE = 2.4  # a level is skipped if a better one takes at most this multiple of its time
_MOST_COORDINATES = 2**25  # the coordinates of all rows that exact levels need take 256 MB
# If the sample contains all of at most this many rows, their error is measured. For 800 rows, this
# takes 11 ms; an estimate from 600 of them takes longer and has a limit twice as large.
_FEW_JUDGED = 1_000
# Models that take longer than this many seconds to fit are judged by more rows than usual.
_LONG, _MORE_ROWS = 3.0, 2 * SIZE


class Tried(NamedTuple):
    """The size of a basis, its error limit, and the rate at which errors are expected to fall."""

    size: int
    limit: float
    rate: float


class Candidate(NamedTuple):
    """A basis, its error, the share of the trace outside its span, and the expected rate."""

    error: Estimate
    residual: float
    basis: Basis
    rate: float

    @property
    def tried(self) -> Tried:
        """The size, the error limit and the expected rate."""
        return Tried(len(self.basis), self.error.limit, self.rate)


class BasisSearch:
    """Search for a small basis whose estimated embedding error is below a limit.

    Parameters
    ----------
    kernel : RadialKernel or Kernel
        The kernel with its parameters resolved.
    rows : tuple of ndarray and ndarray or None
        The rows with positive weight, and their weights.
    n_components : int
        Number of components of the embedding.
    center : bool
        Whether to center in feature space.
    rules : sequence of str
        Rules that choose basis points, in the order in which they are tried.
    max_error : float
        The largest acceptable error.
    random_state : int, RandomState or None
        Seed for the rows from which basis points are chosen and errors are estimated. The basis of
        a given size does not depend on the sizes that were tried before.
    most : int
        Largest number of basis points.
    alternative : float
        Seconds that another method takes, which the caller uses if too many points are needed;
        infinity if there is none.
    """

    def __init__(
        self,
        kernel: AnyKernel,
        rows: tuple[Array, Array | None],
        n_components: int,
        *,
        center: bool,
        rules: Sequence[str],
        max_error: float,
        random_state: Any,
        most: int = _MOST,
        alternative: float = math.inf,
    ) -> None:
        self.kernel, self.n_components, self.center = kernel, n_components, center
        self.rules, self.seed = rules, check_random_state(random_state).randint(2**31 - 1)
        self._rows, self.n_rows = rows, rows[0].shape[0]
        self._trial, self.sample = _samples(kernel, *rows, random_state)
        self._values = [PairValues(kernel, self.sample)]
        self.total = float(rows[0].shape[0] if rows[1] is None else rows[1].sum())
        self.wanted, self.most = max_error, min(most, _MOST)
        self.alternative = alternative
        self._worse = {False: 0, True: 0}  # levels that did not suffice for an earlier model
        self._thorough = False  # True if errors are always estimated from all sampled rows
        self._axes: dict[int, Subspace] = {}
        self._tried: list[Tried] = []  # models of a sample
        self._missed: list[Tried] = []  # models of all rows

    def start(self) -> Basis | None:
        """Return the basis for a first model, whose error then shows whether the basis suffices."""
        # If the moments of many basis points take less time than estimating the error of a few,
        # there is no point in looking for the smallest basis.
        cheap, guess = self._cheap_size(), max(self._guess(), self.fewest)
        size = self._feasible(min(cheap, round(_MARGIN * guess)))
        if size < self.fewest or size == self.n_rows or (self._many_rows and size < guess):
            return self._find(self.fewest)
        return self._first_choice(size)

    def find(self) -> Basis:
        """Return a basis with a small enough error for a sample, or the largest one."""
        self._thorough = True  # the basis is final, so it should not be larger than necessary
        found = self._find(self.fewest)
        assert found is not None
        return found

    def _find(self, size: int) -> Basis | None:
        """Return the result of :meth:`find`, starting from a given size.

        If there is an alternative, return None as soon as too many points seem to be needed.
        """
        while True:
            size = self._feasible(size)
            if size == self.n_rows:
                return self._all_rows()
            sampled = len(self._trial) < self.n_rows
            if sampled and _TRIAL_ROWS_PER_POINT * size > len(self._trial):
                return self._first_choice(size)
            best = self._best(size)
            basis = best.basis
            self._tried.append(best.tried._replace(size=size))
            if best.error.limit <= self.wanted:
                return self._shrink(basis)
            if self._exhausted(basis, size) or _hopeless(self._tried, 3):
                return basis
            grown = self._grow(self._tried)
            if grown is None:
                return None if self._has_alternative else basis
            size = grown

    def _shrink(self, basis: Basis) -> Basis:
        """Return a smaller basis that also suffices, if trials of it are likely to save time."""
        enough, *failed = reversed(self._tried)
        size, spent = enough.size, 0.0
        while failed and len(basis) == size:
            before = failed[0]
            ratio, rate = before.limit / (_SHARE * self.wanted), _rate([before, enough], 0.0)
            smaller = math.ceil(before.size * ratio ** (1 / rate))
            trial = self._seconds(smaller, len(self._trial))
            if self._seconds(size) - self._seconds(smaller) < spent + _WORTHWHILE * trial:
                break
            found = self._try(self._first_choice(smaller))
            self._tried.append(found.tried._replace(size=smaller))
            if found.error.limit <= self.wanted:
                return found.basis
            failed, spent = self._tried[-1:], spent + trial
        return basis

    def _best(self, size: int) -> Candidate:
        """Return the best basis of one size, and drop rules that are much worse."""
        found: dict[str, Candidate] = {}
        for rule in self._suitable(size):
            if "means" in found and found["means"].residual > _SMALL_RESIDUAL:
                continue  # means are better than rows
            found[rule] = self._try(self._choose(rule, size))
            if found[rule].error.limit <= self.wanted:
                break
        order = sorted(found, key=lambda rule: found[rule].error.estimate)
        best = found[order[0]]
        kept = [r for r in order if found[r].error.estimate <= _MUCH_WORSE * best.error.estimate]
        self.rules = kept + [rule for rule in self.rules if rule not in found]
        return best

    @property
    def _many_rows(self) -> bool:
        """True if trying bases on a sample saves time."""
        return self.n_rows >= _FEW_ROWS * len(self._trial)

    @property
    def fewest(self) -> int:
        """The smallest basis that is tried."""
        return max(_FEWEST, _PER_COMPONENT * self.n_components)

    def _guess(self) -> int:
        """Return a size that is about as likely to suffice for the requested error as not."""
        points, error, component, outside = _GUESS
        size = points * self.wanted**error * self.n_components**component * self._outside**outside
        return min(round(size), self.n_rows // _ROWS_PER_GUESSED_POINT)

    @cached_property
    def _outside(self) -> float:
        """The share of the trace of a few sampled rows outside the span of other sampled rows."""
        # These rows do not depend on the row sample, which is drawn by hashing the first row and
        # therefore differs for data that differ by rounding.
        rows = self._rows_for_means(0, np.random.RandomState(self.seed))
        count = _ONE_IN * _SPANNING
        if rows.shape[0] < count:
            return 1.0
        rows = rows[np.linspace(0, rows.shape[0] - 1, count).astype(np.intp)]
        spanning = np.arange(count) % _ONE_IN == 0
        inside, others = rows[spanning], rows[~spanning]
        cross, own = gram.gram(self.kernel, others, inside), self.kernel.diagonal(others).sum()
        matrix = gram.gram(self.kernel, inside, inside)
        with single_threaded_blas():
            inverse = np.linalg.pinv(matrix, _REDUNDANT, hermitian=True)
            explained = float(np.sum((cross @ inverse) * cross))
        return min(max(1 - explained / float(own), _REDUNDANT), 1.0) if own > 0 else 1.0

    def _cheap_size(self) -> int:
        """Return the largest basis whose moments take less time than estimating an error."""
        sizes = np.arange(_FEWEST, _MOST_CHEAP + 1)
        return int(sizes[self._moments_seconds(sizes) <= _CHEAP].max(initial=0))

    def _moments_seconds(self, sizes: Any, n_rows: int | None = None) -> Any:
        """Estimate the seconds needed to compute the moments of the rows for each basis size."""
        n_features = self._rows[0].shape[1]
        widths = np.minimum(default_axes(sizes, self.n_components), n_features)
        projected = np.where(widths < n_features, n_features * widths, 0)
        n_rows = self.n_rows if n_rows is None else n_rows
        seconds = gram.moments_seconds(n_rows, sizes, widths, projected)
        calls = CALL * n_rows * sizes if isinstance(self.kernel, RowKernel) else 0.0
        return seconds + calls

    def _seconds(self, size: int, n_rows: int | None = None) -> float:
        """Estimate the seconds needed to choose a basis, fit a model and estimate its error."""
        width = min(default_axes(size, self.n_components), self._rows[0].shape[1])
        chosen = size**2 * (_MEANS * width + _EIGEN * size)
        judged = _CHEAP * max(1.0, (self._values[-1].n_rows / _CHEAP_ROWS) ** 2)
        return float(self._moments_seconds(size, n_rows)) + chosen + judged

    def error(
        self, model: FittedModel, span: Moments | None = None, *, trial: bool = False
    ) -> Estimate:
        """Estimate the error of a model, as accurately as the search requires."""
        size, rate = model.reduced_set.n_centers, _expected_rate(model)
        # If the basis suffices in a trial, all rows still have to be processed.
        needed = float(self._moments_seconds(size)) if trial else 0.0

        def seconds(limit: float) -> float:
            if limit <= self.wanted:
                return needed
            grown = self._grow([*self._tried, *self._missed, Tried(size, limit, rate)])
            return self.alternative if grown is None else self._seconds(grown)

        values = self._values_of(model.reduced_set.sample)
        if self._thorough:
            return full_error(model, values, span)
        repeats = 2 if trial else 1  # the model of all rows has to be judged, too
        # The rows of a trial do not have the operator of all rows, whose error is estimated. If a
        # model was fitted to blocks of rows, the search knows only some of them.
        known = not trial and model.reduced_set.n_samples == self.total
        found, self._worse[trial] = _judge(
            model,
            self.wanted,
            values=values,
            span=span,
            seconds=seconds,
            repeats=repeats,
            data=self._rows if known else None,
            first=self._worse[trial],
        )
        return found

    def sample_for(self, size: int) -> RowSample:
        """Return the sampled rows from which the error of a model of this size is estimated."""
        few = len(self._trial) <= len(self.sample)
        if few or self._thorough or self._moments_seconds(size) < _LONG:
            return self.sample
        if len(self._values) == 1:
            more = self._trial.head(_MORE_ROWS)
            more = replace(more, size=min(more.size, _MORE_ROWS))
            self._values.append(PairValues(self.kernel, more, self._values[0]))
        return self._values[-1].sample

    def _values_of(self, sample: RowSample | None) -> PairValues | None:
        return next((values for values in self._values if values.sample is sample), None)

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
        self._missed.append(Tried(size, found.limit, _expected_rate(model)))
        grown = self._grow([*self._tried, *self._missed])
        if grown is None or self._exhausted(basis, size) or _hopeless(self._missed, 2):
            return None
        enough = (t.size for t in self._tried if t.size > size and t.limit <= self.wanted)
        grown = min([grown, *enough])
        if self._many_rows and not self._tried:
            larger = self._find(grown)
        else:
            larger = self._choose_size(self._feasible(grown), model)
        return larger if larger is not None and len(larger) > size else None

    def _choose_size(self, size: int, model: FittedModel) -> Basis:
        """Return a basis of this size, after comparing the rules if it could pay off."""
        if size == self.n_rows:
            return self._all_rows()
        few = self._seconds(size) < _WORTHWHILE * self._seconds(size, len(self._trial))
        large = _residual(model.system) > _SMALL_RESIDUAL
        if few or large or len(self._suitable(size)) == 1:
            return self._first_choice(size)
        return self._best(size).basis

    def _all_rows(self) -> Basis:
        return Basis(self._rows[0].astype(np.float64), kind="rows")

    def warn_missed(self, found: Estimate) -> None:
        """Warn that the requested error was not reached."""
        check.warn(
            f"max_error={self.wanted:g} was not reached with the largest basis that was tried: the "
            f"{describe(found)}. Use a larger bandwidth, fewer components or a larger max_error."
        )

    def _feasible(self, size: int) -> int:
        """Return the size, increased to all rows if above half of them, and limited to ``most``."""
        return min(self.n_rows if 2 * size > self.n_rows else size, self.most)

    def _exhausted(self, basis: Basis, size: int) -> bool:
        return len(basis) < size or size in (self.most, self.n_rows)

    def _grow(self, tried: list[Tried]) -> int | None:
        """Return the next size to try, or None if larger bases are not worth trying.

        If more than half of the rows are likely to be needed, the next size is the number of rows.
        """
        last = tried[-1]
        known = [t for t in tried if t.size < last.size and max(t.limit, last.limit) < _ROUGH]
        size, ratio = last.size, last.limit / (_SHARE * self.wanted)
        rate = _rate([*known, last])
        needed = size * ratio ** (1 / rate)
        if 2 * needed > self.n_rows and known and self.most >= self.n_rows:
            return self.n_rows
        hopeful = rate if known else max(rate, _HOPEFUL_RATE)
        if self._out_of_reach(size * ratio ** (1 / hopeful)):
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
        return self._choose(self._suitable(size)[0], size)

    def _suitable(self, size: int) -> Sequence[str]:
        """Return the rules worth trying for this size."""
        if default_axes(size, self.n_components) < self._rows[0].shape[1]:
            # In high dimensions, means are several times as accurate as rows.
            return [rule for rule in self.rules if rule == "means"] or self.rules
        return self.rules

    def _choose(self, rule: str, size: int) -> Basis:
        """Return a basis of sampled rows or of their means, chosen by the rule."""
        rng = np.random.RandomState(self.seed)
        rows = self._rows_for_means(size, rng)
        if size == rows.shape[0]:
            return Basis(rows, kind="rows")
        if rule == "means":
            n_axes = default_axes(size, self.n_components)
            subspace = self._subspace(n_axes)
            if subspace is not None and subspace.n_axes == 0:  # all sampled rows are equal
                return Basis(rows[:1], kind="rows")
            return choose_means(rows, size, n_axes, rng, subspace)
        return Basis(rows[RULES[rule](self.kernel, rows, None, size, rng)], kind="rows")

    def _rows_for_means(self, size: int, rng: np.random.RandomState) -> Any:
        """Return the sampled rows from which a basis of this size is chosen."""
        # If possible, rows that errors are estimated from are not used, because a basis chosen from
        # them has a smaller error for them than for other rows.
        known, needed = self._trial.rows[_MORE_ROWS:], sample_size(size)
        if self._rows[1] is None and needed <= known.shape[0]:
            return known[:needed].astype(np.float64)
        return sample_for_means(*self._rows, size, rng)

    def _subspace(self, n_axes: int) -> Subspace | None:
        """Return at least ``n_axes`` cached principal axes, or None if all axes are needed."""
        if n_axes >= self._rows[0].shape[1]:
            return None
        fewest = _TRIAL_AXES if self._many_rows else 1
        n_axes = 2 ** math.ceil(math.log2(max(n_axes, fewest)))
        if n_axes not in self._axes:
            rows = self._rows_for_means(0, np.random.RandomState(self.seed))
            self._axes[n_axes] = principal_subspace(rows, n_axes)
        return self._axes[n_axes]

    def _try(self, basis: Basis) -> Candidate:
        """Fit a model to a sample of the rows, and estimate its error."""
        trial = self._trial
        counts = trial.weights / trial.probabilities  # number of rows that each represents
        moments = Moments.of(self.kernel, basis.points, basis.subspace)
        moments = moments.add(trial.rows, counts * (self.total / counts.sum()))
        system, wider = ritz_with_more(moments, self.n_components, center=self.center)
        if len(system.eigenvalues) < self.n_components:
            return Candidate(Estimate(1.0, 1.0), _residual(system), basis, _RATES[0])
        weights = np.full(len(basis), self.total / len(basis))
        sample = self.sample_for(len(basis))
        points = ReducedSet(basis.points, weights, n_samples=self.total, sample=sample)
        scale = np.sqrt(system.eigenvalues)
        model = FittedModel(self.kernel, points, system, system, scale, wider=wider)
        error = self.error(model, moments, trial=True)
        return Candidate(error, _residual(system), basis, _expected_rate(model))


def _samples(
    kernel: AnyKernel, X: Array, weights: Array | None, random_state: Any
) -> tuple[RowSample, RowSample]:
    """Return the sampled rows on which bases are tried, and those that errors are estimated from.

    The latter are among the former.
    """
    weights = np.ones(X.shape[0]) if weights is None else weights
    n_rows = max(SIZE, min(_TRIAL_ROWS, _TRIAL_VALUES // X.shape[1]))
    if isinstance(kernel, RowKernel):  # kernel values are expensive
        n_rows = SIZE
    trial = RowSample.of(X, weights, None, random_state, n_rows)
    sample = trial.head(SIZE)
    return trial, replace(sample, size=min(sample.size, SIZE))


def _residual(system: EigenSystem) -> float:
    """Return the share of the trace outside the span of the basis."""
    whole = max(system.trace, system.residual)
    return float(system.residual / whole) if whole > 0 else 0.0


def _hopeless(tried: list[Tried], patience: int) -> bool:
    """Return True if none of the last ``patience`` bases approximates the embedding."""
    return len(tried) >= patience and all(t.limit > _UNKNOWN for t in tried[-patience:])


def _rate(tried: list[Tried], weight: float = _WEIGHT) -> float:
    """Return the exponent with which the error decreases, given the models tried so far.

    ``weight`` is that of the rate expected from the last model alone.
    """
    expected = tried[-1].rate
    if len(tried) == 1:
        return expected
    tiny = np.finfo(np.float64).tiny  # a measured error can be 0
    sizes, errors = np.log([(t.size, max(t.limit, tiny)) for t in tried]).T
    sizes = sizes - sizes.mean()
    rate = (weight * expected - sizes @ errors) / (weight + sizes @ sizes)
    return float(np.clip(rate, *_RATES)) if rate > 0 else expected


def _expected_rate(model: FittedModel) -> float:
    """Return the exponent with which the error is expected to decrease as the basis grows."""
    residual = max(_residual(model.system), np.finfo(np.float64).tiny)
    power = _POWER + _POWER_OF_RESIDUAL * math.log(residual)
    return 1 / float(np.clip(power, 1 / _RATES[1], 1 / _RATES[0]))


def error_limit(model: FittedModel, wanted: float) -> Estimate:
    """Estimate the error from a few rows, and from more if the limit could become small enough."""
    return _judge(model, wanted)[0]


def _judge(
    model: FittedModel,
    wanted: float,
    *,
    values: PairValues | None = None,
    span: Moments | None = None,
    seconds: Callable[[float], float] | None = None,
    repeats: int = 1,
    data: tuple[Any, Array | None] | None = None,
    first: int = 0,
) -> tuple[Estimate, int]:
    """Estimate the error at the first level, and at better ones while this could save time.

    ``seconds`` returns the time, in seconds, of what the caller does next if the limit has a given
    value. Without it, better levels are used as long as the limit could become small enough.
    ``repeats`` is the number of models whose errors will be estimated from these rows. ``data``
    contains all rows of the model and their weights, if they are known. The index of the last
    level is also returned.
    """

    def decide(limit: float) -> float:
        return 0.0 if limit <= wanted else math.inf

    seconds = decide if seconds is None else seconds
    parts = model.kernel, model.reduced_set, model.system, model.wider
    images, n_rows = None, 0
    if data is not None and data[0].shape[0] * _axes(model) <= _MOST_COORDINATES:
        wide = model.system if model.wider is None else model.wider
        images, n_rows = AxisImages(wide, *data), data[0].shape[0]
    levels = _levels(model, n_rows, first)
    for (index, level), better in zip(levels, [*levels[1:], None], strict=True):
        known: Any = {"values": values, "span": span, "images": images if level.exact else None}
        analysis = Analysis.of(*parts, level.rows, **known)
        if analysis is None:
            return Estimate(1.0, 1.0), index
        found = analysis.embedding_limit(CONFIDENCE, fast=True)
        few = level.rows is not None and len(analysis.sample) < level.rows
        if found.limit <= wanted or better is None or few:
            break  # small enough, or there is no better level
        lowest = wanted if found.limit > _UNKNOWN else found.limit / level.too_large
        least, most = seconds(lowest), seconds(found.limit)
        if least == most or most - least <= repeats * better[1].seconds(model, n_rows):
            break
    return found, index


def _levels(model: FittedModel, n_rows: int, first: int) -> list[tuple[int, Level]]:
    """Return the levels, from the first one, without those that are slow and inaccurate.

    If there are few rows, all of them are used at once. ``n_rows`` is the number of rows from which
    the operator can be computed, or 0.
    """
    sample = model.reduced_set.sample
    complete = sample is not None and sample.complete
    if sample is not None and complete and len(sample) <= _FEW_JUDGED:
        return [(0, Level(None))]
    kept: list[tuple[int, Level]] = []
    fastest = math.inf
    for i, level in reversed(list(enumerate(LEVELS))):
        if level.exact and (n_rows == 0 or complete):
            continue
        seconds = level.seconds(model, n_rows)
        if i < first and kept:
            break
        if _NOT_WORSE * seconds < fastest:
            kept.insert(0, (i, level))
            fastest = seconds
    return kept


def _axes(model: FittedModel) -> int:
    """Return the number of axes whose images are needed to estimate the error of a model."""
    return len((model.system if model.wider is None else model.wider).eigenvalues)


def full_error(
    model: FittedModel, values: PairValues | None = None, span: Moments | None = None
) -> Estimate:
    """Estimate the error of a model from all sampled rows."""
    parts = model.kernel, model.reduced_set, model.system, model.wider
    analysis = Analysis.of(*parts, values=values, span=span)
    return Estimate(1.0, 1.0) if analysis is None else analysis.embedding_limit(CONFIDENCE)


def describe(found: Estimate) -> str:
    """Return an estimated error as part of a sentence."""
    return f"estimated error is {found.estimate:.2g} (at most {found.limit:.2g})"

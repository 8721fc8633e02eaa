"""Choosing a basis from a wanted error: how many points, and which."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from ..certificate.sampled import Analysis
from ..kernels import RadialKernel
from ..model import FittedModel
from ..pairs import Estimate
from ..reduced_set import ReducedSet
from ..row_sample import RowSample
from ..spectral import Moments
from ..spectral.landmarks import RULES
from ..spectral.means import Basis, choose_means, default_axes, sample_for_means
from ._base import ritz_with_more

Array = NDArray[np.floating]

CONFIDENCE = 0.95
_FEWEST = 25  # points of the first basis that is tried
_PER_COMPONENT = 5
_SHARE = 0.8  # a basis is accepted if its estimated error is this share of the wanted one
_ROWS = 600  # sampled rows from which the error of a basis is estimated
_MUCH_WORSE = 2.0  # a rule whose error exceeds the best one by this factor is not tried again
_LEAST_GROWTH, _MOST_GROWTH = 1.3, 3.0
# Assumed decrease of the error, as a power of the size. It is 1 on mnist and 2 on pendigits; the
# search should not overshoot, because the cost grows with the square of the size.
_RATE = 1.25
_RATES = 0.5, 3.0  # range of exponents that are measured during a search
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
        The wanted error.
    seed : int
        Seed for the rows from which basis points are chosen. It is used for every size, so that
        the basis of a given size does not depend on the sizes that were tried before.
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
    ) -> None:
        self.kernel, self.n_components, self.center = kernel, n_components, center
        self.rules, self.seed = rules, seed
        self._rows, self.n_rows = rows, rows[0].shape[0]
        self._sample = sample.head(_ROWS)
        self.total = float(rows[0].shape[0] if rows[1] is None else rows[1].sum())
        self.wanted = max_error

    def find(self, size: int | None = None) -> Basis:
        """Return the first basis with a small enough estimated error, or the largest one."""
        size = max(_FEWEST, _PER_COMPONENT * self.n_components) if size is None else size
        tried: list[tuple[int, float]] = []
        while True:
            size = self._feasible(size)
            if size == self.n_rows:
                return Basis(self._rows[0].astype(np.float64))
            found = self._candidates(size)
            error, basis = min(found.values(), key=lambda candidate: candidate.error)
            self.rules = [rule for rule in found if found[rule].error <= _MUCH_WORSE * error]
            if error <= _SHARE * self.wanted or self._exhausted(basis, size):
                return basis
            tried.append((size, error))
            size = self._grow(tried)

    def improve(self, basis: Basis, model: FittedModel) -> Basis | None:
        """Return a larger basis, or None if the model is accurate enough or cannot be improved."""
        found = error_limit(model, self.wanted)
        return None if found.limit <= self.wanted else self.enlarge(basis, found)

    def enlarge(self, basis: Basis, found: Estimate) -> Basis | None:
        """Return a larger basis than one with this error, or warn if there is none."""
        size = len(basis)
        if not self._exhausted(basis, size):
            larger = self.find(self._grow([(size, found.limit)]))
            if len(larger) > size:
                return larger
        check.warn(
            f"max_error={self.wanted:g} was not reached with the largest possible basis: the "
            f"{describe(found)}. Use a larger bandwidth, fewer components or a larger max_error."
        )
        return None

    def _feasible(self, size: int) -> int:
        """Return all rows if half of them do not suffice, else the size up to the largest."""
        return min(self.n_rows if 2 * size > self.n_rows else size, _MOST)

    def _exhausted(self, basis: Basis, size: int) -> bool:
        return len(basis) < size or size in (_MOST, self.n_rows)

    def _grow(self, tried: list[tuple[int, float]]) -> int:
        """Return the next size to try, or all rows if more than half of them will be needed."""
        size, error = tried[-1]
        known = [(size, error) for size, error in tried if error < 1]
        needed = size * (error / (_SHARE * self.wanted)) ** (1 / _rate(known))
        if 2 * needed > self.n_rows and len(known) > 1:
            return self.n_rows
        return math.ceil(np.clip(needed, _LEAST_GROWTH * size, _MOST_GROWTH * size))

    def _candidates(self, size: int) -> dict[str, Candidate]:
        """Return one basis per rule, with its estimated error."""
        rng = np.random.RandomState(self.seed)
        rows = sample_for_means(*self._rows, size, rng)
        chosen = {rule: self._choose(rule, rows, size, rng) for rule in self.rules}
        return {rule: Candidate(self._estimate(basis), basis) for rule, basis in chosen.items()}

    def _choose(self, rule: str, rows: Array, size: int, rng: Any) -> Basis:
        """Choose basis points among the sampled rows, or means of them."""
        if size == rows.shape[0]:
            return Basis(rows)
        if rule == "means":
            n_axes = default_axes(size, self.n_components)
            return choose_means(rows, size, n_axes, rng)
        return Basis(rows[RULES[rule](self.kernel, rows, None, size, rng)])

    def _estimate(self, basis: Basis) -> float:
        """Estimate the error of the embedding in the span of a basis."""
        sample = self._sample
        counts = sample.weights / sample.probabilities  # rows that each sampled row stands for
        moments = Moments.of(self.kernel, basis.points, basis.subspace)
        moments = moments.add(sample.rows.astype(np.float64), counts)
        system, wider = ritz_with_more(moments, self.n_components, center=self.center)
        if len(system.eigenvalues) < self.n_components:
            return 1.0
        weights = np.full(len(basis), self.total / len(basis))
        points = ReducedSet(basis.points, weights, sample=self._sample)
        analysis = Analysis.of(self.kernel, points, system, wider)
        return 1.0 if analysis is None else analysis.estimate()


def _rate(known: list[tuple[int, float]]) -> float:
    """Return the exponent with which the error decreases, from the last two sizes if known."""
    if len(known) < 2:
        return _RATE
    (before, large), (now, small) = known[-2:]
    return float(np.clip(math.log(large / small) / math.log(now / before), *_RATES))


def embedding_error(
    kernel: RadialKernel, points: ReducedSet, system: Any, wider: Any, size: int | None = None
) -> Estimate:
    """Estimate the embedding error of a model from the first rows of its sample."""
    analysis = Analysis.of(kernel, points, system, wider, size)
    limits = None if analysis is None else analysis.limits(CONFIDENCE)
    return Estimate(1.0, 1.0) if limits is None else limits.embedding


def error_limit(model: FittedModel, wanted: float) -> Estimate:
    """Estimate the error from a few rows, or from all sampled rows if that is inconclusive."""
    for rows in (_ROWS, None):
        found = embedding_error(model.kernel, model.reduced_set, model.system, model.wider, rows)
        if not found.estimate < wanted < found.limit:
            break
    return found


def describe(found: Estimate) -> str:
    """Return an estimated error as part of a sentence."""
    return f"estimated error is {found.estimate:.2g} (at most {found.limit:.2g})"

"""The distance between a random walk on a reduced set and the walk on all rows.

The walk on the rows x_1, ..., x_n has the pull u(x) = q(x)^-alpha and the reach s(x) = sum over the
rows y of k(x, y) u(y), where q(x) is the sum of k(x, y). Its eigenvalues and eigenfunctions are
those of uncentered kernel PCA of the features (n u / s)^1/2 psi: an eigenfunction is the coordinate
along an axis, divided by (u s)^1/2. The analysis of kernel PCA therefore applies, except that the
features depend on all rows through u and s. The reduced set provides both sums for the quantized
rows. How much they change if rows are not quantized is estimated from the row sample, which is
possible because the differences are paired. To first order, the change multiplies the squared
length of each feature vector by 1 + drift, where the drift is a sum over the sampled rows.

Self-affinities are included, even if the model excludes them: their effect on the difference
between the two walks is of second order if the degrees are large.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from .._core.gram import gram
from .._core.parallel import single_threaded_blas
from .._core.partition import Partition
from ..kernels import RadialKernel
from ..pairs import FEWEST, Estimate, FeaturePairs
from ..reduced_set import ReducedSet
from ..spectral import Diffusion, EigenSystem, FittedMarkov, NormalizedLaplacian, solve
from ..spectral.eigensystem import STORED_CENTERS
from .lanczos import Blocks, Solution, leading, misfit
from .perturbation import SampledSums, group_rows
from .sampled import FURTHER_AXES, Analysis, Limits

Array = NDArray[np.floating]

_LARGE_LOOPS = 0.1  # largest share of self-affinities in the degrees
_FAR = 0.2  # relative error above which one step of the Lanczos method is not enough
_UNKNOWN = 0.995
_NO_CHANGE = 1e-12  # smaller relative changes are rounding errors


@dataclass(frozen=True, eq=False)
class Walk:
    """The parts of a fitted random walk that its analysis needs.

    Attributes
    ----------
    kernel : RadialKernel
        The kernel with its bandwidth resolved.
    reduced_set : ReducedSet
        The reduced set of the data.
    system : EigenSystem
        The eigenfunctions that the model uses.
    embed : callable
        Function that returns the coordinates of rows.
    n_constant : int
        Number of leading constant eigenfunctions that the model omits.
    time : float
        Exponent of the eigenvalues in the coordinates.
    partition : Partition or None
        For clustering, the rule that maps coordinates to clusters.
    """

    kernel: RadialKernel
    reduced_set: ReducedSet
    system: EigenSystem
    embed: Callable[[Array], Array]
    n_constant: int
    time: float
    partition: Partition | None = None

    @property
    def operator(self) -> FittedMarkov:
        """The walk fitted to the centers."""
        return cast(FittedMarkov, self.system.operator)

    @property
    def size(self) -> int:
        """Number of eigenfunctions, including the constant ones."""
        return self.n_constant + len(self.system.eigenvalues)

    @property
    def unknown(self) -> str:
        """The reason why the row sample does not determine the error, or an empty string."""
        walk, system = self.operator, self.system
        loops = float(np.sum(walk.loop * walk.pull)) * self.kernel.kappa
        sample = self.reduced_set.sample
        complete = sample is not None and sample.complete
        reasons = {
            "a neighbor graph replaces the kernel": system.graph is not None,
            "the exponent alpha of the walk was not saved with the model": walk.alpha is None,
            "some centers are isolated": walk.n_isolated > 0,
            "a component has a negative eigenvalue": bool((system.eigenvalues < 0).any()),
            f"there are more than {STORED_CENTERS:,} centers": len(walk.pull) > STORED_CENTERS,
            "the affinities of rows with themselves exceed 10% of the degrees": (
                loops > _LARGE_LOOPS * float(walk.measure(walk.pull).sum()) and not complete
            ),
        }
        return next((reason for reason, applies in reasons.items() if applies), "")


@dataclass(frozen=True, eq=False)
class WalkAnalysis(Analysis):
    """The comparison of a random walk with the data in its row sample.

    Attributes
    ----------
    walk : Walk
        The fitted walk. ``system`` contains its eigenfunctions with self-affinities, including
        the constant one, and a few additional ones.
    """

    walk: Walk = None  # type: ignore[assignment]
    _truncated = 1.1  # also allows for second-order terms

    @classmethod
    def of_walk(cls, walk: Walk) -> WalkAnalysis | None:
        """Return the analysis of a walk, or None if the row sample does not determine the error."""
        reduced_set, size = walk.reduced_set, walk.size
        sample = reduced_set.sample
        if sample is None or len(sample) == 0 or walk.unknown:
            return None
        count = min(size + FURTHER_AXES, reduced_set.n_centers)
        system = solve(Diffusion(walk.operator.alpha or 0.0), walk.kernel, reduced_set, count)
        points = reduced_set.centers[sample.labels].astype(np.float64)
        total = reduced_set.n_samples
        return cls(walk.kernel, sample, points, system, None, size, total, walk)

    @property
    def center(self) -> bool:
        """Always False, because the features of a walk are not centered."""
        return False

    @property
    def missing(self) -> str:
        """The reason why there are no estimates, or an empty string."""
        found = super().missing
        if found or self.complete:
            return found
        few = np.flatnonzero(self._supports < FEWEST)
        if not len(few):
            return ""
        number = int(few[0]) + 1 - self.walk.n_constant
        return f"component {number} is concentrated on a few rows that the sample may not contain"

    @property
    def _supports(self) -> Array:
        """The effective number of rows on which each kept eigenfunction is concentrated."""
        weights, functions = self.walk.reduced_set.weights, self.system.functions
        operator = cast(FittedMarkov, self.system.operator)
        shares = operator.measure(weights)[:, None] * functions[:, : self.n_components] ** 2
        return np.asarray(1 / np.sum(shares**2 / weights[:, None], axis=0))

    @cached_property
    def _rows(self) -> Array:
        return self.sample.rows.astype(np.float64)

    @cached_property
    def _degrees(self) -> Degrees:
        walk, operator = self.walk, cast(FittedMarkov, self.system.operator)
        return Degrees.of(walk.reduced_set, operator, self._rows, self.kernel)

    @cached_property
    def _own(self) -> Array:
        """The coordinates of the sampled rows."""
        return self.walk.embed(self.sample.rows).astype(np.float64)

    @property
    def _mu(self) -> Array:
        return self.system.eigenvalues

    @cached_property
    def _sums(self) -> SampledSums:
        at, labels, values = self._degrees, self.sample.labels, self._mu
        operator, weights = cast(FittedMarkov, self.system.operator), self.walk.reduced_set.weights
        pull, n = operator.pull / weights, self.total
        lengths = np.sqrt(n * at.pull / at.reach), np.sqrt(n * pull / operator.reach)[labels]
        fx = self.system.extend(self._rows) * np.sqrt(n * at.pull * at.reach)[:, None]
        fq = self.system.functions * np.sqrt(n * pull * operator.reach)[:, None]
        root, scaled = np.sqrt(values), _scaled(cast(FeaturePairs, self.pairs), *lengths)
        flags = {"center": False, "quantized": False, "square": self._square}
        given = scaled, fx * root, fq[labels] * root, values, float(values[-1])
        with single_threaded_blas():
            return SampledSums(*given, drift=self._drifts.lengths, **flags)  # type: ignore[arg-type]

    @cached_property
    def _drifts(self) -> Drifts:
        """The relative changes of u / s and s at the sampled rows if rows are not quantized."""
        pairs, at = cast(FeaturePairs, self.pairs), self._degrees
        # A pair of a row with itself has the weight of one row; the other pairs represent the rest.
        rest = (1 - pairs.weights) / np.maximum(1 - pairs.shares, np.finfo(np.float64).tiny)
        seen = self.total * np.outer(rest, pairs.shares)
        np.fill_diagonal(seen, self.total * pairs.weights)
        operator, weights = cast(FittedMarkov, self.system.operator), self.walk.reduced_set.weights
        of_centers = (operator.pull / weights)[self.sample.labels]
        return at.drifts(seen * pairs.xx, seen * pairs.xq, of_centers)

    @cached_property
    def _solved(self) -> tuple[Solution, Solution | None]:
        if self.complete:
            return self._measured(), None
        with single_threaded_blas():
            found, without = self._sums.first_step(self.n_components)
        if found.error(self.n_components) > _FAR:
            found, without = found.unknown(), None
        return found, without

    def limits(self, confidence: float) -> Limits | None:
        """Return limits for the components of the model, excluding the constant one."""
        found = super().limits(confidence)
        if found is None:
            return None
        first, own = self.walk.n_constant, self.walk.system.eigenvalues
        shift = own - self.system.eigenvalues[first : self.n_components]
        fixed = found.better is None or self.walk.partition is not None  # n_clusters is fixed
        better = None if fixed else cast(int, found.better) - first
        eigenvalues = found.eigenvalues[first:] + (0.0 if self.complete else shift[:, None])
        angles = found.angles[first:]
        if found.embedding.limit > _UNKNOWN:
            eigenvalues, angles = eigenvalues + np.array([-2.0, 2.0]), np.full(len(own), math.nan)
        return Limits(found.embedding, eigenvalues, angles, better or None)

    # -------------------------------------------------------------- coordinates of the exact walk

    def _square(self, blocks: Blocks, values: Array, vectors: Array, size: int) -> Array:
        """Return the squared error of the coordinates of the sampled rows."""
        stack = blocks.A.shape[:-2]
        if size <= self.walk.n_constant:
            return np.ones(stack)
        own = self._own if size == self.n_components else self._wide(size)
        exact = self._exact(blocks, values, vectors, size)
        roots = self._root_shares(bool(stack))
        found = [
            misfit(r * own, r * z)
            for r, z in zip(roots, exact.reshape(-1, *own.shape), strict=True)
        ]
        return np.array(found).reshape(stack)

    def _root_shares(self, jackknife: bool) -> Array:
        """Return square roots of the row shares; if ``jackknife``, leave out each group in turn."""
        shares = np.sqrt(self.pairs.shares)[None, :, None]
        if not jackknife:
            return shares
        groups = group_rows(shares.shape[1])
        kept = np.ones((len(groups), shares.shape[1], 1))
        for without, group in zip(kept, groups, strict=True):
            without[group] = 0.0
        return kept * shares

    def _wide(self, size: int) -> Array:
        return self.system.extend(self._rows)[:, self.walk.n_constant : size]

    def _exact(self, blocks: Blocks, values: Array, vectors: Array, size: int) -> Array:
        """Estimate the exact coordinates of the sampled rows from the eigenpairs of M."""
        q, first, at = blocks.A.shape[-1], self.walk.n_constant, self._degrees
        fx = self._fx @ vectors[..., :q, :size]
        fx = fx + blocks.steps[0] @ (blocks.coordinates @ vectors[..., q:, :size])
        turn = np.eye(size)
        if first:
            constant = self._constant(blocks.A.ndim > 2)[..., None, :] @ vectors[..., :q, :size]
            turn = np.apply_along_axis(_constant_first, -1, constant[..., 0, :])
        values = np.einsum("...ij,...i,...ij->...j", turn, values[..., :size], turn)[..., first:]
        change = self._drifts.reach.sum(axis=1)
        if values.ndim > 1:  # each group is left out in turn
            n = self._drifts.reach.shape[1]
            change = (change - self._drifts.reach.T) * n / (n - 1)
        scale = 1 / ((1 + change) * np.sqrt(self.total * at.pull * at.reach))
        lengths = np.abs(values) ** (self.walk.time - 0.5)
        return scale[..., None] * (fx @ turn)[..., first:] * lengths[..., None, :]

    def _constant(self, jackknife: bool) -> Array:
        """Return the coordinates of the walk's constant function along the model's axes.

        The coordinates are inner products with the model's eigenfunctions. They are (1, 0, ..., 0)
        for the degrees of the reduced set, so only the changes in the degrees are estimated.
        """
        at, labels = self._degrees, self.sample.labels
        operator, weights = cast(FittedMarkov, self.system.operator), self.walk.reduced_set.weights
        measure = operator.measure(weights)
        unit = self.total / math.sqrt(measure.sum())  # the constant function has norm 1
        of_rows = unit * (at.pull * at.reach)[:, None] * self.system.extend(self._rows)
        of_centers = unit * (measure / weights)[:, None] * self.system.functions
        shares = self._root_shares(jackknife)[..., 0] ** 2
        shares = shares / shares.sum(axis=1, keepdims=True)
        drift = self._drifts.lengths + 2 * self._drifts.reach  # drift of the degrees u s
        change, n = drift.sum(axis=1)[None], drift.shape[1]
        if jackknife:
            change = (change - drift.T) * n / (n - 1)
        # The mean change affects only the length of the constant function.
        change = shares * (change - (shares * change).sum(axis=1, keepdims=True))
        found = shares @ (of_rows - of_centers[labels]) + change @ of_rows
        found = np.sqrt(self.system.eigenvalues) * found
        found[:, 0] = 1.0
        return found if jackknife else found[0]

    @property
    def _fx(self) -> Array:
        return self._sums.a

    def _measured(self) -> Solution:
        """Return the errors relative to the walk on all rows, if the sample contains all rows."""
        walk, size, first = self.walk, self.n_components, self.walk.n_constant
        all_rows = ReducedSet(self._rows, self.sample.weights)
        loops = walk.operator.indefinite
        kind = NormalizedLaplacian() if loops else Diffusion(walk.operator.alpha or 0.0)
        exact = solve(kind, self.kernel, all_rows, size)
        measure = cast(FittedMarkov, exact.operator).measure(self.sample.weights)
        turn = _constant_first(measure @ exact.functions) if first else np.eye(size)
        values = np.einsum("ij,i,ij->j", turn, exact.eigenvalues, turn)
        Z = (exact.functions @ turn)[:, first:] * np.abs(values[first:]) ** walk.time
        root = np.sqrt(self.sample.weights)[:, None]
        square = misfit(root * self._own, root * Z)
        root = np.sqrt(measure)[:, None]
        own = self.system.extend(self._rows)
        sines = [
            _sine(root * own[:, :k], root * exact.functions[:, :k]) for k in range(1, size + 1)
        ]
        return Solution(exact.eigenvalues, [size], np.array([square]), np.array(sines))

    # -------------------------------------------------------------- clusters

    def label_change(self, confidence: float) -> Estimate | None:
        """Estimate the share of rows with a different label in the exact normalized cut."""
        limits, rule = self.limits(confidence), self.walk.partition
        if limits is None or rule is None:
            return None
        value, limit = limits.embedding
        own, shares = self._own, self.pairs.shares
        moved = self._moved() - own

        def changed(factor: float) -> float:
            return float(shares @ (rule.labels(own + factor * moved) != rule.labels(own)))

        if limit > _UNKNOWN:
            return Estimate(changed(1.0), 1.0)
        most = changed(limit / value) if value > 0 else 0.0
        spread = math.sqrt(most * (1 - most) / len(shares)) if not self.complete else 0.0
        chance = 0.0 if self.complete else 1 / len(shares)
        return Estimate(changed(1.0), min(most + float(ndtri(confidence)) * spread + chance, 1.0))

    def _moved(self) -> Array:
        """Return the exact coordinates of the sampled rows, aligned with those of the model."""
        if self.complete:
            walk = NormalizedLaplacian(not self.walk.operator.indefinite)
            rows = ReducedSet(self._rows, self.sample.weights)
            exact = solve(walk, self.kernel, rows, self.n_components).functions
        else:
            blocks = self._sums.blocks()
            values, vectors = leading(blocks.matrix(self._sums.largest), len(blocks.A))
            exact = self._exact(blocks, values, vectors, self.n_components)
        root = self._root_shares(False)[0]
        return exact @ np.linalg.lstsq(root * exact, root * self._own, rcond=None)[0]

    def release(self) -> None:
        """Free the large matrices, after the limits have been computed from them."""
        self.__dict__.pop("pairs", None)


@dataclass(frozen=True, eq=False)
class Degrees:
    """The density q, pull u and reach s of the quantized rows, evaluated at the sampled rows.

    Attributes
    ----------
    density : ndarray of shape (n_rows,)
        q(x), the sum of k(x, c) over the centers.
    pull : ndarray of shape (n_rows,)
        u(x) = q(x)^-alpha.
    reach : ndarray of shape (n_rows,)
        s(x), the sum of k(x, c) u(c).
    alpha : float
        The exponent in the pull.
    """

    density: Array
    pull: Array
    reach: Array
    alpha: float

    @classmethod
    def of(
        cls, reduced_set: ReducedSet, operator: FittedMarkov, rows: Array, kernel: RadialKernel
    ) -> Degrees:
        """Evaluate q, u and s at the given rows."""
        values = gram(kernel, rows, reduced_set.centers.astype(np.float64))
        density, alpha = values @ reduced_set.weights, operator.alpha or 0.0
        return cls(density, density**-alpha, values @ operator.pull, alpha)

    def drifts(self, xx: Array, xq: Array, of_centers: Array) -> Drifts:
        """Return the relative changes of u / s and s, per group, if rows are not quantized."""
        # ``xx`` and ``xq`` are weighted kernel values of pairs of rows, and of rows and centers;
        # ``of_centers`` is the pull of each row's center.
        groups = group_rows(len(xx))
        q = np.stack([(xx[:, g] - xq[:, g]).sum(axis=1) for g in groups], axis=1)
        s = [xx[:, g] @ self.pull[g] - xq[:, g] @ of_centers[g] for g in groups]
        pull = _compound(q / self.density[:, None], -self.alpha)
        reach = (np.stack(s, axis=1) + (xx * self.pull) @ pull) / self.reach[:, None]
        lengths = (1 + pull.sum(axis=1)) / (1 + reach.sum(axis=1)) - 1
        return Drifts(_shared(pull - reach, lengths), reach)


class Drifts(NamedTuple):
    """Relative changes of u / s and of s, one column per group of rows."""

    lengths: Array
    reach: Array


def _compound(changes: Array, exponent: float) -> Array:
    """Return the relative change of x^exponent, given the relative changes of x per group."""
    if exponent == 0:
        return np.zeros_like(changes)
    return _shared(exponent * changes, (1 + changes.sum(axis=1)) ** exponent - 1)


def _shared(changes: Array, total: Array) -> Array:
    """Scale the first-order changes of the groups so that they add up to the total change."""
    sums = changes.sum(axis=1)
    ratios = np.divide(total, sums, out=np.ones_like(sums), where=np.abs(sums) > _NO_CHANGE)
    return changes * ratios[:, None]


def normalized_cut(walk: Walk) -> float | None:
    """Return the normalized cut of the reduced set, or None if there are no clusters."""
    if walk.partition is None:
        return None
    operator = walk.operator
    labels = walk.partition.labels(walk.system.functions)
    members = operator.pull[:, None] * np.eye(len(walk.partition.offsets))[labels]
    between = members.T @ walk.system.sums(members)
    loops = walk.kernel.kappa * np.asarray(operator.loop) * operator.pull
    within = np.diag(between) - np.bincount(labels, np.broadcast_to(loops, len(labels)),
                                            minlength=len(between))  # fmt: skip
    volumes = between.sum(axis=1) - np.diag(between) + within
    return float(np.sum(1 - within[volumes > 0] / volumes[volumes > 0]))


def _scaled(pairs: FeaturePairs, of_rows: Array, of_points: Array) -> FeaturePairs:
    """Return the inner products of scaled features."""
    return replace(
        pairs,
        xx=of_rows[:, None] * pairs.xx * of_rows,
        xq=of_rows[:, None] * pairs.xq * of_points,
        qq=of_points[:, None] * pairs.qq * of_points,
    )


def _constant_first(shares: Array) -> Array:
    """Return the smallest rotation whose first column points in the direction of ``shares``."""
    unit = shares * np.sign(shares[0] or 1.0) / np.linalg.norm(shares)
    first = np.eye(len(unit))[0]
    middle = first + unit
    return np.eye(len(unit)) - np.outer(middle, middle) / middle[0] + 2 * np.outer(unit, first)


def _sine(own: Array, exact: Array) -> float:
    """Return the squared sine of the largest angle between the column spaces."""
    cosines = np.linalg.svd(np.linalg.qr(own)[0].T @ np.linalg.qr(exact)[0], compute_uv=False)
    return max(1 - float(cosines[-1]) ** 2, 0.0)

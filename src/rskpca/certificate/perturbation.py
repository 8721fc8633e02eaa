"""Computation of the matrix M of :mod:`.lanczos` from a model and a row sample.

All entries of M are means over rows, or over pairs or triples of them, and are estimated from the
sample. To estimate their variance, the sums are stored per group of rows, so that each group can be
left out in turn. If the model is far from exact, further Lanczos steps use the operator of the
sample in place of T.

For centered kernel PCA, coordinates are relative to their means over the data. The model's
coordinates have mean zero over the representations; their mean over the data is an additional
error.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh

from .._core.parallel import allowed_threads, single_threaded_blas, threads_for, workers
from ..pairs import FeaturePairs, ProjectedPairs
from .lanczos import (
    Blocks,
    Solution,
    Square,
    alignment,
    angles,
    leading,
    misfit,
    nearby,
    sine,
    transpose,
)

Array = NDArray[np.floating]

_GROUPS, _FEW_GROUPS, _MANY_ROWS = 20, 10, 1_000  # fewer groups for fewer rows, which saves time
_FAR = 0.05  # relative embedding error above which further steps are taken
_STEPS = 4
_MISSED = 1.2  # a larger ratio of eigenvalues indicates a missed component
_RANDOM = 10  # number of random vectors used to find missed components
_ITERATIONS = 3
_ABOVE = 1.1  # allowance for eigenvalues that subspace iteration underestimates
_SEARCHED = 1_000  # largest number of rows used to find missed components
_PRODUCT = 5e-11  # rough time in seconds of one multiplication
_LARGE = 400  # with at least this many rows, a few eigenpairs are computed by Lanczos


def group_rows(n_rows: int, *, few: bool = False) -> list[slice]:
    """Return groups of sampled rows; heavy rows, which come first, are spread over all groups."""
    count = min(_GROUPS if n_rows >= _MANY_ROWS and not few else _FEW_GROUPS, n_rows)
    return [slice(g, n_rows, count) for g in range(count)]


@dataclass(frozen=True, eq=False)
class SampleOperator:
    """The operator of the sampled rows, as a matrix that acts on functions of the rows.

    Attributes
    ----------
    xx : ndarray of shape (n_rows, n_rows)
        Inner products of the features.
    root : ndarray of shape (n_rows, 1)
        Square roots of the row shares.
    center : bool
        True if the features are centered.
    """

    xx: Array
    root: Array
    center: bool

    @classmethod
    def of(cls, xx: Array, shares: Array, center: bool) -> SampleOperator:
        """Return the operator for rows with the given shares."""
        return cls(xx, np.sqrt(shares / shares.sum())[:, None], center)

    def multiply(self, V: Array) -> Array:
        """Multiply the weighted and centered Gram matrix by columns."""
        root = self.root
        if self.center:
            V = V - root * (root.T @ V)
        product = root * ((root * V).T @ self.xx).T  # faster than xx @ (root * V)
        return np.asarray(product - root * (root.T @ product)) if self.center else product

    def leading(self, count: int) -> tuple[Array, Array]:
        """Return the leading eigenvalues, and the rows' coordinates in exact kernel PCA."""
        n = len(self.root)
        if n < _LARGE or 4 * count > n:
            values, vectors = leading(self.multiply(np.eye(n)), count)
        else:
            multiply = self._columns
            operator = LinearOperator((n, n), matvec=multiply, matmat=multiply, dtype=np.float64)
            values, vectors = eigsh(operator, count, v0=self._start)
            values, vectors = values[::-1], vectors[:, ::-1]
        values = np.maximum(values, np.finfo(np.float64).tiny)
        return values, vectors * np.sqrt(values) / self.root

    def _columns(self, V: Array) -> Array:
        return self.multiply(V.reshape(len(self.root), -1))

    @property
    def _start(self) -> Array:
        """The square roots of the diagonal, a start vector that is independent of the row order."""
        root = self.root[:, 0]
        means = self.xx @ root**2 if self.center else np.zeros(len(root))
        return root * np.sqrt(np.abs(np.diag(self.xx) - 2 * means + root**2 @ means))

    def largest_beyond(self, own: Array) -> float:
        """Return the largest eigenvalue in directions orthogonal to the given coordinates."""
        V = self._random
        for _ in range(_ITERATIONS):
            V = np.linalg.qr(self.multiply(V) - own @ (own.T @ V))[0]
        return float(np.linalg.eigvalsh(V.T @ (self.multiply(V) - own @ (own.T @ V)))[-1])

    def search(self, own: Array, count: int) -> tuple[Array, Array]:
        """Return the leading eigenvalues found without and with additional random vectors."""
        V = np.concatenate([own, self._random], axis=1)
        for _ in range(_ITERATIONS):
            V = np.linalg.qr(self.multiply(V))[0]
        H, q = V.T @ self.multiply(V), own.shape[1]
        known, values = (np.linalg.eigvalsh(m)[::-1][:count] for m in (H[:q, :q], H))
        return known, values[: len(known)]

    @property
    def _random(self) -> Array:
        return self.root * np.random.default_rng(0).normal(size=(len(self.root), _RANDOM))


class Sums:
    """Sums over groups of sampled rows, from which M can be computed with any group left out."""

    mu: Array  # eigenvalues of the model, divided by n
    s: Array  # shares of the sampled rows
    xx: Array  # inner products of their features
    a: Array  # their coordinates on the axes of the model
    groups: list[slice]
    center: bool
    largest: float  # a bound on the eigenvalues of T orthogonal to the axes
    fast: bool
    square: Square | None = None

    @cached_property
    def _blocks(self) -> dict[int, Blocks]:
        return {}

    def _first(self) -> tuple[Blocks, Array]:
        """Return the blocks of M, and f at the sampled rows."""
        raise NotImplementedError  # implemented by subclasses

    def blocks_without(self) -> Blocks:
        """Return the blocks of M with each group of rows left out in turn."""
        raise NotImplementedError  # implemented by subclasses

    def blocks(self, n_steps: int = 1) -> Blocks:
        """Return the blocks of M."""
        if n_steps not in self._blocks:
            self._blocks[n_steps] = self._extend(*self._first(), n_steps)
        return self._blocks[n_steps]

    def solve(
        self, n_components: int, *, detailed: bool = True
    ) -> tuple[Solution, Solution | None]:
        """Return the solution from all groups and, for the jackknife, with each group left out.

        Parameters
        ----------
        n_components : int
            Number of components of the model.
        detailed : bool
            If False, a solution contains only the error of the model itself.

        Returns
        -------
        whole : Solution
            The solution from all groups.
        parts : Solution or None
            The solutions with each group left out, if there are several groups.
        """
        # If the model is so far from exact kernel PCA that one Lanczos step is not enough, further
        # steps use the operator of the sample, whose error is small by comparison. They change all
        # solutions in the same way.
        found, without = self.first_step(n_components, detailed=detailed)
        if found.error(n_components) >= _FAR:
            steps = _STEPS - 1, _STEPS
            later = [self._solution(self.blocks(k), n_components, detailed) for k in steps]
            if without is not None:
                without = without.moved(found, later)
            found = found.moved(found, later)
        return (found.unknown(), None) if self._misses(found, n_components) else (found, without)

    def first_step(
        self, n_components: int, *, detailed: bool = True
    ) -> tuple[Solution, Solution | None]:
        """Return the result of :meth:`solve` after one step, even if a component is missed."""
        without = None
        if len(self.groups) > 1:
            others = self.blocks_without()
            if self.fast and not detailed and self.square is None:
                return Solution.near(self.blocks(), others, self.largest, n_components)
            without = self._solution(others, n_components, detailed)
        return self._solution(self.blocks(), n_components, detailed), without

    def _misses(self, found: Solution, n_components: int) -> bool:
        """Return True if the sample has a component that cannot be reached from the axes."""
        # No number of Lanczos steps finds an isolated cluster without a basis point. However, the
        # operator of the sample has a large eigenvalue for it, which random vectors reveal. Both
        # eigenvalues are computed from the same rows, so that their sampling errors cancel.
        if self.largest <= found.eigenvalues[n_components - 1]:
            return False
        operator, own = self._searched
        known, values = operator.search(own, n_components)
        return bool(np.any(values > _MISSED * known + 3 * self.largest / len(self.s)))

    @cached_property
    def _searched(self) -> tuple[SampleOperator, Array]:
        """The operator of some of the rows, and the weighted coordinates of these rows."""
        rows = slice(None, None, -(-len(self.s) // _SEARCHED))
        xx = np.ascontiguousarray(self.xx[rows, rows])
        operator = SampleOperator.of(xx, self.s[rows], self.center)
        return operator, operator.root * self._about_mean(self.a)[rows]

    def _solution(self, blocks: Blocks, n_components: int, detailed: bool = False) -> Solution:
        return Solution.of(
            blocks, self.largest, n_components, detailed=detailed, square=self.square
        )

    def expand(self, n_components: int) -> Blocks:
        """Return the blocks of M with the number of Lanczos steps that the error estimate uses."""
        near = self._solution(self.blocks(), n_components).error(n_components) < _FAR
        return self.blocks(1 if near else _STEPS)

    def _extend(self, blocks: Blocks, F: Array, n_steps: int) -> Blocks:
        """Add Lanczos steps, which apply the operator of the sample to f."""
        moments = list(blocks.moments)
        steps, means = self._steps(F, n_steps)
        for before, after in pairwise(steps):
            weighted = self.s[:, None] * after
            moments += [before.T @ weighted, after.T @ weighted]
        return replace(blocks, moments=moments, steps=steps, means=means)

    def _steps(self, F: Array, n_steps: int) -> tuple[list[Array], list[Array]]:
        """Return f, T f, ... at the sampled rows, and the means subtracted from them."""
        steps: list[Array] = [F]
        means: list[Array] = []
        fx = self._about_mean(self.a)
        while len(steps) < n_steps:
            G = self._apply(steps[-1], self.xx, fx)
            means.append(self.s @ G if self.center else np.zeros(len(self.mu)))
            steps.append(G - means[-1])
        return steps, means

    def _apply(self, F: Array, xx: Array, fx: Array) -> Array:
        """Apply the sample operator, restricted to the complement of the axes, to F."""
        # ``xx`` contains inner products of points with the rows, ``fx`` the points' coordinates.
        weighted = self.s[:, None] * F
        return xx @ weighted - fx @ (self._about_mean(self.a).T @ weighted)

    def _about_mean(self, coordinates: Array) -> Array:
        """Return coordinates relative to their mean over the data, if the model is centered."""
        return coordinates - self.s @ self.a if self.center else coordinates


class SampledSums(Sums):
    """Sums whose means over the data are estimated from the sampled rows.

    Parameters
    ----------
    pairs : FeaturePairs or ProjectedPairs
        Inner products of the features.
    fx, fq : ndarray of shape (n_rows, n_axes)
        Coordinates of the rows and of their representations.
    mu : ndarray of shape (n_axes,)
        Eigenvalues of the model, divided by n.
    largest : float
        A bound on the eigenvalues of T orthogonal to the axes. If the sample provides a smaller
        bound, that one is used.
    center : bool
        True if the operators are centered in feature space.
    quantized : bool
        True if coordinates are relative to the mean of the representations, so that their mean
        over the data is not zero.
    drift : ndarray of shape (n_rows, n_groups), default=None
        Relative change of the squared length of each row's feature vector caused by the rows of
        each group; required if these lengths depend on the data.
    square : callable, default=None
        Function that computes the squared error of r components from the blocks and the
        eigenpairs of M. If None, the error is that of the coordinates <v, psi>.
    fast : bool, default=False
        Whether to save time: only ten groups are formed, and the effect of leaving one out on the
        error is computed to first order. Limits are a few percent wider.
    """

    changes: Array | None  # None if rows and their representations have the same coordinates

    def __init__(
        self,
        pairs: FeaturePairs | ProjectedPairs,
        fx: Array,
        fq: Array,
        mu: Array,
        largest: float,
        *,
        center: bool,
        quantized: bool,
        drift: Array | None = None,
        square: Square | None = None,
        fast: bool = False,
    ) -> None:
        self.drift, self.square, self.fast = drift, square, fast
        self.mu, self.own, self.s, self.xx = mu, pairs.own, pairs.shares, pairs.xx
        self.weights, self.center = pairs.weights[:, None], center
        self.groups = group_rows(len(fx), few=fast)
        self.quantized = quantized
        n_threads = allowed_threads()
        with single_threaded_blas():  # sums in another order would have other rounding errors
            self.shifts = np.array([self.s[g] @ (fx[g] - fq[g]) for g in self.groups])
            self.a = fx - (self.shifts.sum(axis=0) if quantized else 0.0)
            self.b = fq
            if isinstance(pairs, ProjectedPairs):
                self._sum_projected(pairs, n_threads)
            else:
                self._sum_pairs(pairs)
                self._sum_rows()
            self.at_all = self.at_x.sum(axis=0)
            self.unseen = pairs.unseen
            operator, own = self._searched
            self.largest = min(largest, _ABOVE * operator.largest_beyond(own))
            self.noise = self.unseen * self._noise()

    def _sum_projected(self, pairs: ProjectedPairs, n_threads: int) -> None:
        """Sum h_i and its inner products, for a projection psi^ of psi, where a = b."""
        P, sa = pairs.projections, self.s[:, None] * self.a
        self.self_x = (np.diag(pairs.xx) - np.einsum("ij,ij->i", P, P))[:, None] * self.a

        def sum_group(g: slice) -> Array:
            # BLAS is faster if the result has few rows than if it has few columns.
            at_x = sa[g].T @ pairs.xx[g]
            at_x -= (sa[g].T @ P[g]) @ P.T
            at_x[:, g] -= (self.s[g, None] * self.self_x[g]).T
            return at_x

        n_products = sa.size * (len(P) + len(self.groups) * P.shape[1])
        with workers(threads_for(_PRODUCT * n_products, n_threads)) as run:
            self.at_x = transpose(np.array(run(sum_group, self.groups)))
        self.products = np.array([sa[g].T @ self.at_x[:, g] for g in self.groups])
        self.self_products = _by_group(self.groups, self.own, self.a, self.self_x)
        self.changes = None

    def _sum_pairs(self, pairs: FeaturePairs) -> None:
        """Sum h_i at every feature vector, and its inner products, per group."""
        s, a, b = self.s[:, None], self.a, self.b
        sa, sb = s * a, s * b
        self.at_x = _group_products(pairs.xx, sa, self.groups)
        self.at_x -= np.array([pairs.xq[:, g] @ sb[g] for g in self.groups])
        at_q = _group_products(pairs.xq, sa, self.groups)
        at_q -= _group_products(pairs.qq, sb, self.groups)
        self.self_x = np.diag(pairs.xx)[:, None] * a - np.diag(pairs.xq)[:, None] * b
        self_q = np.diag(pairs.xq)[:, None] * a - np.diag(pairs.qq)[:, None] * b
        for k, g in enumerate(self.groups):
            self.at_x[k, g] -= s[g] * self.self_x[g]
            at_q[k, g] -= s[g] * self_q[g]
        if self.drift is not None:
            self.at_x += pairs.xx @ self.drifts
            at_q += pairs.xq.T @ self.drifts
        self.products = np.array(
            [sa[g].T @ self.at_x[:, g] - sb[g].T @ at_q[:, g] for g in self.groups]
        )
        if self.drift is not None:
            self.products += [drift.T @ self.at_x for drift in self.drifts]
        self.self_products = _by_group(self.groups, self.own, a, self.self_x)
        self.self_products -= _by_group(self.groups, self.own, b, self_q)

    @cached_property
    def drifts(self) -> Array:
        """The weighted coordinates of the rows, times the drift caused by each group."""
        assert self.drift is not None
        return self.drift.T[:, :, None] * (self.s[:, None] * self.a)

    def _sum_rows(self) -> None:
        """Sum the products of coordinates, g = a a' - b b', and the products of g with itself."""
        a, b, s = self.a, self.b, self.s
        changes = _by_group(self.groups, s, a, a) - _by_group(self.groups, s, b, b)
        self.changes = changes if self.drift is None else changes + a.T @ self.drifts
        norms = [(a * a).sum(axis=1), (a * b).sum(axis=1), (b * b).sum(axis=1)]
        products = [(a, a, norms[0]), (a, b, -norms[1]), (b, a, -norms[1]), (b, b, norms[2])]

        def sum_squares(weights: Array) -> Array:
            sums = [_by_group(self.groups, weights * norm, u, v) for u, v, norm in products]
            return np.sum(sums, axis=0)

        self.squared_changes, self.own_changes = sum_squares(s**2), sum_squares(self.own)

    def _noise(self) -> Array:
        """Return the part of <f_i, T f_k> that is due to the sampling error of f."""
        n = len(self.groups)
        if n < 2:
            return np.zeros((len(self.mu), len(self.mu)))
        parts = self.at_x if self.changes is None else self.at_x - self.a @ transpose(self.changes)
        parts = parts - parts.mean(axis=0)
        if self.center:
            parts -= (self.s @ parts)[:, None]
        return _gram(parts, self.s).sum(axis=0) * n / (n - 1)

    def _first(self) -> tuple[Blocks, Array]:
        found = self._blocks_of(np.ones((1, len(self.groups))), self.at_all[None])
        return found.single, found.steps[0][0]

    def blocks_without(self) -> Blocks:
        """Return the blocks of M with each group of rows left out in turn."""
        return self._blocks_of(1 - np.eye(len(self.groups)), self.at_all - self.at_x)

    def _blocks_of(self, kept: Array, at_x: Array) -> Blocks:
        """Return the blocks of M for each row of ``kept``, which selects groups of rows."""
        # ``kept`` is 1 for the groups that are kept and 0 for the others. ``at_x`` contains sums of
        # h over the kept groups.
        groups, n = np.arange(len(self.s)) % len(self.groups), len(self.groups)
        s = self.s * kept[:, groups]
        total = s.sum(axis=1)[:, None, None]
        pairs = total**2 - (s**2).sum(axis=1)[:, None, None]
        between, same = _sum_pairs_kept(kept, self.products), _sum_kept(kept, self.self_products)
        shift = np.zeros_like(same)
        F = self._beyond(at_x, s)
        if self.changes is not None:
            shift = _sum_kept(kept, self.changes)
            between += _sum_kept(kept, self.squared_changes) - shift @ transpose(shift)
            same -= _sum_kept(kept, self.own_changes)
            F -= self.a @ transpose(shift / total)
        same *= (n / kept.sum(axis=1))[:, None, None]
        S = (1 - float(self.own.sum())) * between / np.maximum(pairs, 1e-300) + same
        weights = s / total[..., 0]
        if self.center:
            F -= weights[:, None] @ F
        if self.drift is not None:
            shift = shift + self._drift_correction(kept)
        offsets = kept @ self.shifts / total[..., 0] if self.quantized else 0 * shift[:, 0]
        return Blocks(
            np.diag(self.mu) + (shift + transpose(shift)) / (2 * total),
            [(S + transpose(S)) / 2, _gram(F, weights) - self.noise],
            offsets,
            [F],
            [],
        )

    def _beyond(self, at_x: Array, s: Array) -> Array:
        """Return the values of h at the sampled rows."""
        rest = np.maximum(s.sum(axis=1, keepdims=True) - s, np.finfo(np.float64).tiny)[..., None]
        F = at_x * ((1 - self.weights) / rest)
        F += self.weights * self.self_x
        return F

    def _drift_correction(self, kept: Array) -> Array:
        """Return a correction to the changes that reduces the noise in the mean of drift * a a'."""
        # The mean of a a' over the data is known up to the small changes. It replaces the mean over
        # the sample in the product with the mean drift. Unlike in ``changes``, rows that are left
        # out do not enter the means at all.
        between = _sum_pairs_kept(kept, self._drift_products)
        scale = (len(self.groups) / kept.sum(axis=1))[:, None, None]
        return between * scale - _sum_kept(kept, self.a.T @ self.drifts)

    @cached_property
    def _drift_products(self) -> Array:
        """Each group's part of the mean of drift * a a', for the drift caused by each group."""
        assert self.drift is not None
        mean = self.s @ self.drift
        rest = self.drift - mean
        known = np.multiply.outer(mean, np.diag(self.mu))
        return np.array(
            [
                np.einsum(
                    "x,xg,xi,xj->gij", self.s[g], rest[g], self.a[g], self.a[g], optimize=True
                )
                + self.s[g].sum() * known
                for g in self.groups
            ]
        )

    def deviations(self, fx: Array, xx: Array, xq: Array, n_components: int) -> Array:
        """Return the distance of each point's coordinates from the exact ones, after alignment."""
        # ``fx`` contains the coordinates of the points on the axes. ``xx`` and ``xq`` are the inner
        # products of the points with the features of the sampled rows and with the rows'
        # representations.
        blocks, r, q = self.expand(n_components), n_components, len(self.mu)
        M = blocks.matrix(self.largest)
        values, vectors = leading(M, q)
        relative = fx - blocks.offsets
        s = self.s[:, None]
        beyond = xx @ (s * self.a) - xq @ (s * self.b)
        if self.center:
            beyond -= self.s @ (self.at_all + s * self.self_x)
        steps, unit = [beyond - relative @ (blocks.A - np.diag(self.mu))], float(blocks.A[0, 0])
        about = self._about_mean(relative)
        for k, (F, mean) in enumerate(zip(blocks.steps, blocks.means, strict=False), 1):
            steps.append((self._apply(F, xx, about) - mean) / unit**k)
        exact = relative @ vectors[:q, :r] + np.hstack(steps) @ blocks.coordinates @ vectors[q:, :r]
        aligned = fx[:, :r] @ alignment(M, values, vectors, blocks.offsets, r)
        return np.linalg.norm(exact - aligned, axis=1)


class ImageSums(Sums):
    """Sums for a model of which the images T v_i are known at the sampled rows.

    They are means over all rows rather than over the sample, so that h_i is exact. The model must
    be the projection of T onto the span of a basis, in which the other sums are then exact as well.

    Parameters
    ----------
    pairs : ProjectedPairs
        Inner products of the features.
    fx : ndarray of shape (n_rows, n_axes)
        Coordinates of the rows.
    images : ndarray of shape (n_rows, n_axes)
        T v_i at the rows, up to a constant if the operator is centered.
    mu : ndarray of shape (n_axes,)
        Eigenvalues of the model, divided by n.
    largest : float
        As for :class:`SampledSums`.
    center : bool
        True if the operator is centered in feature space.
    fast : bool, default=False
        As for :class:`SampledSums`.
    """

    def __init__(
        self,
        pairs: ProjectedPairs,
        fx: Array,
        images: Array,
        mu: Array,
        largest: float,
        *,
        center: bool,
        fast: bool = False,
    ) -> None:
        self.mu, self.s, self.xx, self.a = mu, pairs.shares, pairs.xx, fx
        self.center, self.fast, self.groups = center, fast, group_rows(len(fx), few=fast)
        self.h = images - fx * mu
        with single_threaded_blas():
            operator, own = self._searched
            self.largest = min(largest, _ABOVE * operator.largest_beyond(own))

    def _first(self) -> tuple[Blocks, Array]:
        found = self._blocks_of(np.ones((1, len(self.groups))))
        return found.single, found.steps[0][0]

    def blocks_without(self) -> Blocks:
        """Return the blocks of M with each group of rows left out in turn."""
        return self._blocks_of(1 - np.eye(len(self.groups)))

    def _blocks_of(self, kept: Array) -> Blocks:
        """Return the blocks of M for each row of ``kept``, which selects groups of rows."""
        s = self.s * kept[:, np.arange(len(self.s)) % len(self.groups)]
        weights = (s / s.sum(axis=1, keepdims=True))[..., None]
        means = transpose(weights) @ self.h if self.center else np.zeros((len(s), 1, len(self.mu)))
        F = self.h - means
        weighted = weights * F
        S = self.a.T @ weighted
        A = np.broadcast_to(np.diag(self.mu), S.shape)
        moments = [(S + transpose(S)) / 2, transpose(F) @ weighted]
        return Blocks(A, moments, np.zeros(S.shape[:2]), [F], [])


def measure(
    operator: SampleOperator, fx: Array, n_components: int, *, detailed: bool = True
) -> Solution:
    """Return the errors of a model relative to exact kernel PCA of the sampled rows.

    Parameters
    ----------
    operator : SampleOperator
        The operator of the rows.
    fx : ndarray of shape (n_rows, n_axes)
        Coordinates of the rows on the model's axes.
    n_components : int
        Number of components of the model.
    detailed : bool
        If False, the solution contains only the error of the model itself.

    Returns
    -------
    Solution
        The exact eigenvalues, and the errors of the model.
    """
    sizes = nearby(n_components, fx.shape[1]) if detailed else [n_components]
    values, Z = operator.leading(max(sizes))
    root, s = operator.root, np.square(operator.root)
    squares = [misfit(root * fx[:, :r], root * Z[:, :r]) for r in sizes]
    sines: list[Array] = []
    if detailed:
        about = fx - s.T @ fx if operator.center else fx
        cosines = Z.T @ (s * about[:, : max(sizes)]) / values[:, None]
        sines = [sine(cosines[:r, :r].T) for r in angles(n_components)]
    return Solution(values, sizes, np.array(squares), np.array(sines))


def _group_products(matrix: Array, columns: Array, groups: list[slice]) -> Array:
    """Return matrix[g]' @ columns[g] for each group g of rows, without copying the matrix."""
    return np.array([matrix[g].T @ columns[g] for g in groups])


def _by_group(groups: list[slice], weights: Array, u: Array, v: Array) -> Array:
    """Return the weighted sum of u v' over the rows of each group."""
    return np.array([(weights[g, None] * u[g]).T @ v[g] for g in groups])


def _gram(columns: Array, weights: Array) -> Array:
    """Return the weighted inner products of the columns, for each matrix in a stack."""
    return transpose(columns) @ (weights[..., None] * columns)


def _sum_kept(kept: Array, matrices: Array) -> Array:
    """Return the sum of the matrices over the kept groups, for each row of ``kept``."""
    return np.tensordot(kept, matrices, axes=1)


def _sum_pairs_kept(kept: Array, matrices: Array) -> Array:
    """Return the sum of the matrices over pairs of kept groups, for each row of ``kept``."""
    return np.einsum("kh,khij->kij", kept, np.tensordot(kept, matrices, axes=1))

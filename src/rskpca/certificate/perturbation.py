"""Estimating the distance between a model's axes and those of exact kernel PCA from a row sample.

Let T = mean of psi psi' over the rows be the operator of the data, T^ = mean of psi^ psi^' that of
the model (see :mod:`rskpca.pairs`), and v_1, ..., v_q the orthonormal axes of the model, T^ v_i =
mu_i v_i. The images T v_i = mu_i v_i + h_i differ from multiples of the axes by h_i = mean of
a_i psi - b_i psi^, where a_i = <v_i, psi> and b_i = <v_i, psi^> are coordinates of a row and of its
representation. In the span of the axes and of the parts f_i of h_i orthogonal to them, T has the
matrix

    M = | A    S^1/2 |    A = diag(mu) + <v_j, h_i>,   S = <f_i, f_k>,
        | S^1/2   D  |    D = S^-1/2 <f_i, T f_k> S^-1/2.

All entries are means over rows, or over pairs or triples of them. The leading eigenpairs of M
approximate those of exact kernel PCA by one step of the block Lanczos method that starts from the
model. To first order in the operator error this is perturbation theory, but without dividing by
eigengaps, so nearly equal eigenvalues are harmless. Because <u, T w> is the mean over the rows of
the product of the coordinates u and w, M is also the Gram matrix of coordinates, from which the
error of the embedding follows.

If the model is far from exact, further steps use the operator of the sample in place of T.

For centered kernel PCA, coordinates are relative to their means over the data. The model's
coordinates have mean zero over the representations; their mean over the data is an additional
error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh

from ..pairs import FeaturePairs, ProjectedPairs

Array = NDArray[np.floating]

GROUPS = 20
NEARBY = 3  # number of alternative numbers of components that are compared
ANGLES = 20  # number of leading eigenspaces whose angles are computed
_FAR = 0.05  # relative embedding error above which further steps are taken
_STEPS = 4
_NEGLIGIBLE = 1e-6  # squared errors below this do not matter where later steps are taken
_SETTLED = 0.02  # relative change of a squared error in the last step
_MISSED = 1.2  # ratio of eigenvalues from which on a component was missed
_RANDOM = 10  # random vectors that find missed components
_ITERATIONS = 3
_ABOVE = 1.1  # allowance for eigenvalues that subspace iteration underestimates
_SEARCHED = 1_000  # rows among which they are searched
_LARGE = 400  # rows from which on few eigenpairs are computed by Lanczos
_NOTHING = 1e-14  # relative to the largest squared eigenvalue; smaller squares are rounding


@dataclass(frozen=True, eq=False)
class Blocks:
    """The block A of M, the moments that determine the other blocks, and the coordinate means.

    All arrays except ``steps`` and ``means`` have an additional first axis if the groups of rows
    are left out one after the other.

    Attributes
    ----------
    A : ndarray of shape (n_axes, n_axes)
        <v_j, T v_i>.
    moments : list of ndarray of shape (n_axes, n_axes)
        S = <f_i, f_k>, <f_i, T f_k> and, for further steps, <f_i, T^2 f_k> and so on, where T is
        restricted to the complement of the axes.
    offsets : ndarray of shape (n_axes,)
        Means of the coordinates of the model over the data.
    steps : list of ndarray of shape (n_rows, n_axes)
        f, T f, ... at the sampled rows, without the last power.
    means : list of ndarray of shape (n_axes,)
        Means that were subtracted from T f, T^2 f, ...
    """

    A: Array
    moments: list[Array]
    offsets: Array
    steps: list[Array]
    means: list[Array]

    @cached_property
    def coordinates(self) -> Array:
        """Columns that combine f, T f, ... into orthonormal vectors, or are zero."""
        squares, vectors = np.linalg.eigh(self._hankel(0))
        kept = squares > _NOTHING * self._unit**2
        scale = np.where(kept, 1 / np.sqrt(np.where(kept, squares, 1.0)), 0.0)
        return np.asarray(vectors * scale[..., None, :])

    @property
    def _unit(self) -> float:
        """The number by whose k-th power T^k f is divided."""
        return float(self.A.reshape(-1)[0])

    def _hankel(self, first: int) -> Array:
        n_steps = len(self.moments) // 2
        if n_steps == 1:
            return self.moments[first]
        return np.block(
            [[self.moments[first + i + k] / self._unit ** (i + k) for k in range(n_steps)]
             for i in range(n_steps)]
        )  # fmt: skip

    def matrix(self, largest: float) -> Array:
        """Return M; no eigenvalue of D exceeds ``largest``, because f is orthogonal to the axes."""
        inverse, q = self.coordinates, self.A.shape[-1]
        coupling = self._hankel(0)[..., :q, :] @ inverse
        values, turned = np.linalg.eigh(_transpose(inverse) @ self._hankel(1) @ inverse)
        D = (turned * np.clip(values, 0, largest)[..., None, :]) @ _transpose(turned)
        upper = np.concatenate([self.A, coupling], axis=-1)
        return np.concatenate([upper, np.concatenate([_transpose(coupling), D], axis=-1)], axis=-2)


Square = Callable[[Blocks, Array, Array, int], Array]


@dataclass(frozen=True, eq=False)
class Solution:
    """The leading eigenpairs of M, and the errors of the model that follow from them.

    All arrays have an additional first axis if the groups of rows are left out one after the other.

    Attributes
    ----------
    eigenvalues : ndarray of shape (n_axes,)
        Estimated eigenvalues of the data, divided by n.
    sizes : list of int
        Numbers of components, including that of the model.
    squares : ndarray of shape (n_sizes,)
        Squared relative errors of the embeddings with these numbers of components.
    sines : ndarray of shape (n_angles,)
        Squared sine of the largest angle between the leading eigenspaces of dimension 1, 2, ...
    """

    eigenvalues: Array
    sizes: list[int]
    squares: Array
    sines: Array

    def error(self, n_components: int) -> float:
        """Return the relative error of an embedding with ``n_components`` components."""
        return math.sqrt(self.squares[self.sizes.index(n_components)])

    def unknown(self) -> Solution:
        """Return the same eigenvalues with errors of 1."""
        return replace(self, squares=np.ones_like(self.squares), sines=np.ones_like(self.sines))

    def moved(self, first: Solution, later: list[Solution]) -> Solution:
        """Return this solution, changed in the same way as the later steps changed the first."""
        # If the last step still changed an error noticeably, the error is unknown, and set to its
        # upper bound of 1.
        before, last = later

        def scale(values: Array, old: Array, new: Array, end: Array) -> Array:
            grown = np.maximum(end, old) / np.maximum(old, _NOTHING)
            settled = np.abs(end - new) <= _SETTLED * end + _NEGLIGIBLE
            return np.minimum(np.where(settled, values * grown, 1.0), 1.0)

        return Solution(
            self.eigenvalues + last.eigenvalues - first.eigenvalues,
            self.sizes,
            scale(self.squares, first.squares, before.squares, last.squares),
            scale(self.sines, first.sines, before.sines, last.sines),
        )

    @classmethod
    def of(
        cls, blocks: Blocks, largest: float, n_components: int, square: Square | None = None
    ) -> Solution:
        """Solve the eigenproblem of M; ``square`` replaces the error of the coordinates."""
        M, q = blocks.matrix(largest), blocks.A.shape[-1]
        values, vectors = leading(M, q)
        sizes = _nearby(n_components, q)
        if square is None:
            squares = [_square(M, values, vectors, blocks.offsets, r) for r in sizes]
        else:
            squares = [square(blocks, values, vectors, r) for r in sizes]
        sines = [_sine(vectors, r) for r in range(1, min(n_components, ANGLES) + 1)]
        return cls(values, sizes, np.stack(squares, axis=-1), np.stack(sines, axis=-1))


def _nearby(n_components: int, n_axes: int) -> list[int]:
    """Return numbers of components near that of the model, without the last axis."""
    nearby = range(n_components - NEARBY, min(n_components + NEARBY, n_axes - 1) + 1)
    return sorted({n_components, *(r for r in nearby if r > 0)})


def _leading_of_operator(
    multiply: Callable[[Array], Array], start: Array, count: int
) -> tuple[Array, Array]:
    """Return the leading eigenpairs of a matrix that is given by its products with columns."""
    n = len(start)
    if n < _LARGE or 4 * count > n:
        return leading(multiply(np.eye(n)), count)
    operator = LinearOperator((n, n), matvec=multiply, matmat=multiply, dtype=np.float64)
    values, vectors = eigsh(operator, count, v0=start)
    return values[::-1], vectors[:, ::-1]


def _weighted_product(xx: Array, root: Array, V: Array, center: bool) -> Array:
    """Multiply a Gram matrix, weighted by the roots of the shares and centered, by columns."""
    middle = root / np.linalg.norm(root) if center else np.zeros_like(root)
    product = root * (xx @ (root * (V - middle * (middle.T @ V))))
    return np.asarray(product - middle * (middle.T @ product))


def misfit(own: Array, exact: Array) -> float:
    """Return the squared relative error of the best linear fit."""
    basis = np.linalg.qr(own)[0]
    left = exact - basis @ (basis.T @ exact)
    return float(np.sum(left**2) / np.sum(exact**2))


def leading(M: Array, count: int) -> tuple[Array, Array]:
    """Return the leading eigenpairs of a symmetric matrix, or of a stack of them."""
    values, vectors = np.linalg.eigh(M)
    return values[..., ::-1][..., :count], vectors[..., ::-1][..., :count]


def _transpose(matrices: Array) -> Array:
    return np.swapaxes(matrices, -1, -2)


def _alignment(M: Array, values: Array, vectors: Array, offsets: Array, r: int) -> Array:
    """Return the least-squares map from the model's coordinates to the exact ones."""
    # Z are the exact and Z^ the model's coordinates: Z'Z = diag(values) and Z'Z^ = diag(values) V'.
    own = M[..., :r, :r] + offsets[..., :r, None] * offsets[..., None, :r]
    return np.linalg.solve(own, vectors[..., :r, :r] * values[..., None, :r])


def _square(M: Array, values: Array, vectors: Array, offsets: Array, r: int) -> Array:
    """Return the squared relative error of an embedding in r dimensions."""
    cross = vectors[..., :r, :r] * values[..., None, :r]
    explained = np.sum(cross * _alignment(M, values, vectors, offsets, r), axis=(-2, -1))
    return np.maximum(1 - explained / values[..., :r].sum(axis=-1), 0.0)


def _sine(vectors: Array, r: int) -> Array:
    """Return the squared sine of the largest angle between the leading spaces of dimension r."""
    cosines = vectors[..., :r, :r]
    return np.maximum(1 - np.linalg.eigvalsh(_transpose(cosines) @ cosines)[..., 0], 0.0)


class SampledSums:
    """Sums over groups of sampled rows, from which M can be computed with any group left out.

    Parameters
    ----------
    pairs : FeaturePairs or ProjectedPairs
        Inner products of the features.
    fx, fq : ndarray of shape (n_rows, n_axes)
        Coordinates of the rows and of their representations.
    mu : ndarray of shape (n_axes,)
        Eigenvalues of the model, divided by n.
    largest : float
        A bound on the eigenvalues of T orthogonal to the axes. The sample provides a sharper one.
    center : bool
        True if the operators are centered in feature space.
    quantized : bool
        True if coordinates are relative to the mean of the representations, so that their mean
        over the data is not zero.
    drift : ndarray of shape (n_rows, n_groups), default=None
        If the lengths of the features depend on the data, the relative change of the squared
        length of each row's features due to the rows of each group.
    square : callable, default=None
        Function of the blocks and of the eigenpairs of M that returns the squared error of r
        components, if it is not that of the coordinates <v, psi>.
    """

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
    ) -> None:
        n = len(fx)
        self.drift, self.square = drift, square
        self.mu, self.own, self.s, self.xx = mu, pairs.own, pairs.shares, pairs.xx
        self.weights, self.center = pairs.weights[:, None], center
        self.groups = [slice(g, n, GROUPS) for g in range(min(GROUPS, n))]
        self.quantized, self.fx = quantized, fx
        self._blocks: dict[int, Blocks] = {}
        self.shifts = np.array([self.s[g] @ (fx[g] - fq[g]) for g in self.groups])
        self.a = fx - (self.shifts.sum(axis=0) if quantized else 0.0)
        self.b = fq
        if isinstance(pairs, ProjectedPairs):
            self._sum_projected(pairs)
        else:
            self._sum_pairs(pairs)
            self._sum_rows()
        self.at_all = self.at_x.sum(axis=0)
        self.largest = min(largest, _ABOVE * self._largest_beyond())
        self.unseen = pairs.unseen
        self.noise = self.unseen * self._noise()

    def _sum_projected(self, pairs: ProjectedPairs) -> None:
        """Sum h_i and its inner products if psi^ is the projection of psi, so that a = b."""
        P, sa = pairs.projections, self.s[:, None] * self.a
        self.self_x = (np.diag(pairs.xx) - np.einsum("ij,ij->i", P, P))[:, None] * self.a
        self.at_x = _group_products(pairs.xx, sa, self.groups)
        self.at_x -= P @ _group_products(P, sa, self.groups)
        for k, g in enumerate(self.groups):
            self.at_x[k, g] -= self.s[g, None] * self.self_x[g]
        self.products = np.array([sa[g].T @ self.at_x[:, g] for g in self.groups])
        self.self_products = _by_group(self.groups, self.own, self.a, self.self_x)
        self.changes = self.squared_changes = self.own_changes = np.zeros_like(self.self_products)

    def _sum_pairs(self, pairs: FeaturePairs) -> None:
        """Sum h_i at every feature vector, and its inner products, by groups."""
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
        """The weighted coordinates of the rows times their drift due to each group."""
        assert self.drift is not None
        return self.drift.T[:, :, None] * (self.s[:, None] * self.a)

    def _sum_rows(self) -> None:
        """Sum the products of coordinates, g = a a' - b b', and the products of g with itself."""
        a, b, s = self.a, self.b, self.s
        self.changes = _by_group(self.groups, s, a, a) - _by_group(self.groups, s, b, b)
        if self.drift is not None:
            self.changes += a.T @ self.drifts
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
        parts = self.at_x - self.a @ _transpose(self.changes)
        parts -= parts.mean(axis=0)
        if self.center:
            parts -= (self.s @ parts)[:, None]
        return _gram(parts, self.s).sum(axis=0) * n / (n - 1)

    def blocks(self, n_steps: int = 1) -> Blocks:
        """Return the blocks of M."""
        if n_steps not in self._blocks:
            found = self._blocks_of(np.ones((1, len(self.groups))), self.at_all[None])
            first = Blocks(found.A[0], [m[0] for m in found.moments], found.offsets[0], [], [])
            self._blocks[n_steps] = self._extend(first, found.steps[0][0], n_steps)
        return self._blocks[n_steps]

    def blocks_without(self) -> Blocks:
        """Return the blocks of M for each group of rows that is left out."""
        return self._blocks_of(1 - np.eye(len(self.groups)), self.at_all - self.at_x)

    def _blocks_of(self, kept: Array, at_x: Array) -> Blocks:
        """Return blocks with some groups left out, for each row of ``kept``."""
        # ``kept`` has ones in the columns of the groups, and ``at_x`` sums h over them.
        groups, n = np.arange(len(self.s)) % len(self.groups), len(self.groups)
        s = self.s * kept[:, groups]
        total = s.sum(axis=1)[:, None, None]
        pairs = total**2 - (s**2).sum(axis=1)[:, None, None]
        changes = _sum_kept(kept, self.changes)
        between = _sum_pairs_kept(kept, self.products) - changes @ _transpose(changes)
        between += _sum_kept(kept, self.squared_changes)
        same = _sum_kept(kept, self.self_products - self.own_changes)
        same *= (n / kept.sum(axis=1))[:, None, None]
        S = (1 - float(self.own.sum())) * between / np.maximum(pairs, 1e-300) + same
        F, weights = self._beyond(at_x, s, changes / total), s / total[..., 0]
        if self.center:
            F -= weights[:, None] @ F
        shift = changes if self.drift is None else changes + self._drift_correction(kept)
        offsets = kept @ self.shifts / total[..., 0] if self.quantized else 0 * changes[:, 0]
        return Blocks(
            np.diag(self.mu) + (shift + _transpose(shift)) / (2 * total),
            [(S + _transpose(S)) / 2, _gram(F, weights) - self.noise],
            offsets,
            [F],
            [],
        )

    def _beyond(self, at_x: Array, s: Array, changes: Array) -> Array:
        """Return f at the rows."""
        rest = np.maximum(s.sum(axis=1, keepdims=True) - s, np.finfo(np.float64).tiny)[..., None]
        F = at_x * ((1 - self.weights) / rest)
        F += self.weights * self.self_x
        F -= self.a @ _transpose(changes)
        return F

    def _extend(self, blocks: Blocks, F: Array, n_steps: int) -> Blocks:
        """Add Lanczos steps, which apply the operator of the sample to f."""
        moments = list(blocks.moments)
        steps, means = self._steps(F, n_steps)
        for before, after in pairwise(steps):
            weighted = self.s[:, None] * after
            moments += [before.T @ weighted, after.T @ weighted]
        return replace(blocks, moments=moments, steps=steps, means=means)

    def _drift_correction(self, kept: Array) -> Array:
        """Return the part of the changes that reduces the noise in means of drift a a'."""
        # The mean of a a' over the data is known up to the small changes. It replaces the mean over
        # the sample in the product with the mean drift. In contrast to ``changes``, rows that are
        # left out do not enter the means at all.
        between = _sum_pairs_kept(kept, self._drift_products)
        scale = (len(self.groups) / kept.sum(axis=1))[:, None, None]
        return between * scale - _sum_kept(kept, self.a.T @ self.drifts)

    @cached_property
    def _drift_products(self) -> Array:
        """The means of drift a a' over the rows of each group, due to each group of rows."""
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

    def _steps(self, F: Array, n_steps: int) -> tuple[list[Array], list[Array]]:
        """Return f, T f, ... at the rows, and the means subtracted from them."""
        steps: list[Array] = [F]
        means: list[Array] = []
        fx = self._about_mean(self.a)
        while len(steps) < n_steps:
            G = self._apply(steps[-1], self.xx, fx)
            means.append(self.s @ G if self.center else np.zeros(len(self.mu)))
            steps.append(G - means[-1])
        return steps, means

    def _apply(self, F: Array, xx: Array, fx: Array) -> Array:
        """Apply the operator of the sample, restricted to the complement of the axes, to F."""
        # ``xx`` contains the inner products of points with the rows, ``fx`` their coordinates.
        weighted = self.s[:, None] * F
        return xx @ weighted - fx @ (self._about_mean(self.a).T @ weighted)

    def _about_mean(self, coordinates: Array) -> Array:
        """Return coordinates relative to their mean over the data, if the model is centered."""
        return coordinates - self.s @ self.a if self.center else coordinates

    def solve(
        self, n_components: int, *, jackknife: bool = True
    ) -> tuple[Solution, Solution | None]:
        """Return the solution from all groups, and with ``jackknife`` those without each group."""
        # If the model is so far from exact kernel PCA that one Lanczos step is not enough, further
        # steps use the operator of the sample, whose error is small by comparison. They change all
        # solutions in the same way.
        found, without = self.first_step(n_components, jackknife=jackknife)
        if found.error(n_components) < _FAR:
            return found, without
        later = [self._solution(self.blocks(k), n_components) for k in (_STEPS - 1, _STEPS)]
        if without is not None:
            without = without.moved(found, later)
        return found.moved(found, later), without

    def first_step(
        self, n_components: int, *, jackknife: bool = True
    ) -> tuple[Solution, Solution | None]:
        """Return the same after one Lanczos step."""
        without = None
        if jackknife and len(self.groups) > 1:
            without = self._solution(self.blocks_without(), n_components)
        return self._solution(self.blocks(), n_components), without

    def misses(self, n_components: int) -> bool:
        """Return True if the sample has a component that the axes do not lead to."""
        # No number of Lanczos steps finds an isolated cluster without a basis point. But it has a
        # large eigenvalue in the operator of the sample. Both eigenvalues are computed from the
        # same rows, so that their sampling errors cancel.
        known, values = self._search(n_components)
        return bool(np.any(values > _MISSED * known + 3 * self.largest / len(self.s)))

    def _search(self, count: int) -> tuple[Array, Array]:
        """Return leading eigenvalues of sampled rows, reached from the axes, and from anywhere."""
        # Subspace iteration starts from the axes of the model, and from random vectors, which
        # contain the components that the axes miss.
        xx, root, own = self._searched
        q, random = len(self.mu), np.random.default_rng(0).normal(size=(len(root), _RANDOM))
        V = np.concatenate([own, root * random], axis=1)
        for _ in range(_ITERATIONS):
            V = np.linalg.qr(_weighted_product(xx, root, V, self.center))[0]
        H = V.T @ _weighted_product(xx, root, V, self.center)
        known, values = (np.linalg.eigvalsh(m)[::-1][:count] for m in (H[:q, :q], H))
        return known, values[: len(known)]

    @cached_property
    def _searched(self) -> tuple[Array, Array, Array]:
        """Kernel values, roots of shares, and weighted coordinates of some of the rows."""
        rows = slice(None, None, -(-len(self.s) // _SEARCHED))
        root = np.sqrt(self.s[rows] / self.s[rows].sum())[:, None]
        own = root * self._about_mean(self.a)[rows]
        return np.ascontiguousarray(self.xx[rows, rows]), root, own

    def _largest_beyond(self) -> float:
        """Return the largest eigenvalue of the sample in directions orthogonal to the axes."""
        xx, root, own = self._searched
        V = root * np.random.default_rng(0).normal(size=(len(root), _RANDOM))

        def multiply(V: Array) -> Array:
            return _weighted_product(xx, root, V, self.center) - own @ (own.T @ V)

        for _ in range(_ITERATIONS):
            V = np.linalg.qr(multiply(V))[0]
        return float(np.linalg.eigvalsh(V.T @ multiply(V))[-1])

    def _eigenpairs(self, count: int) -> tuple[Array, Array]:
        """Return eigenvalues and coordinates of exact kernel PCA of the sample."""
        means = self.xx @ self.s if self.center else np.zeros(len(self.s))
        diagonal = self.s * (np.diag(self.xx) - 2 * means + self.s @ means)
        root = np.sqrt(self.s)[:, None]

        def multiply(V: Array) -> Array:
            return _weighted_product(self.xx, root, V.reshape(len(root), -1), self.center)

        values, vectors = _leading_of_operator(multiply, np.sqrt(np.abs(diagonal)), count)
        values = np.maximum(values, np.finfo(np.float64).tiny)
        return values, vectors * np.sqrt(values) / root

    def measure(self, n_components: int) -> Solution:
        """Return the errors of the model relative to exact kernel PCA of the sample."""
        sizes = _nearby(n_components, len(self.mu))
        values, Z = self._eigenpairs(max(sizes))
        root = np.sqrt(self.s)[:, None]
        own, exact = root * self.fx, root * Z
        squares = [misfit(own[:, :r], exact[:, :r]) for r in sizes]
        about = self.fx - self.s @ self.fx if self.center else self.fx
        cosines = Z.T @ (self.s[:, None] * about[:, : max(sizes)]) / values[:, None]
        sines = [_sine(cosines.T, r) for r in range(1, min(n_components, ANGLES) + 1)]
        return Solution(values, sizes, np.array(squares), np.array(sines))

    def _solution(self, blocks: Blocks, n_components: int) -> Solution:
        return Solution.of(blocks, self.largest, n_components, self.square)

    def expand(self, n_components: int) -> Blocks:
        """Return the blocks of M with as many Lanczos steps as the estimate of the error takes."""
        near = self._solution(self.blocks(), n_components).error(n_components) < _FAR
        return self.blocks(1 if near else _STEPS)

    def deviations(self, fx: Array, xx: Array, xq: Array, n_components: int) -> Array:
        """Return the distance between the coordinates of points and the exact ones, aligned."""
        # ``fx`` contains the coordinates of the points on the axes, ``xx`` and ``xq`` their inner
        # products with the features of the sampled rows and with the rows' representations.
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
        aligned = fx[:, :r] @ _alignment(M, values, vectors, blocks.offsets, r)
        return np.linalg.norm(exact - aligned, axis=1)


def _group_products(matrix: Array, columns: Array, groups: list[slice]) -> Array:
    """Return matrix[g]' @ columns[g] for each group g of rows, without copying the matrix."""
    return np.array([matrix[g].T @ columns[g] for g in groups])


def _by_group(groups: list[slice], weights: Array, u: Array, v: Array) -> Array:
    """Return the weighted sum of u v' over the rows of each group."""
    return np.array([(weights[g, None] * u[g]).T @ v[g] for g in groups])


def _gram(columns: Array, weights: Array) -> Array:
    """Return the weighted products of the columns of each matrix in a stack."""
    return _transpose(columns) @ (weights[..., None] * columns)


def _sum_kept(kept: Array, matrices: Array) -> Array:
    """Return the sum of the matrices of the kept groups, for each row of ``kept``."""
    return np.tensordot(kept, matrices, axes=1)


def _sum_pairs_kept(kept: Array, matrices: Array) -> Array:
    """Return the sum of the matrices of all pairs of kept groups, for each row of ``kept``."""
    return np.einsum("kh,khij->kij", kept, np.tensordot(kept, matrices, axes=1))

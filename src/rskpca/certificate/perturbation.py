"""How far the axes of a model are from those of exact kernel PCA, estimated from a row sample.

Let T = mean of psi psi' over the rows be the operator of the data, T^ = mean of psi^ psi^' that of
the model (see :mod:`rskpca.pairs`), and v_1, ..., v_q the orthonormal axes of the model, T^ v_i =
mu_i v_i. The images T v_i = mu_i v_i + h_i differ from multiples of the axes by h_i = mean of
a_i psi - b_i psi^, where a_i = <v_i, psi> and b_i = <v_i, psi^> are coordinates of a row and of its
representation. In the span of the axes and of the parts f_i of h_i orthogonal to them, T has the
matrix

    M = | A    S^1/2 |    A = diag(mu) + <v_j, h_i>,   S = <f_i, f_k>,
        | S^1/2   D  |    D = S^-1/2 <f_i, T f_k> S^-1/2.

All entries are means over rows, or over pairs or triples of them. The leading eigenpairs of M are
those of exact kernel PCA after one step of the block Lanczos method that starts from the model. This
is exact to second order in the error of the operator, where perturbation theory would divide by
eigengaps. Because <u, T w> is the mean over the rows of the product of the coordinates u and w, M
is also the Gram matrix of coordinates, from which the error of the embedding follows.

About the mean, coordinates are relative to their means over the data. The mean of the model's
coordinates over the data, which is zero over their representations, is an error of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..pairs import FeaturePairs

Array = NDArray[np.floating]

GROUPS = 20
_NOTHING = 1e-14  # of the largest squared eigenvalue: smaller squares are rounding errors


@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks A, S and <f_i, T f_k> of M, and the means of the coordinates over the data."""

    A: Array
    S: Array
    L: Array
    offsets: Array

    def matrix(self, largest: float) -> Array:
        """Return M; no eigenvalue of D exceeds ``largest``, because f is orthogonal to the axes."""
        squares, vectors = np.linalg.eigh(self.S)
        kept = squares > _NOTHING * float(self.A[0, 0]) ** 2
        roots, vectors = np.sqrt(squares[kept]), vectors[:, kept]
        values, turned = np.linalg.eigh((vectors / roots).T @ self.L @ (vectors / roots))
        D = (turned * np.clip(values, 0, largest)) @ turned.T
        coupling = vectors * roots
        return np.block([[self.A, coupling], [coupling.T, D]])


@dataclass(frozen=True, eq=False)
class Solution:
    """The leading eigenpairs of M, as errors of a model with ``r`` components.

    Attributes
    ----------
    eigenvalues : ndarray of shape (n_axes,)
        Estimated eigenvalues of the data, divided by n.
    squares : ndarray of shape (n_axes,)
        Squared relative error of the embedding with the first 1, 2, ... components.
    sines : ndarray of shape (n_axes,)
        Squared sine of the largest angle between the leading eigenspaces.
    """

    eigenvalues: Array
    squares: Array
    sines: Array

    @classmethod
    def of(cls, blocks: Blocks, largest: float) -> Solution:
        """Solve the eigenproblem of M."""
        M, q = blocks.matrix(largest), len(blocks.A)
        values, vectors = np.linalg.eigh(M)
        values, vectors = values[::-1][:q], vectors[:, ::-1][:, :q]
        errors = [_errors(M, values, vectors, blocks.offsets, r) for r in range(1, q + 1)]
        squares, sines = np.array(errors).T
        return cls(values, squares, sines)


def _errors(
    M: Array, values: Array, vectors: Array, offsets: Array, r: int
) -> tuple[float, float]:
    """Return the squared errors of the embedding and of the leading space of dimension r."""
    # Coordinates are Z = exact and Z^ = model, with Z'Z = diag(values) and Z'Z^ = diag(values) V'.
    inside = vectors[:r, :r]
    cross = values[:r, None] * inside.T
    own = M[:r, :r] + np.outer(offsets[:r], offsets[:r])
    explained = np.trace(cross @ np.linalg.solve(own, cross.T)) / values[:r].sum()
    cosine = np.linalg.svd(inside, compute_uv=False)[-1]
    return max(1 - explained, 0.0), max(1 - cosine**2, 0.0)


class SampledSums:
    """Sums over groups of sampled rows, from which the blocks of M follow without any group.

    Parameters
    ----------
    pairs : FeaturePairs
        Inner products of the features.
    fx, fq : ndarray of shape (n_rows, n_axes)
        Coordinates of the rows and of their representations.
    mu : ndarray of shape (n_axes,)
        Eigenvalues of the model, divided by n.
    quantized : bool
        True if the coordinates of the model are relative to the mean of the representations, and
        so have a mean over the data.
    """

    def __init__(
        self, pairs: FeaturePairs, fx: Array, fq: Array, mu: Array, *, quantized: bool
    ) -> None:
        n = len(fx)
        self.mu, self.own, self.s = mu, pairs.own, pairs.shares
        self.groups = [np.arange(g, n, GROUPS) for g in range(min(GROUPS, n))]
        self.quantized = quantized
        self.shifts = np.array([self.s[g] @ (fx[g] - fq[g]) for g in self.groups])
        self.a = fx - (self.shifts.sum(axis=0) if quantized else 0.0)
        self.b = fq
        self._sum_pairs(pairs)
        self._sum_rows()

    def _sum_pairs(self, pairs: FeaturePairs) -> None:
        """Sum h_i at every feature vector, and its inner products, by groups."""
        s, a, b = self.s[:, None], self.a, self.b
        xx, xq, qq = pairs.xx, pairs.xq, pairs.qq
        parts = [(g, s[g] * a[g], s[g] * b[g]) for g in self.groups]
        self.at_x = np.stack([xx[:, g] @ sa - xq[:, g] @ sb for g, sa, sb in parts])
        at_q = np.stack([xq[g].T @ sa - qq[:, g] @ sb for g, sa, sb in parts])
        self.self_x = np.diag(xx)[:, None] * a - np.diag(xq)[:, None] * b
        self_q = np.diag(xq)[:, None] * a - np.diag(qq)[:, None] * b
        for k, (g, _, _) in enumerate(parts):
            self.at_x[k, g] -= s[g] * self.self_x[g]
            at_q[k, g] -= s[g] * self_q[g]
        self.products = np.array(
            [[sa.T @ self.at_x[k, g] - sb.T @ at_q[k, g] for k in range(len(parts))]
             for g, sa, sb in parts]
        )  # fmt: skip
        self.self_products = _by_group(self.groups, self.own, a, self.self_x)
        self.self_products -= _by_group(self.groups, self.own, b, self_q)

    def _sum_rows(self) -> None:
        """Sum the products of coordinates, g = a a' - b b', and those of g with itself."""
        a, b, s = self.a, self.b, self.s
        self.changes = _by_group(self.groups, s, a, a) - _by_group(self.groups, s, b, b)
        norms = [(a * a).sum(axis=1), (a * b).sum(axis=1), (b * b).sum(axis=1)]
        pieces = [(a, a, norms[0], 1), (a, b, norms[1], -1), (b, a, norms[1], -1),
                  (b, b, norms[2], 1)]  # fmt: skip
        self.squared_changes, self.own_changes = (
            sum(sign * _by_group(self.groups, w * norm, u, v) for u, v, norm, sign in pieces)
            for w in (s**2, self.own)
        )

    def blocks(self, left_out: int | None = None) -> Blocks:
        """Return the blocks of M, without one of the groups if it is given."""
        kept = [g for g in range(len(self.groups)) if g != left_out]
        rows = np.concatenate([self.groups[g] for g in kept])
        total = self.s[rows].sum()
        pairs = total**2 - self.s[rows] @ self.s[rows]
        own = float(self.own.sum())
        changes = self.changes[kept].sum(axis=0)
        between = self.products[np.ix_(kept, kept)].sum(axis=(0, 1))
        between -= changes @ changes.T - self.squared_changes[kept].sum(axis=0)
        scale = len(self.groups) / len(kept)
        alone = (self.self_products[kept] - self.own_changes[kept]).sum(axis=0) * scale
        S = (1 - own) * between / max(pairs, 1e-300) + alone
        F = (1 - own) * self.at_x[kept].sum(axis=0)[rows] / (total - self.s[rows, None])
        F += own * self.self_x[rows] - self.a[rows] @ (changes / total).T
        weights = self.s[rows] / total
        F -= weights @ F
        offsets = self.shifts[kept].sum(axis=0) / total
        return Blocks(
            np.diag(self.mu) + (changes + changes.T) / (2 * total),
            (S + S.T) / 2,
            F.T @ (weights[:, None] * F),
            offsets if self.quantized else np.zeros(len(self.mu)),
        )

    def solve(self) -> tuple[Solution, list[Solution]]:
        """Return the solution from all groups, and those without each of them."""
        largest = float(self.mu[-1])
        without = [Solution.of(self.blocks(g), largest) for g in range(len(self.groups))]
        return Solution.of(self.blocks(), largest), without


def _by_group(groups: list[NDArray[np.intp]], weights: Array, u: Array, v: Array) -> Array:
    """Return the weighted sum of u v' over the rows of each group."""
    return np.array([(weights[g, None] * u[g]).T @ v[g] for g in groups])

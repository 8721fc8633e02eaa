"""One step of the block Lanczos method from the axes of a model towards those of the data.

Let T = mean of psi psi' over the rows be the operator of the data, T^ = mean of psi^ psi^' that of
the model (see :mod:`rskpca.pairs`), and v_1, ..., v_q the orthonormal axes of the model, T^ v_i =
mu_i v_i. The images T v_i = mu_i v_i + h_i differ from multiples of the axes by h_i = mean of
a_i psi - b_i psi^, where a_i = <v_i, psi> and b_i = <v_i, psi^> are coordinates of a row and of its
representation. In the span of the axes and of the parts f_i of h_i orthogonal to them, T has the
matrix

    M = | A    S^1/2 |    A = diag(mu) + <v_j, h_i>,   S = <f_i, f_k>,
        | S^1/2   D  |    D = S^-1/2 <f_i, T f_k> S^-1/2.

The leading eigenpairs of M approximate those of exact kernel PCA by one step of the block Lanczos
method that starts from the model. To first order in the operator error, this agrees with
perturbation theory, but without dividing by eigengaps, so nearly equal eigenvalues are harmless.
Because <u, T w> is the mean over the rows of the product of the coordinates u and w, M is also the
Gram matrix of coordinates, from which the error of the embedding follows. :mod:`.perturbation`
computes the entries of M from a row sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]

NOTHING = 1e-14  # relative to the largest squared eigenvalue; smaller squares are rounding errors
_NEARBY = 3  # how many more or fewer components are compared
_ANGLES = 20  # number of leading eigenspaces whose angles are computed
_NEGLIGIBLE = 1e-6  # absolute change of a squared error that counts as converged
_EQUAL = 1e-10  # relative difference below which eigenvalues are equal
_SETTLED = 0.02  # relative change of a squared error that counts as converged


@dataclass(frozen=True, eq=False)
class Blocks:
    """The block A of M, the moments that determine the other blocks, and the coordinate means.

    All arrays have an additional first axis if the groups of rows are left out in turn; ``means``
    is empty in this case.

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
        f, T f, ... at the sampled rows, one array per Lanczos step.
    means : list of ndarray of shape (n_axes,)
        The means that were subtracted from T f, T^2 f, ...
    """

    A: Array
    moments: list[Array]
    offsets: Array
    steps: list[Array]
    means: list[Array]

    @property
    def single(self) -> Blocks:
        """The blocks of a stack of one, without the values at the rows."""
        return Blocks(self.A[0], [moment[0] for moment in self.moments], self.offsets[0], [], [])

    @cached_property
    def coordinates(self) -> Array:
        """Columns that combine f, T f, ... into orthonormal vectors; negligible ones are zero."""
        squares, vectors = np.linalg.eigh(self._hankel(0))
        kept = squares > NOTHING * self._unit**2
        scale = np.where(kept, 1 / np.sqrt(np.where(kept, squares, 1.0)), 0.0)
        return np.asarray(vectors * scale[..., None, :])

    @property
    def _unit(self) -> float:
        """The scale; T^k f is divided by its k-th power."""
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
        """Return M, with the eigenvalues of D limited to ``largest``."""
        # ``largest`` bounds the eigenvalues of T in directions orthogonal to the axes, such as f.
        inverse, q = self.coordinates, self.A.shape[-1]
        coupling = self._hankel(0)[..., :q, :] @ inverse
        values, turned = np.linalg.eigh(transpose(inverse) @ self._hankel(1) @ inverse)
        D = (turned * np.clip(values, 0, largest)[..., None, :]) @ transpose(turned)
        return _join(self.A, coupling, D)

    def changes_of_matrix(self, others: Blocks, largest: float) -> Array:
        """Return the changes of M, to first order, if these blocks are replaced by other ones."""
        S, T, C = *self.moments, self.coordinates
        dS, dT = (new - old for new, old in zip(others.moments, self.moments, strict=True))
        # The vectors remain orthonormal, to first order, if they are multiplied by 1 - E / 2.
        E, D = C.T @ dS @ C, C.T @ T @ C
        coupling = dS @ C - S @ C @ E / 2
        values, turned = np.linalg.eigh(D)
        dD = turned.T @ (C.T @ dT @ C - (E @ D + D @ E) / 2) @ turned
        inside = (values > 0) & (values < largest)
        dD *= _divided_differences(values, np.clip(values, 0, largest), 1.0 * inside)
        return _join(others.A - self.A, coupling, turned @ dD @ turned.T)


def _join(A: Array, coupling: Array, D: Array) -> Array:
    """Return the symmetric matrix with these blocks."""
    upper = np.concatenate([A, coupling], axis=-1)
    return np.concatenate([upper, np.concatenate([transpose(coupling), D], axis=-1)], axis=-2)


def _divided_differences(x: Array, values: Array, slopes: Array) -> Array:
    """Return (values[i] - values[j]) / (x[i] - x[j]), or the mean slope if x[i] = x[j]."""
    steps = np.subtract.outer(x, x)
    equal = np.abs(steps) <= _EQUAL * np.abs(x).max(initial=0.0)
    means = np.add.outer(slopes, slopes) / 2
    return np.where(equal, means, np.subtract.outer(values, values) / np.where(equal, 1.0, steps))


Square = Callable[[Blocks, Array, Array, int], Array]


@dataclass(frozen=True, eq=False)
class Solution:
    """The leading eigenpairs of M, and the errors of the model that follow from them.

    All arrays have an additional first axis if the groups of rows are left out in turn.

    Attributes
    ----------
    eigenvalues : ndarray of shape (n_axes,)
        Estimated eigenvalues of the data, divided by n.
    sizes : list of int
        Component counts, including that of the model.
    squares : ndarray of shape (n_sizes,)
        Squared relative errors of the embeddings with these component counts. If sampling noise
        exceeds the error, an estimate can be negative. It is not clipped, so that its variance can
        be estimated by leaving out groups of rows.
    sines : ndarray of shape (n_angles,)
        Squared sine of the largest angle between the leading eigenspaces of dimension 1, 2, ...;
        empty if only the error of the model itself was requested.
    """

    eigenvalues: Array
    sizes: list[int]
    squares: Array
    sines: Array

    def error(self, n_components: int) -> float:
        """Return the relative error of an embedding with ``n_components`` components."""
        return math.sqrt(max(self.squares[self.sizes.index(n_components)], 0.0))

    def unknown(self) -> Solution:
        """Return the same eigenvalues with errors of 1."""
        return replace(self, squares=np.ones_like(self.squares), sines=np.ones_like(self.sines))

    def moved(self, first: Solution, later: list[Solution]) -> Solution:
        """Return this solution, changed in the same way as the later steps changed ``first``."""
        # If the last step still changed an error noticeably, the error is unknown and is set to its
        # upper bound of 1.
        before, last = later

        def scale(values: Array, old: Array, new: Array, end: Array) -> Array:
            grown = np.maximum(end, old) / np.maximum(old, NOTHING)
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
        cls,
        blocks: Blocks,
        largest: float,
        n_components: int,
        *,
        detailed: bool = True,
        square: Square | None = None,
    ) -> Solution:
        """Return the solution of the eigenproblem of M; ``square`` replaces the error function."""
        M, q = blocks.matrix(largest), blocks.A.shape[-1]
        values, vectors = leading(M, q)
        sizes = nearby(n_components, q) if detailed else [n_components]
        if square is None:
            squares = [_square(M, values, vectors, blocks.offsets, r) for r in sizes]
        else:
            squares = [square(blocks, values, vectors, r) for r in sizes]
        sines = np.empty((*values.shape[:-1], 0))
        if detailed:
            spaces = [sine(vectors[..., :r, :r]) for r in angles(n_components)]
            sines = np.stack(spaces, axis=-1)
        return cls(values, sizes, np.stack(squares, axis=-1), sines)

    @classmethod
    def near(
        cls, blocks: Blocks, others: Blocks, largest: float, n_components: int
    ) -> tuple[Solution, Solution]:
        """Return the solution for one set of blocks, and those for others to first order.

        This is faster than :meth:`of`. The solutions contain only the error of the model itself.

        Parameters
        ----------
        blocks : Blocks
            The blocks of M, with one step.
        others : Blocks
            Similar blocks, stacked along an additional first axis.
        largest : float
            Upper limit of the eigenvalues of D.
        n_components : int
            Number of components of the model.

        Returns
        -------
        whole : Solution
            The solution for ``blocks``.
        parts : Solution
            The solutions for ``others``.
        """
        M, q, r = blocks.matrix(largest), blocks.A.shape[-1], n_components
        values, vectors = leading(M, M.shape[-1])
        offsets = blocks.offsets[:r]
        square = _square(M, values, vectors, blocks.offsets, r)
        # The squared error is 1 - tr(W F) / (sum of the leading eigenvalues), where F is the first
        # block of V diag(squares of the leading eigenvalues) V', and W is the inverse of the first
        # block of M + (offsets)(offsets)'. ``slope`` is the derivative of the product of (1 - the
        # squared error) and the sum, minus (1 - the squared error) times that of the sum.
        W = np.linalg.inv(M[:r, :r] + np.outer(offsets, offsets))
        F = (vectors[:r, :r] * values[:r] ** 2) @ vectors[:r, :r].T
        top = np.arange(len(values)) < r
        ratios = _divided_differences(values, np.where(top, values**2, 0.0), 2 * top * values)
        ratios *= vectors[:r].T @ W @ vectors[:r]
        slope = vectors @ (ratios - (1 - square) * np.diag(top)) @ vectors.T
        slope[:r, :r] -= W @ F @ W
        changes = blocks.changes_of_matrix(others, largest)
        shifts = others.offsets[:, :r] - offsets
        gains = np.tensordot(changes, slope, axes=2) - 2 * shifts @ (W @ F @ W @ offsets)
        squares = square - gains / values[:r].sum()
        V = vectors[:, :q]
        moved = values[:q] + np.einsum("ia,kia->ka", V, changes @ V)
        whole = cls(values[:q], [r], np.array([square]), np.empty(0))
        return whole, cls(moved, [r], squares[:, None], np.empty((len(squares), 0)))


def nearby(n_components: int, n_axes: int) -> list[int]:
    """Return component counts close to ``n_components``, leaving out the last axis."""
    sizes = range(n_components - _NEARBY, min(n_components + _NEARBY, n_axes - 1) + 1)
    return sorted({n_components, *(r for r in sizes if r > 0)})


def angles(n_components: int) -> range:
    """Return the dimensions of the leading eigenspaces whose angles are computed."""
    return range(1, min(n_components, _ANGLES) + 1)


def misfit(own: Array, exact: Array) -> float:
    """Return the squared relative error of the best linear fit of ``own`` to ``exact``."""
    basis = np.linalg.qr(own)[0]
    left = exact - basis @ (basis.T @ exact)
    return float(np.sum(left**2) / np.sum(exact**2))


def leading(M: Array, count: int) -> tuple[Array, Array]:
    """Return the leading eigenpairs of a symmetric matrix, or of a stack of them."""
    values, vectors = np.linalg.eigh(M)
    return values[..., ::-1][..., :count], vectors[..., ::-1][..., :count]


def transpose(matrices: Array) -> Array:
    return np.swapaxes(matrices, -1, -2)


def alignment(M: Array, values: Array, vectors: Array, offsets: Array, r: int) -> Array:
    """Return the least-squares map from the model's coordinates to the exact ones."""
    # The exact coordinates Z and the model's coordinates Z^ satisfy Z'Z = diag(values) and
    # Z'Z^ = diag(values) V'.
    own = M[..., :r, :r] + offsets[..., :r, None] * offsets[..., None, :r]
    return np.linalg.solve(own, vectors[..., :r, :r] * values[..., None, :r])


def _square(M: Array, values: Array, vectors: Array, offsets: Array, r: int) -> Array:
    """Return the squared relative error of an embedding in r dimensions."""
    cross = vectors[..., :r, :r] * values[..., None, :r]
    explained = np.sum(cross * alignment(M, values, vectors, offsets, r), axis=(-2, -1))
    return 1 - explained / values[..., :r].sum(axis=-1)


def sine(cosines: Array) -> Array:
    """Return the squared sine of the largest angle, from the cosines between two bases."""
    return np.maximum(1 - np.linalg.eigvalsh(transpose(cosines) @ cosines)[..., 0], 0.0)

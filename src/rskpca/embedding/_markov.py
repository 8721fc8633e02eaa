"""What the embeddings by random walks share: the constant function, and pieces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import _validation as check
from .._core.links import longest_links
from ..density import BaseDensity
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet
from ..spectral import EigenSystem, FittedMarkov, solve
from ..spectral.basis import projected, sufficient_for_walk
from ..spectral.eigensystem import signs
from ._base import Array, ReducedSetEmbedding
from ._basis import basis_points, check_basis, tolerable

# An eigenvalue this close to 1 is a piece of its own: the walk needs 1e10 steps to leave it.
_ONE = 1 - 1e-10


@dataclass(frozen=True, eq=False)
class Solved:
    """What a solved walk answers with, whatever becomes of the parameters.

    ``shown`` is over all centers, ``evaluated`` the same through the basis. ``made`` is what an
    embedding makes of them for itself: a time, a partition.
    """

    shown: EigenSystem
    evaluated: EigenSystem
    made: Any


class MarkovEmbedding(ReducedSetEmbedding):
    """Eigenfunctions of a random walk. The largest eigenvalue is 1, of a constant function.

    ``_constants`` says how many of them are left out. One eigenpair more than is shown is
    solved for: it tells of pieces, and how much was cut off.
    """

    _constants = 1
    basis: Any
    _solved_: Solved | None = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check.positive_integer(self._wanted_name, self._wanted)
        check_basis(self.basis)
        if self.basis is not None and self._graph is not None:
            raise ValueError(
                f"basis={self.basis!r} goes with the full kernel, but graph={self._graph!r}: a "
                "new point has few neighbours as it is. Leave one of them out."
            )

    def _solve(self, kernel: RadialKernel, reduced_set: ReducedSet) -> EigenSystem:
        count = self._constants + cast(int, self._wanted)
        system = solve(self._operator(), kernel, reduced_set, count + 1, self._graph)
        found = len(system.eigenvalues)
        self._refuse_no_walk(found, reduced_set.n_centers)
        self._check_found(min(found, count) - self._constants, reduced_set.n_centers)
        self._warn_of_pieces(system, reduced_set)
        return _with_constant_first(system, reduced_set.weights)

    def _adopt(
        self, X: Any, kernel: RadialKernel, density: BaseDensity, system: EigenSystem | None
    ) -> None:
        """All that can fail comes first, so that a model that was there stays whole."""
        solved = None if system is None else self._settled(density.reduced_set_, system)
        super()._adopt(X, kernel, density, system)
        self._solved_ = solved

    def _settled(self, reduced_set: ReducedSet, whole: EigenSystem) -> Solved:
        """What is shown of all that was solved for, and through which points."""
        first, last = self._constants, self._constants + cast(int, self._wanted)
        shown = whole.select(slice(first, last))
        made = self._made(shown, whole.eigenvalues[last:], reduced_set)
        if self.basis is None:
            return Solved(shown, shown, made)
        return Solved(shown, projected(shown, self._basis_points(shown, reduced_set)), made)

    def _made(self, shown: EigenSystem, cut_off: Array, reduced_set: ReducedSet) -> Any:
        """What an embedding makes of the eigenfunctions, and of the eigenvalues beyond them."""

    @property
    def _solved(self) -> Solved:
        """What was solved for; solved now if the data changed."""
        check_is_fitted(self)
        if self._system_ is None or self._solved_ is None:
            system = self._solve(self.kernel_, self.reduced_set_)
            self._solved_ = self._settled(self.reduced_set_, system)
            self._system_ = system
        return self._solved_

    @property
    def _graph(self) -> float | None:
        """Which centers are neighbours; None for all."""
        return None

    @property
    def _pieces_allowed(self) -> int:
        """How many pieces are no matter for a warning."""
        return 1

    def _refuse_no_walk(self, found: int, n_centers: int) -> None:
        """Without self-affinities there may be nowhere to go."""
        if found == 0:
            raise ValueError(
                f"no center has an affinity with another (there are {n_centers}), so that there "
                "is no walk. More rows, a larger bandwidth, or self_affinity=True make one."
            )

    def _warn_of_pieces(self, system: EigenSystem, reduced_set: ReducedSet) -> None:
        """Say how many pieces there are, and what joins them."""
        ones, alone = _ones(system), _walk(system).n_isolated
        pieces = ones if ones > self._pieces_allowed else 0
        if not pieces and not alone:
            return
        more = "at least " if pieces == len(system.eigenvalues) else ""
        faults = [
            f"fall apart into {more}{pieces} pieces, each with an eigenvalue of 1" * bool(pieces),
            f"leave {alone} centers alone, with coordinates 0" * bool(alone),
        ]
        links = longest_links(reduced_set.centers)
        gap = links[0 if alone else self._pieces_allowed - 1]
        check.warn(f"the affinities {' and '.join(filter(None, faults))}. {self._joined_by(gap)}")

    def _joined_by(self, gap: float) -> str:
        """What to change; a cut-off leaves room for centers that move with the bandwidth."""
        cut_off = f" and graph={1.5 * gap:#.3g}" if self._graph else ""
        return (
            f"bandwidth={gap:.3g}{cut_off} would join them: no center is further than {gap:.3g} "
            "from its next."
        )

    @property
    def eigensystem_(self) -> EigenSystem:
        """The solved eigenproblem, without the constant function; solved now if data changed."""
        return self._solved.shown

    @property
    def _evaluated(self) -> EigenSystem:
        return self._solved.evaluated

    def _basis_points(self, shown: EigenSystem, reduced_set: ReducedSet) -> Array:
        kernel = shown.kernel

        def enough() -> Any:
            return sufficient_for_walk(shown, reduced_set, tolerable(kernel, reduced_set))

        return basis_points(self.basis, kernel, reduced_set, enough)

    @property
    def basis_(self) -> Array:
        """The points that ``transform`` evaluates the kernel at."""
        return self._evaluated.centers

    @property
    def eigenvectors_(self) -> Array:
        """Unit eigenvectors of the matrix that is decomposed, a row a center."""
        return np.sqrt(self._measure(self.eigensystem_))[:, None] * self.eigensystem_.functions

    def _measure(self, system: EigenSystem) -> Array:
        return _walk(system).measure(self.reduced_set_.weights)

    def _coordinates(self, system: EigenSystem, functions: Array) -> Array:
        """Eigenfunctions as they are, with a word on points at which all of them are zero."""
        lost = int(np.count_nonzero(~functions.any(axis=1)))
        if lost:
            more = "bandwidth" if self._graph is None else "cut-off"
            check.warn(
                f"{lost} of {len(functions)} rows have coordinates 0: they are far from every "
                f"center, or near centers alone or in a piece of which none of the "
                f"{functions.shape[1]} components tells. A larger {more} joins them to the rest."
            )
        return functions


def _ones(system: EigenSystem) -> int:
    """How many eigenvalues are 1."""
    return int(np.count_nonzero(system.eigenvalues > _ONE))


def _with_constant_first(system: EigenSystem, weights: Array) -> EigenSystem:
    """Among several functions of eigenvalue 1 any turn will do: the one with a constant first."""
    ones, measure = _ones(system), _walk(system).measure(weights)
    if ones < 2:
        return system
    shares = measure @ system.functions[:, :ones]
    turn = np.linalg.qr(np.column_stack([shares, np.eye(ones)]))[0]
    functions = np.hstack([system.functions[:, :ones] @ turn, system.functions[:, ones:]])
    functions *= signs(functions, system.centers.astype(np.float64))
    coefficients = measure[:, None] * functions / system.eigenvalues
    return replace(system, functions=functions, coefficients=coefficients)


def neighbours(graph: Any) -> float | None:
    """The parameter ``graph``, checked: None, an int of at least 2, or a positive float."""
    if graph is None:
        return None
    if isinstance(graph, Integral) and not isinstance(graph, bool):
        if graph < 2:
            raise ValueError(
                f"graph={graph!r} is a number of nearest centers, which must be at least 2, as "
                "each is its own nearest. For a cut-off give a float, such as 1.5."
            )
        return int(graph)
    hint = "Or None for the full kernel, or a whole number of nearest centers."
    return check.positive_number("graph", graph, hint=hint)


def _walk(system: EigenSystem) -> FittedMarkov:
    return cast(FittedMarkov, system.operator)

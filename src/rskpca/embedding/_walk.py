"""Base class for random-walk embeddings."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from numbers import Integral
from typing import Any, Self, cast

import numpy as np

from .. import _validation as check
from .._core.distances import spanning_tree_lengths
from .._validation import Rows, validate_points, validate_rows
from ..density import BaseDensity, KMeansDensity
from ..kernels import RadialKernel
from ..model import FittedModel
from ..reduced_set import ReducedSet
from ..spectral import EigenSystem, FittedMarkov, Operator, solve
from ..spectral.basis import projected, sufficient_for_walk
from ..spectral.eigensystem import signs
from ._base import Array, KernelEmbedding, check_components
from ._basis import basis_points, check_basis, tolerable

# An eigenvalue above this threshold indicates a separate piece, which the walk takes 1e10 steps to
# leave.
_ONE = 1 - 1e-10

# Number of means for data that do not compress, and number of k-means steps. They were chosen on
# pendigits and 20,000 rows of covtype, with ten rows per mean. Between 1,000 and 4,000 means, the
# normalized cut did not change; without k-means steps, it was higher.
_N_MEANS, _MEAN_STEPS = 2_000, 3


class WalkEmbedding(KernelEmbedding):
    """Base class for embeddings computed from the eigenfunctions of a random walk.

    The largest eigenvalue is 1, and its eigenfunction is constant. A subclass defines the operator
    and the number of leading (constant) eigenfunctions to drop. One more eigenpair is computed
    than is kept, to detect separate pieces and to measure what is cut off.
    """

    _size_name = "n_components"  # name of the parameter that sets the number of eigenfunctions
    _n_constant = 1  # number of leading eigenfunctions to drop
    _bandwidth_rule = "neighbors"  # the median would merge clusters, or the layers of a sheet
    _most_centers = 5_000
    basis: Any

    @abstractmethod
    def _operator(self) -> Operator:
        """Return the operator to decompose."""

    @property
    def _size(self) -> int:
        return cast(int, self.get_params(deep=False)[self._size_name])

    @property
    def _required(self) -> int | None:
        """The number of eigenfunctions below which to warn, or None to accept any number."""
        return self._size

    @property
    def _graph(self) -> float | None:
        """The validated ``graph`` parameter; None keeps all affinities."""
        return None

    @property
    def _allowed_pieces(self) -> int:
        """The largest number of disconnected pieces that does not cause a warning."""
        return 1

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check.positive_integer(self._size_name, self._size)
        check_basis(self.basis)
        if self.basis is not None and self._graph is not None:
            raise ValueError(
                f"basis={self.basis!r} requires the full kernel, but graph={self._graph!r} keeps "
                "only a few neighbors per point. Set either basis or graph to None."
            )

    @property
    def _cover_requested(self) -> bool:
        return super()._cover_requested or self._graph is not None  # graphs allow many centers

    def _substitute(self) -> BaseDensity:
        return KMeansDensity(_N_MEANS, max_iter=_MEAN_STEPS, random_state=self.random_state)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the reduced set and solve the eigenproblem of the random walk on it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data with at least two rows.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row. An integer weight is equivalent to repeating the row, except
            with a ``WindowDensity`` or ``FadingDensity``, where the row still counts as one row
            of the stream.

        Returns
        -------
        Self
            The fitted estimator.
        """
        self._check_parameters()
        rows = validate_rows(self, X, sample_weight)
        density = self._new_density()
        kernel = self._resolve_kernel(rows, density)
        density = self._suitable_density(rows, kernel, density)
        self._summarize(density, rows, kernel)  # Algorithm 2
        model = self._decompose(kernel, density.reduced_set_)  # Algorithm 1
        self._store(rows, kernel, density, model)
        self._label(rows)
        return self

    def _label(self, rows: Rows) -> None:
        """Compute attributes of the training rows; subclasses override this method."""

    def _decompose(self, kernel: RadialKernel, reduced_set: ReducedSet) -> FittedModel:
        """Solve the eigenproblem on the reduced set and drop the constant eigenfunctions."""
        first = self._n_constant
        whole = self._solve_walk(kernel, reduced_set, first + self._size + 1)
        last = first + self._choose_size(whole, reduced_set)
        system = whole.select(slice(first, last))
        points = self._basis_points(system, reduced_set)
        evaluated = system if points is reduced_set.centers else projected(system, points)
        ones = np.ones(len(system.eigenvalues))
        model = FittedModel(kernel, reduced_set, system, evaluated, ones, certified=True)
        return self._complete(model, whole.eigenvalues[last:])

    def _choose_size(self, whole: EigenSystem, reduced_set: ReducedSet) -> int:
        """Return the number of eigenfunctions to keep, not counting the ones that are dropped."""
        return self._size

    def _complete(self, model: FittedModel, cut_off: Array) -> FittedModel:
        """Return the model with additional fields; subclasses override this method.

        ``cut_off`` contains the eigenvalues after the last one that is kept.
        """
        return model

    def _solve_walk(self, kernel: RadialKernel, reduced_set: ReducedSet, count: int) -> EigenSystem:
        system = solve(self._operator(), kernel, reduced_set, count, self._graph)
        found, n_centers = len(system.eigenvalues), reduced_set.n_centers
        if found == 0:
            raise ValueError(
                f"All {n_centers} centers have zero affinity with each other, so the random walk "
                "is undefined. Use more rows, a larger bandwidth, or self_affinity=True."
            )
        kept = min(found, count - 1) - self._n_constant
        check_components(self._size_name, self._required, kept, n_centers)
        self._warn_of_pieces(system, reduced_set)
        return _constant_first(system, reduced_set.weights)

    def _warn_of_pieces(self, system: EigenSystem, reduced_set: ReducedSet) -> None:
        """Warn if the walk cannot reach all centers, and suggest parameters that connect them."""
        n_ones, isolated = _count_ones(system), _walk(system).n_isolated
        pieces = n_ones if n_ones > self._allowed_pieces else 0
        if not pieces and not isolated:
            return
        at_least = "at least " if pieces == len(system.eigenvalues) else ""
        faults = [
            f"split the centers into {at_least}{pieces} pieces, each with an eigenvalue of 1"
            * bool(pieces),
            f"leave {isolated} centers isolated, with coordinates 0" * bool(isolated),
        ]
        links = spanning_tree_lengths(reduced_set.centers)
        gap = links[0 if isolated else self._allowed_pieces - 1]
        check.warn(f"The affinities {' and '.join(filter(None, faults))}. {self._advice(gap)}")

    def _advice(self, gap: float) -> str:
        """Return a sentence with parameters that connect all centers.

        The suggested cutoff is 50% larger than the gap, because the centers change with the
        bandwidth.
        """
        cut_off = f" and graph={1.5 * gap:#.3g}" if self._graph else ""
        return (
            f"Use bandwidth={gap:.3g}{cut_off} to connect them: the largest gap between "
            f"neighboring centers is {gap:.3g}."
        )

    def _basis_points(self, system: EigenSystem, reduced_set: ReducedSet) -> Array:
        kernel = system.kernel

        def enough() -> Any:
            return sufficient_for_walk(system, reduced_set, tolerable(kernel, reduced_set))

        return basis_points(self.basis, kernel, reduced_set, enough)

    def _embed(self, X: Any) -> Array:
        """Return coordinates, and warn about rows at which all eigenfunctions are zero."""
        model = self.model_
        functions = model.functions(validate_points(self, X))
        unreached = int(np.count_nonzero(~functions.any(axis=1)))
        if unreached:
            width = "bandwidth" if self._graph is None else "cutoff distance"
            check.warn(
                f"{unreached} of {len(functions)} rows have coordinates 0, because they are far "
                "from every center, or near centers at which all "
                f"{functions.shape[1]} components are zero. Use a larger {width} to connect them."
            )
        return functions * model.scale.astype(functions.dtype)

    @property
    def eigenvectors_(self) -> Array:
        """Unit eigenvectors of the decomposed matrix, one row per center."""
        system = self.eigensystem_
        return np.sqrt(walk_measure(system))[:, None] * system.functions


def walk_measure(system: EigenSystem) -> Array:
    """Return the unnormalized stationary distribution of a walk at the centers."""
    walk = _walk(system)
    return walk.measure(walk.pull)


def _walk(system: EigenSystem) -> FittedMarkov:
    return cast(FittedMarkov, system.operator)


def _count_ones(system: EigenSystem) -> int:
    return int(np.count_nonzero(system.eigenvalues > _ONE))


def _constant_first(system: EigenSystem, weights: Array) -> EigenSystem:
    """Rotate the eigenfunctions with eigenvalue 1 so that the first one is constant."""
    ones, measure = _count_ones(system), _walk(system).measure(weights)
    if ones < 2:
        return system
    shares = measure @ system.functions[:, :ones]
    turn = np.linalg.qr(np.column_stack([shares, np.eye(ones)]))[0]
    functions = np.hstack([system.functions[:, :ones] @ turn, system.functions[:, ones:]])
    functions *= signs(functions, system.centers.astype(np.float64))
    coefficients = measure[:, None] * functions / system.eigenvalues
    return replace(system, functions=functions, coefficients=coefficients)


def check_graph(graph: Any) -> float | None:
    """Check and return ``graph``: None, an int of at least 2, or a positive float."""
    if graph is None:
        return None
    if isinstance(graph, Integral) and not isinstance(graph, bool):
        if graph < 2:
            raise ValueError(
                "graph must be at least 2 if it is an integer, because each center is its own "
                f"nearest neighbor, got {graph!r}. Pass a float such as 1.5 for a cutoff distance."
            )
        return int(graph)
    hint = "Pass None for the full kernel, or an integer for a number of nearest centers."
    return check.positive_number("graph", graph, hint=hint)

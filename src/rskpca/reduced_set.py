"""The reduced set: a few weighted centers that represent all of the data."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from . import _validation as check
from ._core.sparse import freeze, is_sparse, same_rows, stack
from ._core.value_cover import euclidean_cover
from .row_sample import RowSample

Array = NDArray[np.floating]
Labels = NDArray[np.intp]

# Fractions of a center's previous weight. If rows are removed, a remaining weight below the first
# is rounding error, and one above the second is a row. In between, the two are indistinguishable.
_ROUNDING, _KNOWN = 1e-20, 1e-18
# If a smaller share of the weight remains, the sums of distances may have lost all precision.
_CANCELLED = 1e-3


@dataclass(frozen=True, eq=False)
class Statistics:
    """Sums over the rows of each center.

    Batch fits, bounded streams, windows, fading, blocks and merging all use these operations.
    Every method returns new statistics and leaves the original unchanged.

    Attributes
    ----------
    weights : ndarray of shape (n_centers,)
        Sum of the weights of the rows.
    residue : ndarray of shape (n_centers,)
        The rounding error of ``weights``. It makes sums of fractional weights exact, so that rows
        can be removed again.
    displacement, scatter : ndarray of shape (n_centers,) or None
        Weighted sums of ||x - c|| and ||x - c||^2; None if unknown.
    """

    weights: Array
    residue: Array
    displacement: Array | None
    scatter: Array | None

    def __post_init__(self) -> None:
        for values in (self.residue, self.displacement, self.scatter):
            if values is not None and values.shape != self.weights.shape:
                raise ValueError("all statistics must have one number per center.")

    @classmethod
    def zeros(cls, n_centers: int = 0) -> Statistics:
        """Return the statistics of centers without rows."""
        return cls(*np.zeros((4, n_centers)))

    def __len__(self) -> int:
        return len(self.weights)

    def add(
        self, labels: Labels, squared: Array, weights: Array, n_centers: int | None = None
    ) -> Statistics:
        """Add rows.

        Parameters
        ----------
        labels : ndarray of shape (n_samples,)
            The center of each row.
        squared : ndarray of shape (n_samples,)
            Squared distances of the rows from their centers.
        weights : ndarray of shape (n_samples,)
            Weights of the rows.
        n_centers : int, default=None
            Number of centers, if new ones have been created.

        Returns
        -------
        Statistics
            The statistics including the rows.
        """
        from ._core.compiled import accumulate_distances, accumulate_exactly

        total = self._copy(len(self) if n_centers is None else n_centers)
        accumulate_exactly(labels, weights, total.weights, total.residue)
        if total.displacement is not None and total.scatter is not None:
            accumulate_distances(labels, weights, squared, total.displacement, total.scatter)
        return total

    def remove(self, labels: Labels, squared: Array, weights: Array, radius: float) -> Statistics:
        """Remove rows that were added before.

        Parameters
        ----------
        labels, squared, weights : ndarray of shape (n_samples,)
            The rows, as in :meth:`add`.
        radius : float
            Upper bound on the distances of the remaining rows, used if cancellation makes their
            sums inaccurate.

        Returns
        -------
        Statistics
            The remaining statistics; a center without rows has weight zero.

        Raises
        ------
        ValueError
            If a center does not contain the rows to be removed.
        """
        left = self.add(labels, squared, -weights)
        held, rest = self.weights, left.weights + left.residue
        exact = _integral(held) & _integral(self.residue) & bool(_integral(weights).all())
        _check_held(held, rest, np.where(exact, 0.0, -1e-9 * held))
        kept = rest > np.where(exact, 0.0, _KNOWN * held)
        _check_known(held, rest, ~kept & (rest > _ROUNDING * held))
        residue = left.residue - (rest - left.weights)  # the weights absorb as much as possible
        rest = np.where(kept, rest, 0.0)
        few = rest < _CANCELLED * held
        displacement, scatter = left.displacement, left.scatter
        if displacement is not None and scatter is not None:
            displacement = np.where(few, radius * rest, displacement)
            scatter = np.where(few, radius * (radius * rest), scatter)
        return Statistics(rest, residue, displacement, scatter)

    def merge(
        self,
        other: Statistics,
        labels: Labels | None = None,
        moved: Array | None = None,
        n_centers: int | None = None,
    ) -> Statistics:
        """Merge these statistics with those of other centers.

        Parameters
        ----------
        other : Statistics
            The statistics of the other centers.
        labels : ndarray of shape (n_others,), default=None
            The center that each other center joins. If None, the i-th other center joins the i-th
            center of these statistics.
        moved : ndarray of shape (n_others,), default=None
            The distance from each other center to the one it joins. If None, all are zero.
        n_centers : int, default=None
            Number of centers after merging, if there are new ones.

        Returns
        -------
        Statistics
            The merged statistics. Displacement and scatter are upper bounds if centers moved,
            because ||x - c'|| <= ||x - c|| + moved.
        """
        from ._core.compiled import accumulate, accumulate_exactly

        labels = np.arange(len(other)) if labels is None else labels
        moved = np.zeros(len(other)) if moved is None else moved
        total = self._copy(len(self) if n_centers is None else n_centers)
        accumulate_exactly(labels, other.weights.copy(), total.weights, total.residue)
        accumulate(labels, other.residue.copy(), total.residue)
        first, second = other.displacement, other.scatter
        if total.displacement is None or total.scatter is None or first is None or second is None:
            return replace(total, displacement=None, scatter=None)
        accumulate(labels, first + other.weights * moved, total.displacement)
        scatter = second + 2 * moved * first + other.weights * moved**2
        accumulate(labels, scatter, total.scatter)
        return total

    def scale(self, factor: float) -> Statistics:
        """Multiply the weight of every row by a factor."""
        return self._map(lambda values: factor * values)

    def take(self, kept: Any) -> Statistics:
        """Return the statistics of the selected centers."""
        return self._map(lambda values: values[kept])

    def _copy(self, n_centers: int) -> Statistics:
        """Return a copy extended to ``n_centers`` centers."""
        room = np.zeros(n_centers - len(self))
        return self._map(lambda values: np.concatenate([values, room]))

    def _map(self, function: Any) -> Statistics:
        columns = (self.weights, self.residue, self.displacement, self.scatter)
        return Statistics(*(None if c is None else function(c) for c in columns))  # type: ignore[arg-type]


def _integral(values: Array) -> NDArray[np.bool_]:
    return values == np.round(values)


def _check_held(held: Array, left: Array, least: Array) -> None:
    short = np.flatnonzero(left < least)
    if len(short):
        first = short[0]
        raise ValueError(
            f"forget: center {first} has weight {held[first]:g}, but rows of weight "
            f"{held[first] - left[first]:g} would be removed from it ({len(short)} such centers). "
            "Nothing was changed."
        )


def _check_known(held: Array, left: Array, doubtful: NDArray[np.bool_]) -> None:
    if doubtful.any():
        first = int(np.argmax(doubtful))
        raise ValueError(
            f"forget: center {first} has weight {held[first]:g}, of which {left[first]:g} would "
            "be left; a weight this small cannot be distinguished from rounding error. Fit again "
            "without the rows. Nothing was changed."
        )


@dataclass(frozen=True, eq=False)
class ReducedSet:
    """Weighted centers that represent the data, with statistics that bound the error.

    The set represents the density (1/n) sum_j w_j delta(c_j, .) of eq. (approxprob), with weights
    that sum to n (eq. (del_p2), whose 1/m is a misprint). Arrays are read-only.

    Attributes
    ----------
    centers : ndarray or CSR array of shape (n_centers, n_features)
        The centers C, float32 or float64.
    weights : ndarray of shape (n_centers,)
        The positive weights w, float64.
    radius : float or None
        epsilon: every row lies within this distance of its center. None if unknown.
    n_samples : float
        n, the sum of the weights: the number of rows, or the sum of their sample weights. If not
        given, it is computed from the weights.
    spacing : float or None
        The smallest distance between two centers of a shadow set, which is the radius used to
        select them. Merging joins centers that are closer than this; if None, none are joined.
    displacement, scatter : ndarray of shape (n_centers,) or None
        For each center, the sums of ||x - c|| and of ||x - c||^2 over its rows. They are upper
        bounds where centers were joined, and None if unknown.
    residue : ndarray of shape (n_centers,)
        The rounding error of the weights; zero unless sample weights are fractional.
    sample : RowSample or None
        A uniform sample of the rows with their centers, from which the error is estimated; None
        if no sample was kept.
    lost : float
        An upper bound on the weight of rows that belong to no center and are not counted in
        ``n_samples``. The error bounds allow for it. Zero unless centers of a
        :class:`FadingDensity` have expired.
    in_feature_space : bool
        True if radius, spacing, displacement and scatter are distances in the feature space of
        the kernel, as for kernels that are not radial, rather than Euclidean distances.

    Examples
    --------
    >>> import numpy as np
    >>> from rskpca import ReducedSet
    >>> pair = ReducedSet(np.array([[0.0], [1.0]]), np.array([3.0, 1.0]))
    >>> pair.n_centers, pair.n_samples
    (2, 4.0)
    """

    centers: Array
    weights: Array
    radius: float | None = None
    n_samples: float = None  # type: ignore[assignment]  # set below if not given
    spacing: float | None = None
    displacement: Array | None = None
    scatter: Array | None = None
    residue: Array = None  # type: ignore[assignment]  # zero if not given
    sample: RowSample | None = None
    lost: float = 0.0
    in_feature_space: bool = False

    @classmethod
    def of(
        cls,
        centers: Array,
        statistics: Statistics,
        radius: float | None,
        spacing: float | None = None,
        sample: RowSample | None = None,
        **more: Any,
    ) -> ReducedSet:
        """Create a reduced set from the centers with positive weight.

        Parameters
        ----------
        centers : ndarray of shape (n_centers, n_features)
            The centers.
        statistics : Statistics
            Their statistics.
        radius, spacing : float or None
            See the attributes.
        sample : RowSample or None, default=None
            Sampled rows, labeled by the given centers.
        **more : object
            Other attributes.

        Returns
        -------
        ReducedSet
            The reduced set, with the centers in the given order.
        """
        kept = statistics.weights > 0
        if not kept.all():
            centers, statistics = centers[kept], statistics.take(kept)
            sample = None if sample is None else sample.relabel(_renumber(kept))
        displacement, scatter = (
            None if sums is None else np.maximum(sums, 0)
            for sums in (statistics.displacement, statistics.scatter)
        )
        return cls(
            centers,
            statistics.weights,
            radius,
            spacing=spacing,
            displacement=displacement,
            scatter=scatter,
            residue=statistics.residue,
            sample=sample,
            **more,
        )

    def __post_init__(self) -> None:
        self._store("centers", _real("centers", self.centers, (np.float32, np.float64)))
        self._store("weights", _real("weights", self.weights, (np.float64,)))
        if self.residue is None:
            object.__setattr__(self, "residue", np.zeros(self.weights.shape))
        for name in ("displacement", "scatter", "residue"):
            if getattr(self, name) is not None:
                self._store(name, _real(name, getattr(self, name), (np.float64,)))
        total = float(self.weights.sum()) if self.n_samples is None else float(self.n_samples)
        object.__setattr__(self, "n_samples", total)
        self._check()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for value in state.values():
            if isinstance(value, np.ndarray) or is_sparse(value):
                freeze(value)

    def _store(self, name: str, array: Any) -> None:
        """Store a read-only array; copy it if other code could still write to it."""
        data = array.data if is_sparse(array) else array
        array = array.copy() if data.flags.writeable or data.base is not None else array
        freeze(array)
        object.__setattr__(self, name, array)

    def _check_sample(self, sample: RowSample) -> None:
        if sample.rows.shape[1] != self.n_features:
            raise ValueError(
                f"sample has {sample.rows.shape[1]} features, but centers have {self.n_features}."
            )
        if not ((sample.labels >= 0) & (sample.labels < self.n_centers)).all():
            raise ValueError("sample must have labels that are indices of the centers.")

    def _check(self) -> None:
        if self.centers.ndim != 2 or 0 in self.centers.shape:
            raise ValueError(
                "centers must have shape (n_centers, n_features) with both at least 1, "
                f"got {self.centers.shape}."
            )
        for name in ("weights", "displacement", "scatter"):
            values = getattr(self, name)
            if values is not None and values.shape != (self.n_centers,):
                raise ValueError(
                    f"{name} must have one number per center, shape ({self.n_centers},), "
                    f"got {values.shape}."
                )
            if values is not None and not (np.isfinite(values).all() and (values >= 0).all()):
                raise ValueError(f"{name} must be finite and non-negative.")
        if self.residue.shape != self.weights.shape or not np.isfinite(self.residue).all():
            raise ValueError("residue must have one finite number per center.")
        values = self.centers.data if is_sparse(self.centers) else self.centers
        if not np.isfinite(values).all():
            raise ValueError("centers must be finite, but contain NaN or infinity.")
        if not (self.weights > 0).all():
            raise ValueError("weights must be positive; remove centers without weight.")
        if not np.isclose(self.weights.sum(), self.n_samples, rtol=1e-9, atol=0):
            raise ValueError(
                f"weights must sum to n_samples={self.n_samples}, got {self.weights.sum()}."
            )
        if self.sample is not None:
            self._check_sample(self.sample)
        if (self.displacement is None) != (self.scatter is None):
            raise ValueError("displacement and scatter must be given together or not at all.")
        for name in ("radius", "spacing"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise ValueError(f"{name} must be None or non-negative, got {value!r}.")
        if not 0 <= self.lost < np.inf:
            raise ValueError(f"lost must be finite and non-negative, got {self.lost!r}.")

    @property
    def n_centers(self) -> int:
        """m, the number of centers."""
        return int(self.centers.shape[0])

    @property
    def n_features(self) -> int:
        """d, the number of features."""
        return int(self.centers.shape[1])

    @property
    def statistics(self) -> Statistics:
        """The sums over the rows of each center."""
        return Statistics(self.weights, self.residue, self.displacement, self.scatter)

    @property
    def lost_share(self) -> float:
        """Upper bound on the share of the weight that belongs to no center."""
        return self.lost / (self.n_samples + self.lost)

    def __repr__(self) -> str:
        """Return a one-line summary of the set."""
        radius = "unknown" if self.radius is None else f"{self.radius:.6g}"
        return (
            f"ReducedSet({self.n_centers} centers for {self.n_samples:g} points, "
            f"{self.n_features} features, radius {radius})"
        )

    def __eq__(self, other: object) -> bool:
        """Return True if both sets are equal, bit for bit."""
        if not isinstance(other, ReducedSet):
            return NotImplemented
        pairs = [(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)]
        return all(_equal(a, b) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    def merge(self, other: ReducedSet) -> ReducedSet:
        """Return the reduced set of the combined data.

        Each center of ``other`` that lies within the spacing of a center of ``self`` joins the
        first such center; the remaining centers are appended in order. Distances in feature space
        are not known without the kernel; if the sets use them, all centers are appended. Rows of a
        joined center are within the radius of ``other`` plus the distance that their center moved,
        so the radius grows.

        Parameters
        ----------
        other : ReducedSet
            A set with the same number of features.

        Returns
        -------
        ReducedSet
            The set with the weights of both; ``displacement`` and ``scatter`` are upper bounds by
            the triangle inequality.
        """
        if not isinstance(other, ReducedSet):
            raise TypeError(f"other must be a ReducedSet, got {type(other).__name__}.")
        if other.n_features != self.n_features:
            raise ValueError(
                f"cannot merge sets with {self.n_features} and {other.n_features} features; "
                "both must come from the same columns."
            )
        if other.in_feature_space != self.in_feature_space:
            raise ValueError(
                "cannot merge a set with Euclidean distances and a set with distances in feature "
                "space; both must come from the same kernel."
            )
        spacing = None if self.in_feature_space else _smallest(self.spacing, other.spacing)
        labels, moved = self._join(other.centers, spacing)
        n_centers = max(self.n_centers, int(labels.max()) + 1)
        return ReducedSet.of(
            stack(self.centers, other.centers[labels >= self.n_centers]),
            self.statistics.merge(other.statistics, labels, moved, n_centers),
            _largest(self.radius, None if other.radius is None else other.radius + moved.max()),
            spacing,
            n_samples=self.n_samples + other.n_samples,
            sample=None if self.sample is None else self.sample.merge(other.sample, labels),
            lost=self.lost + other.lost,
            in_feature_space=self.in_feature_space,
        )

    def coarsen(self, spacing: float) -> tuple[ReducedSet, Labels]:
        """Represent the same data with fewer centers.

        Each center joins the first one that is closer than the spacing.

        Parameters
        ----------
        spacing : float
            Smallest distance between the remaining centers. Must be positive.

        Returns
        -------
        reduced_set : ReducedSet
            The coarser set. Radius, ``displacement`` and ``scatter`` grow as in :meth:`merge`.
        labels : ndarray of shape (n_centers,)
            The new center of each previous center.
        """
        spacing = check.positive_number("spacing", spacing)
        if self.in_feature_space:
            raise ValueError(
                "coarsen requires Euclidean distances, but the distances of this set are in the "
                "feature space of a kernel; fit again with a smaller ell."
            )
        cover = euclidean_cover(spacing, self.centers[:0])
        labels, squared = cover.extend(self.centers)
        moved = np.sqrt(squared)
        coarse = ReducedSet.of(
            self.centers[np.unique(labels, return_index=True)[1]],
            Statistics.zeros().merge(self.statistics, labels, moved, cover.n_centers),
            None if self.radius is None else self.radius + float(moved.max()),
            spacing,
            n_samples=self.n_samples,
            sample=None if self.sample is None else self.sample.relabel(labels),
            lost=self.lost,
        )
        return coarse, labels

    def _join(self, centers: Array, spacing: float | None) -> tuple[Labels, NDArray[np.float64]]:
        """Return the label of each center of another set, and how far it moves."""
        if not spacing:
            count = centers.shape[0]
            return self.n_centers + np.arange(count), np.zeros(count)
        labels, squared = euclidean_cover(spacing, self.centers).assign(centers)
        opened = labels < 0
        labels[opened] = self.n_centers + np.arange(np.count_nonzero(opened))
        return labels, np.sqrt(squared)


def _real(name: str, values: Any, dtypes: tuple[type, ...]) -> Array:
    """Return an array with one of the dtypes; others are converted to the last one."""
    array = csr_array(values) if is_sparse(values) else np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must contain real numbers, got dtype {array.dtype}.")
    return array if array.dtype in dtypes else array.astype(dtypes[-1])


def _renumber(kept: NDArray[np.bool_]) -> Labels:
    """Return the new index of each center; -1 for centers that are not kept."""
    return np.where(kept, np.cumsum(kept) - 1, -1)


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    if is_sparse(a) and is_sparse(b):
        return a.dtype == b.dtype and same_rows(a, b)
    return type(a) is type(b) and bool(a == b)


def _smallest(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else min(a, b)


def _largest(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else max(a, b)

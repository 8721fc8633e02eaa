"""The reduced set: a few weighted centers that stand for all of the data."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _validation as check
from ._core.cover import Cover
from .spectrum import Spectrum

Array = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class ReducedSet:
    """Weighted centers, and what they cost.

    Eq. (approxprob): the density that they stand for is (1/n) sum_j w_j delta(c_j, .), with
    weights that sum to n: eq. (del_p2), whose 1/m is a misprint. Arrays are read-only.

    Attributes
    ----------
    centers : ndarray of shape (n_centers, n_features)
        C, float32 or float64.
    weights : ndarray of shape (n_centers,)
        w, positive, float64.
    radius : float or None
        epsilon: every point lies within this of its center. None where nothing is known.
    n_samples : float
        n, what the weights sum to: the number of rows, or the sum of their sample weights.
        Taken from the weights where it is not given.
    spacing : float or None
        Two centers of a shadow set are at least this far apart: the radius that it was
        selected with. Merging joins centers that are closer; without it none are joined.
    displacement, scatter : ndarray of shape (n_centers,) or None
        For each center the sums over its points of ||x - c|| and of ||x - c||^2: what the
        quantization did to the data. Upper bounds where centers were joined, None where nothing
        is known.
    residue : ndarray of shape (n_centers,)
        What rounding left out of the weights; zero unless sample weights are fractions.
    spectrum : Spectrum or None
        Sums over the data at random frequencies, which estimate the error. None where none were
        kept, and after merging sums of different frequencies.
    lost : float
        At most so much weight of the data is on no center, and not in n; the error bounds allow
        for it. Zero unless a :class:`FadingDensity` let centers go.

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
    n_samples: float = None  # type: ignore[assignment]  # set below where it is not given
    spacing: float | None = None
    displacement: Array | None = None
    scatter: Array | None = None
    residue: Array = None  # type: ignore[assignment]  # zero where it is not given
    spectrum: Spectrum | None = None
    lost: float = 0.0

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
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def _store(self, name: str, array: Array) -> None:
        """Keep a read-only array, copied where somebody else could still write to it."""
        array = array.copy() if array.flags.writeable or array.base is not None else array
        array.flags.writeable = False
        object.__setattr__(self, name, array)

    def _check(self) -> None:
        if self.centers.ndim != 2 or 0 in self.centers.shape:
            raise ValueError(
                "centers must have shape (n_centers, n_features), both at least 1, "
                f"got {self.centers.shape}."
            )
        for name in ("weights", "displacement", "scatter"):
            values = getattr(self, name)
            if values is not None and values.shape != (len(self.centers),):
                raise ValueError(
                    f"{name} must have one number a center, shape ({len(self.centers)},), "
                    f"got {values.shape}."
                )
            if values is not None and not (np.isfinite(values).all() and (values >= 0).all()):
                raise ValueError(f"{name} must be finite and not negative.")
        if self.residue.shape != self.weights.shape or not np.isfinite(self.residue).all():
            raise ValueError("residue must have one finite number a center.")
        if not np.isfinite(self.centers).all():
            raise ValueError("centers must be finite, but hold NaN or infinity.")
        if not (self.weights > 0).all():
            raise ValueError("weights must be positive; leave out centers without weight.")
        if not np.isclose(self.weights.sum(), self.n_samples, rtol=1e-9, atol=0):
            raise ValueError(
                f"weights must sum to n_samples={self.n_samples}, got {self.weights.sum()}."
            )
        if self.spectrum is not None and len(self.spectrum.origin) != self.n_features:
            raise ValueError(
                f"spectrum has {len(self.spectrum.origin)} features, centers {self.n_features}."
            )
        if (self.displacement is None) != (self.scatter is None):
            raise ValueError("displacement and scatter go together: give both or neither.")
        for name in ("radius", "spacing"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise ValueError(f"{name} must be None or not negative, got {value!r}.")
        if not 0 <= self.lost < np.inf:
            raise ValueError(f"lost must be a weight, finite and not negative, got {self.lost!r}.")

    @property
    def n_centers(self) -> int:
        """m."""
        return len(self.centers)

    @property
    def n_features(self) -> int:
        """d."""
        return int(self.centers.shape[1])

    @property
    def lost_share(self) -> float:
        """The most of the weight of the data that is on no center."""
        return self.lost / (self.n_samples + self.lost)

    def __repr__(self) -> str:
        """One line: how many centers for how many points, within which radius."""
        radius = "unknown" if self.radius is None else f"{self.radius:.6g}"
        return (
            f"ReducedSet({self.n_centers} centers for {self.n_samples:g} points, "
            f"{self.n_features} features, radius {radius})"
        )

    def __eq__(self, other: object) -> bool:
        """Equal to the last bit."""
        if not isinstance(other, ReducedSet):
            return NotImplemented
        pairs = [(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)]
        return all(_same(a, b) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    def merge(self, other: ReducedSet) -> ReducedSet:
        """The reduced set of the data of both.

        Centers of ``other`` that lie within the spacing of a center of ``self`` join the
        first such; the others follow in their order. A joined center moves its points, so
        the radius grows: a point of ``other`` is within its radius of the center that moved, and
        that within the spacing of the one that it joined.

        Parameters
        ----------
        other : ReducedSet
            Of the same number of features.

        Returns
        -------
        ReducedSet
            With the weights of both; ``displacement`` and ``scatter`` are upper bounds by the
            triangle inequality.
        """
        if not isinstance(other, ReducedSet):
            raise TypeError(f"merge takes a ReducedSet, got {type(other).__name__}.")
        if other.n_features != self.n_features:
            raise ValueError(
                f"cannot merge {other.n_features} features into {self.n_features}; "
                "both sets must come from the same columns."
            )
        spacing = _smallest(self.spacing, other.spacing)
        labels, moved = self._places_of(other.centers, spacing)
        n_centers = max(self.n_centers, int(labels.max()) + 1)
        opened = other.centers[labels >= self.n_centers]
        return ReducedSet(
            np.concatenate([self.centers, opened]),
            _added(self.weights, other.weights, labels, n_centers),
            _largest(self.radius, None if other.radius is None else other.radius + moved.max()),
            self.n_samples + other.n_samples,
            spacing,
            *_moved_sums((self.displacement, self.scatter), other, labels, moved, n_centers),
            residue=_added(self.residue, other.residue, labels, n_centers),
            spectrum=None if self.spectrum is None else self.spectrum.merge(other.spectrum),
            lost=self.lost + other.lost,
        )

    def coarsen(self, spacing: float) -> tuple[ReducedSet, NDArray[np.intp]]:
        """The same data on fewer centers: each joins the first that is closer than the spacing.

        Parameters
        ----------
        spacing : float
            Positive; the centers that are left are at least this far apart.

        Returns
        -------
        reduced_set : ReducedSet
            Centers that joined another moved their points, so radius, ``displacement`` and
            ``scatter`` grow as they do in :meth:`merge`.
        labels : ndarray of shape (n_centers,)
            Where each center went.
        """
        spacing = check.positive_number("spacing", spacing)
        labels, squared = Cover(spacing, self.centers[:0]).extend(self.centers)
        moved = np.sqrt(squared)
        n_centers = int(labels.max()) + 1
        first = np.unique(labels, return_index=True)[1]
        nothing = np.empty(0)
        coarse = ReducedSet(
            self.centers[first],
            _added(nothing, self.weights, labels, n_centers),
            None if self.radius is None else self.radius + float(moved.max()),
            self.n_samples,
            spacing,
            *_moved_sums((nothing, nothing), self, labels, moved, n_centers),
            residue=_added(nothing, self.residue, labels, n_centers),
            spectrum=self.spectrum,
            lost=self.lost,
        )
        return coarse, labels

    def _places_of(
        self, centers: Array, spacing: float | None
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Where the centers of another set go, and how far they move."""
        if not spacing:
            return self.n_centers + np.arange(len(centers)), np.zeros(len(centers))
        labels, squared = Cover(spacing, self.centers).assign(centers)
        own = labels < 0
        labels[own] = self.n_centers + np.arange(np.count_nonzero(own))
        return labels, np.sqrt(squared)


def _real(name: str, values: Any, dtypes: tuple[type, ...]) -> Array:
    """An array of one of the dtypes, by default the last."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold real numbers, got dtype {array.dtype}.")
    return array if array.dtype in dtypes else array.astype(dtypes[-1])


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    return type(a) is type(b) and bool(a == b)


def _added(
    own: Array, other: Array, labels: NDArray[np.intp], n_centers: int
) -> NDArray[np.float64]:
    total = np.zeros(n_centers)
    total[: len(own)] = own
    np.add.at(total, labels, other)
    return total


def _moved_sums(
    own: tuple[Array | None, Array | None],
    other: ReducedSet,
    labels: NDArray[np.intp],
    moved: Array,
    n_centers: int,
) -> tuple[Array | None, Array | None]:
    """Sums of ||x - c|| and ||x - c||^2 when centers of ``other`` move, from above.

    ||x - c'|| <= ||x - c|| + moved, squared and summed. ``own`` are the sums of the centers
    that stay.
    """
    weights, first, second = other.weights, other.displacement, other.scatter
    if own[0] is None or own[1] is None or first is None or second is None:
        return None, None
    displacement = first + weights * moved
    scatter = second + 2 * moved * first + weights * moved**2
    return (
        _added(own[0], displacement, labels, n_centers),
        _added(own[1], scatter, labels, n_centers),
    )


def _smallest(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else min(a, b)


def _largest(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else max(a, b)

"""Coordinates of the data, and of the centers that they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._style import CATEGORIES, INK, MARKERS, PALE, SCALE, style_axes
from ._display import Display, taken
from .models import Array, embedded, has_coordinates, numbers, points_of, some_rows, split

MOST_CATEGORIES = len(CATEGORIES)
_LARGEST = 18.0  # points across
_SPREAD = 90.0  # over the root of their number: the diameter of a center of mean weight


@dataclass(frozen=True)
class Colors:
    """One value a row: numbers, or categories where there are few.

    Attributes
    ----------
    values : ndarray of shape (n_rows,)
        Numbers, or places in ``names``.
    names : tuple of str or None
        The categories; None for numbers.
    """

    values: NDArray[Any]
    names: tuple[str, ...] | None

    @classmethod
    def of(cls, column: Any) -> Colors:
        """Words and few whole numbers are categories; the rarest words go under "other".

        Parameters
        ----------
        column : array-like of shape (n_rows,)
            Numbers, words or booleans.

        Returns
        -------
        Colors
            Numbers that are not finite stay, and are not drawn.
        """
        values = np.asarray(column)
        if values.ndim != 1:
            raise ValueError(f"a colour needs one value a row, got shape {values.shape}.")
        number = values.dtype.kind in "fiu"
        if number and not _few_whole(values):
            return cls(values.astype(np.float64), None)
        found, places, counts = np.unique(
            values if number else values.astype(str), return_inverse=True, return_counts=True
        )
        names = [f"{value:g}" if number else str(value) for value in found]
        return cls(*_most_frequent(names, places, counts))


def _few_whole(values: NDArray[Any]) -> bool:
    finite = bool(np.isfinite(values).all())
    few = len(np.unique(values)) <= MOST_CATEGORIES
    return finite and few and bool((values == np.round(values)).all())


def _most_frequent(
    names: list[str], places: NDArray[np.intp], counts: NDArray[np.intp]
) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """The categories that have a colour of their own, in their order, and one for the rest."""
    if len(names) <= MOST_CATEGORIES:
        return places, tuple(names)
    kept = np.sort(np.argsort(-counts, kind="stable")[: MOST_CATEGORIES - 1])
    moved = np.full(len(names), len(kept))
    moved[kept] = np.arange(len(kept))
    return moved[places], (*(names[k] for k in kept), "other")


def diameters(weights: Array | None, count: int) -> Array:
    """Of circles, in points, whose areas are as the weights; the smaller the more there are.

    Parameters
    ----------
    weights : ndarray of shape (count,) or None
        None draws them alike.
    count : int
        How many.

    Returns
    -------
    ndarray of shape (count,)
        From the heaviest's share to 18.
    """
    shares = np.ones(count) if weights is None else weights / weights.mean()
    typical = float(np.clip(_SPREAD / np.sqrt(count), 1.5, 8.0))
    return np.minimum(typical * np.sqrt(shares), _LARGEST)


class EmbeddingDisplay(Display):
    """A sample of the data in coordinates of the model, and the centers, sized by weight.

    Parameters
    ----------
    coordinates : ndarray of shape (n_rows, n_components)
        Of the rows.
    centers : ndarray of shape (n_centers, n_components)
        Of the centers.
    weights : ndarray of shape (n_centers,), default=None
        Of the centers; None draws them alike.
    colors : Colors, default=None
        Of the rows.
    components : sequence of int, default=(0, 1)
        Two make one picture; of more, every pair has one.

    Attributes
    ----------
    axes_ : ndarray of matplotlib axes
        One for each pair.
    ax_, figure_ : matplotlib axes and figure
        The first of them, and where all are.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca import ReducedSetKernelPCA
    >>> from rskpca.plotting import EmbeddingDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ReducedSetKernelPCA(3, bandwidth=60.0).fit(X)
    >>> display = EmbeddingDisplay.from_estimator(model, X, y=y, components=(0, 1, 2))
    >>> len(display.axes_)
    3
    """

    def __init__(
        self,
        coordinates: Array,
        centers: Array,
        weights: Array | None = None,
        *,
        colors: Colors | None = None,
        components: Sequence[int] = (0, 1),
    ) -> None:
        self.coordinates = coordinates
        self.centers = centers
        self.weights = weights
        self.colors = colors
        self.components = components

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        y: Any = None,
        components: Sequence[int] = (0, 1),
        n_rows: int = 2000,
        random_state: Any = 0,
        ax: Any = None,
    ) -> Self:
        """Embed a sample and draw it.

        Parameters
        ----------
        model : embedding
            Fitted, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            Rows, of which a sample is drawn.
        y : array-like of shape (n_samples,), default=None
            What to colour the rows by: numbers, or categories.
        components : sequence of int, default=(0, 1)
            Counted from 0. Two make one picture; of more, every pair has one.
        n_rows : int, default=2000
            Rows at most.
        random_state : int, RandomState or None, default=0
            Seed of the sample.
        ax : matplotlib axes, or array of them, default=None
            Where to draw, one for each pair; None makes a figure.

        Returns
        -------
        EmbeddingDisplay
            Drawn.
        """
        before, embedding = split(model)
        has_coordinates(embedding)
        beside = [] if y is None else [np.asarray(y)]
        rows, *chosen = some_rows(X, n_rows, random_state, *beside)
        points, coordinates = points_of(embedding), embedded(embedding, numbers(before, rows))
        return cls(
            coordinates,
            embedded(embedding, points.centers),
            points.weights,
            colors=Colors.of(chosen[0]) if chosen else None,
            components=_checked(components, coordinates.shape[1]),
        ).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, or array of them, default=None
            Where to draw, one for each pair of components; None makes a figure.

        Returns
        -------
        EmbeddingDisplay
            Itself.
        """
        pairs = list(combinations(self.components, 2))
        drawn = taken(ax, len(pairs), (6.4, 4.6) if len(pairs) == 1 else (4.0, 3.6), 3)
        for target, pair in zip(drawn, pairs, strict=True):
            self._draw_rows(target, pair)
            self._draw_centers(target, pair)
            style_axes(target, *(f"component {k + 1}" for k in pair))
        self._draw_key(drawn)
        self._drawn_on(drawn)
        return self

    def _draw_rows(self, ax: Any, pair: tuple[int, int]) -> None:
        x, y = self.coordinates[:, pair[0]], self.coordinates[:, pair[1]]
        if self.colors is None:
            ax.scatter(x, y, s=5, color=PALE, linewidths=0)
        elif self.colors.names is None:
            self._mappable = ax.scatter(x, y, s=6, c=self.colors.values, cmap=SCALE, linewidths=0)
        else:
            for k, name in enumerate(self.colors.names):
                own = self.colors.values == k
                style = {"marker": MARKERS[k], "color": CATEGORIES[k], "s": 12, "linewidths": 0}
                ax.scatter(x[own], y[own], label=name, **style)

    def _draw_centers(self, ax: Any, pair: tuple[int, int]) -> None:
        sizes = diameters(self.weights, len(self.centers)) ** 2
        ax.scatter(
            *self.centers[:, pair].T, s=sizes, facecolors="none", edgecolors=INK,
            linewidths=0.6, alpha=0.7, label="centers, area by weight", zorder=3,
        )  # fmt: skip

    def _draw_key(self, drawn: list[Any]) -> None:
        if self.colors is not None and self.colors.names is None:
            drawn[0].figure.colorbar(self._mappable, ax=drawn, shrink=0.8)
        categories = self.colors is not None and self.colors.names is not None
        place = ("upper left", (1.0, 1.0)) if categories else ("lower left", (0.0, 1.0))
        drawn[-1].legend(frameon=False, fontsize="small", loc=place[0], bbox_to_anchor=place[1])


def _checked(components: Sequence[int], count: int) -> tuple[int, ...]:
    chosen = tuple(components)
    if len(chosen) < 2 or len(set(chosen)) < len(chosen):
        raise ValueError(f"components must be two or more different numbers, got {components!r}.")
    if not all(0 <= k < count for k in chosen):
        raise ValueError(
            f"components={components!r}, but the model has {count}, counted from 0; "
            "fit it with more."
        )
    return chosen

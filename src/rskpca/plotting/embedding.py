"""Plot of rows and centers in the coordinates of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._style import CATEGORIES, INK, MARKERS, PALE, SCALE, literal, style_axes
from ..model import unwrap
from ._display import Array, Display, resolve_axes, resolve_choice, sample_rows

MAX_CATEGORIES = len(CATEGORIES)
_LARGEST = 18.0  # diameter in points
_SPREAD = 90.0  # diameter at the mean weight, times the square root of n_centers


@dataclass(frozen=True)
class Colors:
    """Colors of the rows: numbers, or indices into the ``names`` of a few categories."""

    values: NDArray[Any]
    names: tuple[str, ...] | None

    @classmethod
    def of(cls, column: Any) -> Colors:
        """Create colors from a column of numbers, strings or booleans."""
        values = np.asarray(column)
        if values.ndim != 1:
            raise ValueError(f"color must have one value per row, got shape {values.shape}.")
        # Non-finite numbers are kept, but not drawn.
        numeric = values.dtype.kind in "fiu"
        if numeric and not are_few_integers(values):
            return cls(values.astype(np.float64), None)
        found, index, counts = np.unique(
            values if numeric else values.astype(str), return_inverse=True, return_counts=True
        )
        names = [f"{value:g}" if numeric else str(value) for value in found]
        return cls(*_most_frequent(names, index, counts))


def are_few_integers(values: NDArray[Any]) -> bool:
    """Return True for integers with few distinct values, which are drawn as categories."""
    finite = bool(np.isfinite(values).all())
    few = len(np.unique(values)) <= MAX_CATEGORIES
    return finite and few and bool((values == np.round(values)).all())


def _most_frequent(
    names: list[str], index: NDArray[np.intp], counts: NDArray[np.intp]
) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """Keep the most frequent categories in order, and combine the others into one."""
    if len(names) <= MAX_CATEGORIES:
        return index, tuple(names)
    kept = np.sort(np.argsort(-counts, kind="stable")[: MAX_CATEGORIES - 1])
    moved = np.full(len(names), len(kept))
    moved[kept] = np.arange(len(kept))
    return moved[index], (*(names[k] for k in kept), "other")


def diameters(weights: Array | None, count: int) -> Array:
    """Return circle diameters in points, with areas proportional to the weights, if given."""
    shares = np.ones(count) if weights is None else weights / weights.mean()
    typical = float(np.clip(_SPREAD / np.sqrt(count), 1.5, 8.0))
    return np.minimum(typical * np.sqrt(shares), _LARGEST)


class EmbeddingDisplay(Display):
    """A sample of the data in the coordinates of a model, with centers sized by weight.

    Parameters
    ----------
    coordinates : ndarray of shape (n_rows, n_components)
        The coordinates of the rows.
    centers : ndarray of shape (n_centers, n_components)
        The coordinates of the centers.
    weights : ndarray of shape (n_centers,), default=None
        The weights of the centers. If None, all centers have the same size.
    colors : Colors, default=None
        The colors of the rows.
    components : sequence of int, default=(0, 1)
        Components to draw, with one plot per pair.

    Attributes
    ----------
    axes_ : ndarray of matplotlib axes
        One per pair of components.
    ax_, figure_ : matplotlib axes and figure
        The first axes and the figure.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rskpca import ReducedSetKernelPCA
    >>> from rskpca.plotting import EmbeddingDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ReducedSetKernelPCA(3, bandwidth=60.0).fit(X)
    >>> display = EmbeddingDisplay.from_estimator(model, X, color=y, components=(0, 1, 2))
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
        X: Any = None,
        *,
        color: Any = None,
        components: Sequence[int] = (0, 1),
        n_rows: int = 2000,
        random_state: Any = 0,
        ax: Any = None,
    ) -> Self:
        """Embed and draw a sample of the rows.

        Parameters
        ----------
        model : embedding
            A fitted embedding, or a pipeline or detector that contains one.
        X : array-like of shape (n_samples, n_features), default=None
            The rows to sample from. If None, the rows that were sampled during the fit are used.
        color : array-like of shape (n_samples,), default=None
            Numbers or categories to color the rows by.
        components : sequence of int, default=(0, 1)
            Components to draw, numbered from 0, with one plot per pair.
        n_rows : int, default=2000
            Maximum number of rows to draw.
        random_state : int, RandomState or None, default=0
            Seed for the sample.
        ax : matplotlib axes, or array of them, default=None
            The axes to draw on, one per pair. If None, a new figure is created.

        Returns
        -------
        EmbeddingDisplay
            The display.
        """
        fitted = unwrap(model)
        embed, count = fitted.model.embed, len(fitted.model.eigenvalues)
        chosen = resolve_choice("components", components, count, range(2, count + 1))
        if X is None and color is not None:
            raise ValueError("color requires X, the rows that the values belong to.")
        given = fitted.model.known_rows if X is None else X
        rows, *values = sample_rows(
            given, n_rows, random_state, *([] if color is None else [color])
        )
        return cls(
            embed(rows if X is None else fitted.prepare(rows)),
            embed(fitted.reduced_set.centers),
            fitted.weights,
            colors=Colors.of(values[0]) if values else None,
            components=chosen,
        ).plot(ax)

    def _draw(self, ax: Any) -> list[Any]:
        pairs = list(combinations(self.components, 2))
        axes = resolve_axes(ax, len(pairs), (6.4, 4.6) if len(pairs) == 1 else (4.0, 3.6), 3)
        for target, pair in zip(axes, pairs, strict=True):
            self._draw_rows(target, pair)
            self._draw_centers(target, pair)
            style_axes(target, *(f"component {k + 1}" for k in pair))
        self._draw_legend(axes)
        return axes

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
                ax.scatter(x[own], y[own], label=literal(name), **style)

    def _draw_centers(self, ax: Any, pair: tuple[int, int]) -> None:
        sizes = diameters(self.weights, len(self.centers)) ** 2
        ax.scatter(
            *self.centers[:, pair].T, s=sizes, facecolors="none", edgecolors=INK,
            linewidths=0.6, alpha=0.7, label="centers, area by weight", zorder=3,
        )  # fmt: skip

    def _draw_legend(self, axes: list[Any]) -> None:
        corner, anchor = "lower left", (0.0, 1.0)
        if self.colors is not None and self.colors.names is None:
            axes[0].figure.colorbar(self._mappable, ax=axes, shrink=0.8)
        elif self.colors is not None:
            corner, anchor = "upper left", (1.0, 1.0)
        axes[-1].legend(frameon=False, fontsize="small", loc=corner, bbox_to_anchor=anchor)

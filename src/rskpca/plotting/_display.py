"""The base class for all Displays, and helpers that they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import resample

from .. import _validation as check
from .._style import new_axes

Array = NDArray[np.floating]


class Display(ABC):
    """Base class that stores the matplotlib objects: all axes, the first axes and the figure."""

    ax_: Any
    axes_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib axes, or array of them, default=None
            The axes to draw on, one per panel. If None, a new figure is created.

        Returns
        -------
        Self
            The display itself.
        """
        axes = self._draw(ax)
        self.axes_ = np.array(axes, dtype=object)
        self.ax_, self.figure_ = axes[0], axes[0].figure
        return self

    @abstractmethod
    def _draw(self, ax: Any) -> Sequence[Any]:
        """Draw on the given axes, or on new ones if ``ax`` is None, and return the axes."""


def resolve_axes(
    ax: Any, count: int, size: tuple[float, float], n_columns: int | None = None
) -> list[Any]:
    """Return the given axes after checking their number, or new axes."""
    if ax is None:
        return new_axes(count, size, n_columns)
    given = list(np.ravel(np.array(ax, dtype=object)))
    if len(given) != count:
        raise ValueError(
            f"ax must contain {count} axes, one per plot, got {len(given)}; create them with "
            f"plt.subplots(1, {count})."
        )
    return given


def resolve_choice(name: str, values: Sequence[int], count: int, allowed: Sequence[int]) -> Any:
    """Return distinct indices below ``count`` as a tuple, after checking how many there are."""
    chosen = tuple(values)
    if len(chosen) not in allowed or len(set(chosen)) < len(chosen):
        number = "one or two" if allowed[0] == 1 else "two or more"
        raise ValueError(f"{name} must contain {number} different indices, got {values!r}.")
    if not all(0 <= k < count for k in chosen):
        raise ValueError(f"{name} must contain indices from 0 to {count - 1}, got {values!r}.")
    return chosen


def sample_rows(X: Any, count: int, random_state: Any, *columns: Any) -> list[Any]:
    """Return at most ``count`` random rows of X, and the same rows of the other columns."""
    check.positive_integer("n_rows", count)
    n = np.shape(X)[0]
    for column in columns:
        if len(column) != n:
            raise ValueError(
                f"color must have one value per row ({n:,} values), got {len(column):,}."
            )
    if n <= count:
        return [X, *columns]
    chosen = resample(X, *columns, replace=False, n_samples=count, random_state=random_state)
    return chosen if columns else [chosen]

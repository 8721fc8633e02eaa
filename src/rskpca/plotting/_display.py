"""What every Display shares: where it was drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._style import new_axes


class Display:
    """``axes_`` holds all axes that were drawn on, ``ax_`` the first, ``figure_`` theirs."""

    ax_: Any
    axes_: Any
    figure_: Any

    def _drawn_on(self, axes: Sequence[Any]) -> None:
        self.axes_ = np.array(axes, dtype=object)
        self.ax_, self.figure_ = axes[0], axes[0].figure


def taken(
    ax: Any, count: int, size: tuple[float, float], n_columns: int | None = None
) -> list[Any]:
    """As many axes as are drawn on: those given, or new ones."""
    if ax is None:
        return new_axes(count, size, n_columns)
    given = list(np.ravel(np.array(ax, dtype=object)))
    if len(given) != count:
        raise ValueError(
            f"ax must hold {count} axes, one for each picture, got {len(given)}; "
            f"plt.subplots(1, {count}) makes them."
        )
    return given

"""Predict the number of centers as a function of ell from a sample, and draw the curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._format import percent
from .._style import BAND, INK, MARK, get_axes, log_axis, style_axes
from ..density.forecast import Forecast, forecast
from ..kernels import RadialKernel

Array = NDArray[np.floating]

ELLS = (3.0, 3.5, 4.0, 4.5, 5.0)
_LOG_SCALE_RATIO = 20  # use a log axis if the numbers of centers differ by more than this factor


@dataclass(frozen=True, eq=False)
class Retention:
    """Number of centers as a function of ell, either counted or predicted."""

    n_samples: float
    ells: tuple[float, ...]  # in ascending order
    n_centers: Array  # one number per ell
    low: Array  # lower end of the 95% interval; equal to n_centers if the centers were counted
    high: Array  # upper end
    ell: float | None = None  # the chosen ell, if any

    @property
    def chosen(self) -> float | None:
        """Return the number of centers for the chosen ell."""
        return None if self.ell is None else float(self.n_centers[self.ells.index(self.ell)])

    def at(self, ell: float) -> float:
        """Interpolate the number of centers linearly on logarithmic scales."""
        logs = np.interp(np.log(ell), np.log(self.ells), np.log(self.n_centers))
        return float(np.exp(logs))


def retention(
    sample: Array,
    kernel: RadialKernel,
    n_samples: float,
    ells: Sequence[float] = ELLS,
    *,
    ell: float | None = None,  # the chosen value, which is added to the others
    n_centers: int | None = None,  # at the chosen ell, if known
    seed: int = 0,  # for the permutations of the sample, which are the same for each ell
) -> Retention:
    """Predict the number of centers for several values of ell, from a sample of the rows."""
    asked = sorted({*ells} if ell is None else {*ells, ell})
    n = max(round(n_samples), len(sample))

    def predict(value: float) -> Forecast:
        if n_centers is not None and value == ell:
            return Forecast(n_centers, n_centers, n_centers)
        return forecast(sample, kernel.scale / value, n, np.random.RandomState(seed))

    columns = np.array([predict(value) for value in asked], dtype=float)
    if n_centers is not None and ell is not None:
        known = asked.index(ell)
        columns[:known] = np.minimum(columns[:known], n_centers)
        columns[known:] = np.maximum(columns[known:], n_centers)
    value, low, high = _nondecreasing(columns).T
    return Retention(n_samples, tuple(asked), value, low, high, ell)


def _nondecreasing(columns: Array) -> Array:
    """Average the running maximum and the reversed running minimum of each column."""
    highest_before = np.maximum.accumulate(columns)
    lowest_after = np.minimum.accumulate(columns[::-1])[::-1]
    return (highest_before + lowest_after) / 2


def draw_retention(curve: Retention, ax: Any, title: str) -> Any:
    """Draw a retention curve with its interval, and mark the chosen ell."""
    ax = get_axes(ax)
    low, kept, high = (
        100 * values / curve.n_samples for values in (curve.low, curve.n_centers, curve.high)
    )
    predicted = bool((low < high).any())
    if predicted:
        ax.fill_between(
            curve.ells, low, high, color=BAND, alpha=0.35, linewidth=0, label="95% interval"
        )
    label = "predicted" if predicted else "counted"
    ax.plot(curve.ells, kept, color=INK, marker="o", markersize=4, label=label)
    if curve.chosen is not None:
        _mark_chosen(ax, curve.ell, curve.chosen, curve.chosen / curve.n_samples)
    if high.max() > _LOG_SCALE_RATIO * low.min():
        log_axis(ax.yaxis, low.min(), high.max(), "%")
    else:
        ax.set_ylim(0, min(1.08 * high.max(), 104))
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}%")
    style_axes(ax, "ell", "rows kept as centers", title)
    ax.grid(axis="y", alpha=0.25)
    ax.legend(frameon=False, loc="lower right")
    return ax


def _mark_chosen(ax: Any, ell: float | None, n_centers: float, share: float) -> None:
    ax.plot([ell], [100 * share], "o", color=MARK, markersize=8, zorder=3)
    ax.annotate(
        f"{n_centers:,.0f} centers, {percent(share)}",
        (ell, 100 * share),
        xytext=(8, -12), textcoords="offset points", color=MARK, va="top", zorder=4,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 2},
    )  # fmt: skip

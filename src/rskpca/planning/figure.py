"""The retention curve as a figure."""

from __future__ import annotations

from typing import Any

from .._style import BAND, INK, MARK, get_axes, log_axis, style_axes
from .report import Plan, percent, seconds_in_words
from .retention import Retention

_DECADES = 20  # from this ratio of the largest number of centers to the smallest on, logs


def draw_plan(plan: Plan, ax: Any) -> Any:
    """The retention curve of a plan, with the time of each fit."""
    title = f"{plan.n_samples:,} rows x {plan.n_features}, bandwidth {plan.kernel.scale:.4g}"
    ax = draw_retention(plan.retention, ax, title)
    apart = [fit for fit in plan.fits if fit.ell == plan.ell or abs(fit.ell - plan.ell) > 0.3]
    times = [f"{fit.ell:g}\n{seconds_in_words(fit.seconds)}" for fit in apart]
    ax.set_xticks([fit.ell for fit in apart], times)
    ax.set_xlabel("ell, and the time of a fit")
    return ax


def draw_retention(curve: Retention, ax: Any, title: str) -> Any:
    """The share that is kept with its interval; the ell that was chosen stands out."""
    ax = get_axes(ax)
    low, kept, high = (
        100 * values / curve.n_samples for values in (curve.low, curve.n_centers, curve.high)
    )
    forecast = bool((low < high).any())
    if forecast:
        ax.fill_between(
            curve.ells, low, high, color=BAND, alpha=0.35, linewidth=0, label="expected in"
        )
    ax.plot(
        curve.ells,
        kept,
        color=INK,
        marker="o",
        markersize=4,
        label="forecast" if forecast else "counted",
    )
    if curve.chosen is not None:
        _mark_chosen(curve, ax)
    _scale(ax, low.min(), high.max())
    style_axes(ax, "ell", "rows kept as centers", title)
    ax.grid(axis="y", alpha=0.25)
    ax.legend(frameon=False, loc="lower right")
    return ax


def _mark_chosen(curve: Retention, ax: Any) -> None:
    share = curve.chosen / curve.n_samples  # type: ignore[operator]
    ax.plot([curve.ell], [100 * share], "o", color=MARK, markersize=8, zorder=3)
    ax.annotate(
        f"{curve.chosen:,.0f} centers, {percent(share)}",
        (curve.ell, 100 * share),
        xytext=(8, -12), textcoords="offset points", color=MARK, va="top", zorder=4,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 2},
    )  # fmt: skip


def _scale(ax: Any, lowest: float, highest: float) -> None:
    if highest > _DECADES * lowest:
        log_axis(ax.yaxis, lowest, highest, "%")
    else:
        ax.set_ylim(0, min(1.08 * highest, 104))
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}%")

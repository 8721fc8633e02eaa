"""The figure of a plan."""

from __future__ import annotations

from typing import Any

from .report import Plan, percent, seconds_in_words

INK, BAND, MARK = "#1b3a57", "#8fb3d1", "#d1495b"


def draw_plan(plan: Plan, ax: Any) -> Any:
    """The retention curve with its interval; the ell that was asked for stands out."""
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")[1]
    n = plan.n_samples
    ells = [fit.ell for fit in plan.fits]
    ax.fill_between(
        ells,
        [100 * fit.low / n for fit in plan.fits],
        [100 * fit.high / n for fit in plan.fits],
        color=BAND, alpha=0.35, linewidth=0, label="expected in",
    )  # fmt: skip
    kept = [100 * fit.n_centers / n for fit in plan.fits]
    ax.plot(ells, kept, color=INK, marker="o", markersize=4, label="forecast")
    _mark_asked(plan, ax)
    _dress(plan, ax)
    return ax


def _mark_asked(plan: Plan, ax: Any) -> None:
    fit = plan.asked
    share = fit.n_centers / plan.n_samples
    ax.plot([fit.ell], [100 * share], "o", color=MARK, markersize=8, zorder=3)
    ax.annotate(
        f"{fit.n_centers:,} centers, {percent(share)}",
        (fit.ell, 100 * share),
        xytext=(8, -12), textcoords="offset points", color=MARK, va="top", zorder=4,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 2},
    )  # fmt: skip


def _dress(plan: Plan, ax: Any) -> None:
    highest = max(fit.high for fit in plan.fits) / plan.n_samples
    ax.set_ylim(0, min(108 * highest, 104))
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}%")
    apart = [fit for fit in plan.fits if fit.ell == plan.ell or abs(fit.ell - plan.ell) > 0.3]
    times = [f"{fit.ell:g}\n{seconds_in_words(fit.seconds)}" for fit in apart]
    ax.set_xticks([fit.ell for fit in apart], times)
    ax.set_xlabel("ell, and the time of a fit")
    ax.set_ylabel("rows kept as centers")
    ax.set_title(
        f"{plan.n_samples:,} rows x {plan.n_features}, bandwidth {plan.kernel.scale:.4g}",
        loc="left", fontsize="medium", fontweight="bold", color=INK, pad=10,
    )  # fmt: skip
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", alpha=0.25)
    ax.legend(frameon=False, loc="lower right")

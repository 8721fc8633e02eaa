"""Figure 1: data in the plane, their shadow centers, and the two density estimates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rskpca import Gaussian, ShadowDensity
from rskpca.certificate import mmd

from . import style
from .data.dataset import Floats
from .registry import Experiment, Results
from .settings import SEED, Settings

N_POINTS, N_QUICK = 600, 150
BANDWIDTH, ELL = 1.0, 3.0
SIDE = 80
MIDDLES = np.array([[-1.6, -0.8], [0.4, 1.4], [1.9, -1.0]])
SPREADS = np.array([0.75, 0.55, 0.45])


def compute(settings: Settings) -> Results:
    """Points of three clumps, their shadow sets, and both estimates on a grid."""
    kernel = Gaussian(BANDWIDTH)
    X = clumps(N_QUICK if settings.quick else N_POINTS)
    shadow = ShadowDensity(kernel, ELL, n_frequencies=0).fit(X)
    x, y = (axis(column) for column in X.T)
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    kde, shde = (
        np.exp(density.score_samples(grid)).reshape(SIDE, SIDE)
        for density in (ShadowDensity(kernel, np.inf, n_frequencies=0).fit(X), shadow)
    )
    found = shadow.reduced_set_
    return {
        "bandwidth": BANDWIDTH,
        "ell": ELL,
        "mmd": mmd.measure(kernel, X, found),
        "largest_difference": float(np.abs(kde - shde).max()),
        "points": _short(X),
        "labels": shadow.labels_.tolist(),
        "centers": _short(found.centers),
        "weights": found.weights.tolist(),
        "x": _short(x),
        "y": _short(y),
        "kde": _short(kde),
        "shde": _short(shde),
    }


def clumps(n: int) -> Floats:
    """Points of three Gaussians."""
    rng = np.random.default_rng(SEED)
    of = rng.integers(len(MIDDLES), size=n)
    return MIDDLES[of] + SPREADS[of, None] * rng.normal(size=(n, 2))


def axis(values: Floats) -> Floats:
    """A grid that reaches a bandwidth beyond the points."""
    return np.linspace(values.min() - BANDWIDTH, values.max() + BANDWIDTH, SIDE)


def _short(values: Floats) -> list[Any]:
    rounded: list[Any] = np.round(values, 4).tolist()
    return rounded


def draw(numbers: Results, path: Path) -> None:
    """Data, centers, KDE, ShDE; the estimates in the same colours."""
    with style.figure(path, 2, 2, size=(3.6, 3.05), sharex=True, sharey=True) as (figure, panels):
        (data, centers), (kde, shde) = panels
        _points(data, numbers)
        _centers(centers, numbers)
        for ax, name in ((kde, "kde"), (shde, "shde")):
            shown = _estimate(ax, numbers, name)
        options = {"location": "bottom", "shrink": 0.6, "aspect": 40, "format": "%.2f"}
        figure.colorbar(shown, ax=[kde, shde], label="density", **options)
        n, m = len(numbers["points"]), len(numbers["centers"])
        sets, kept = f"{n} points and their shadow sets", f"{m} shadow centers"
        style.letter(panels, [sets, kept, f"KDE, {n} terms", f"ShDE, {m} terms"])
        for ax in panels.flat:
            ax.set(aspect="equal")
        for ax in panels[-1]:
            ax.set_xlabel("first coordinate")
        for ax in panels[:, 0]:
            ax.set_ylabel("second coordinate")
        figure.supxlabel(_note(numbers), fontsize=7.5, color="0.35")


def _note(numbers: Results) -> str:
    return (
        f"Gaussian kernel of bandwidth {numbers['bandwidth']:g}, ell = {numbers['ell']:g}. "
        f"The densities differ by {numbers['largest_difference']:.2g} at most; "
        f"MMD {numbers['mmd']:.2g}."
    )


def _points(ax: Any, numbers: Results) -> None:
    """A colour a shadow set; neighbours differ, as colours go round a list of twenty."""
    X, labels = np.array(numbers["points"]), np.array(numbers["labels"])
    ax.scatter(*X.T, c=labels % 20, cmap="tab20", s=7, linewidths=0)


def _centers(ax: Any, numbers: Results) -> None:
    """Area by weight, and the circle within which a center takes points."""
    from matplotlib.collections import EllipseCollection

    C, weights = np.array(numbers["centers"]), np.array(numbers["weights"])
    reach = 2 * numbers["bandwidth"] / numbers["ell"]
    options = {"units": "xy", "offsets": C, "offset_transform": ax.transData}
    look = {"facecolors": "none", "edgecolors": "0.75", "linewidths": 0.6}
    sides = np.full(len(C), reach)
    ax.add_collection(EllipseCollection(sides, sides, np.zeros(len(C)), **options, **look))
    colours = np.arange(len(C)) % 20
    ax.scatter(*C.T, c=colours, cmap="tab20", s=6 + 3 * weights, linewidths=0.4, edgecolors="0.2")
    place = {"transform": ax.transAxes, "va": "top", "fontsize": 7.5}
    ax.text(0.02, 0.98, "area: weight; circle: radius", **place)


def _estimate(ax: Any, numbers: Results, name: str) -> Any:
    from matplotlib.ticker import MaxNLocator

    top = max(np.max(numbers["kde"]), np.max(numbers["shde"]))
    levels = MaxNLocator(10).tick_values(0, top)
    shown = ax.contourf(numbers["x"], numbers["y"], numbers[name], levels, cmap="cividis")
    ax.contour(
        numbers["x"], numbers["y"], numbers[name], levels[1:], colors="white", linewidths=0.3
    )
    return shown


EXPERIMENTS = {
    "fig01": Experiment("data, shadow centers, KDE and ShDE", compute, draw, "pictures/fig01.png")
}

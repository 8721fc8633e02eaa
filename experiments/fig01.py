"""Figure 1: points in the plane, their shadow centers, and the two density estimates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rskpca import Gaussian, ShadowDensity
from rskpca.certificate import mmd

from . import style
from .data.dataset import Floats
from .experiment import SEED, Experiment, Results, Settings

N_POINTS, N_QUICK = 600, 150
BANDWIDTH, ELL = 1.0, 3.0
GRID_SIZE = 80
CLUSTER_MEANS = np.array([[-1.6, -0.8], [0.4, 1.4], [1.9, -1.0]])
CLUSTER_SCALES = np.array([0.75, 0.55, 0.45])


def compute(settings: Settings) -> Results:
    """Sample points, select shadow centers, and evaluate both estimates on a grid."""
    kernel = Gaussian(BANDWIDTH)
    X = sample_points(N_QUICK if settings.quick else N_POINTS)
    shadow = ShadowDensity(kernel, ELL, sample_size=0).fit(X)
    x, y = (grid_axis(column) for column in X.T)
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    kde, shde = (
        np.exp(density.score_samples(grid)).reshape(GRID_SIZE, GRID_SIZE)
        for density in (ShadowDensity(kernel, np.inf, sample_size=0).fit(X), shadow)
    )
    found = shadow.reduced_set_
    return {
        "bandwidth": BANDWIDTH,
        "ell": ELL,
        "mmd": mmd.measure(kernel, X, found),
        "largest_difference": float(np.abs(kde - shde).max()),
        "points": _round(X),
        "labels": shadow.labels_.tolist(),
        "centers": _round(found.centers),
        "weights": found.weights.tolist(),
        "x": _round(x),
        "y": _round(y),
        "kde": _round(kde),
        "shde": _round(shde),
    }


def sample_points(n: int) -> Floats:
    """Sample points from a mixture of three Gaussians."""
    rng = np.random.default_rng(SEED)
    cluster = rng.integers(len(CLUSTER_MEANS), size=n)
    return CLUSTER_MEANS[cluster] + CLUSTER_SCALES[cluster, None] * rng.normal(size=(n, 2))


def grid_axis(values: Floats) -> Floats:
    """Return grid coordinates that extend one bandwidth beyond the values."""
    return np.linspace(values.min() - BANDWIDTH, values.max() + BANDWIDTH, GRID_SIZE)


def _round(values: Floats) -> list[Any]:
    rounded: list[Any] = np.round(values, 4).tolist()
    return rounded


def draw(numbers: Results, path: Path) -> None:
    """Draw points, centers, KDE and ShDE; both estimates share one color scale."""
    with style.figure(path, 2, 2, size=(3.6, 3.05), sharex=True, sharey=True) as (figure, panels):
        (points, centers), (kde, shde) = panels
        _draw_points(points, numbers)
        _draw_centers(centers, numbers)
        for ax, name in ((kde, "kde"), (shde, "shde")):
            contours = _draw_density(ax, numbers, name)
        options = {"location": "bottom", "shrink": 0.6, "aspect": 40, "format": "%.2f"}
        figure.colorbar(contours, ax=[kde, shde], label="density", **options)
        n, m = len(numbers["points"]), len(numbers["centers"])
        titles = [f"{n} points and their shadow sets", f"{m} shadow centers"]
        style.add_titles(panels, [*titles, f"KDE, {n} terms", f"ShDE, {m} terms"])
        for ax in panels.flat:
            ax.set(aspect="equal")
        for ax in panels[-1]:
            ax.set_xlabel("first coordinate")
        for ax in panels[:, 0]:
            ax.set_ylabel("second coordinate")
        style.add_note(figure, _note(numbers))


def _note(numbers: Results) -> str:
    return (
        f"Gaussian kernel with bandwidth {numbers['bandwidth']:g}, ell = {numbers['ell']:g}. "
        f"The densities differ by at most {numbers['largest_difference']:.2g}; "
        f"MMD {numbers['mmd']:.2g}."
    )


def _draw_points(ax: Any, numbers: Results) -> None:
    """Color the points by shadow set, cycling through twenty colors."""
    X, labels = np.array(numbers["points"]), np.array(numbers["labels"])
    ax.scatter(*X.T, c=labels % 20, cmap="tab20", s=7, linewidths=0)


def _draw_centers(ax: Any, numbers: Results) -> None:
    """Draw each center with an area proportional to its weight, and the disk that it covers."""
    from matplotlib.collections import EllipseCollection

    C, weights = np.array(numbers["centers"]), np.array(numbers["weights"])
    diameters = np.full(len(C), 2 * numbers["bandwidth"] / numbers["ell"])
    options = {"units": "xy", "offsets": C, "offset_transform": ax.transData}
    look = {"facecolors": "none", "edgecolors": "0.75", "linewidths": 0.6}
    ax.add_collection(EllipseCollection(diameters, diameters, np.zeros(len(C)), **options, **look))
    colors = np.arange(len(C)) % 20
    ax.scatter(*C.T, c=colors, cmap="tab20", s=6 + 3 * weights, linewidths=0.4, edgecolors="0.2")
    position = {"transform": ax.transAxes, "va": "top", "fontsize": 7.5}
    ax.text(0.02, 0.98, "area: weight; circle: radius", **position)


def _draw_density(ax: Any, numbers: Results, name: str) -> Any:
    from matplotlib.ticker import MaxNLocator

    top = max(np.max(numbers["kde"]), np.max(numbers["shde"]))
    levels = MaxNLocator(10).tick_values(0, top)
    contours = ax.contourf(numbers["x"], numbers["y"], numbers[name], levels, cmap="cividis")
    ax.contour(
        numbers["x"], numbers["y"], numbers[name], levels[1:], colors="white", linewidths=0.3
    )
    return contours


EXPERIMENTS = {
    "fig01": Experiment("data, shadow centers, KDE and ShDE", compute, draw, "pictures/fig01.png")
}

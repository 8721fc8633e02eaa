"""Draw the figures for docs/manifold.md.

They show a swiss roll that is unrolled by diffusion maps, an unevenly sampled circle with and
without correction for the sampling density, and two rings that are separated by normalized cut.

    python examples/manifold.py [docs/images] [number of points on the roll]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr
from sklearn.datasets import make_swiss_roll

from rskpca import DiffusionMaps, NormalizedCut

SHOWN = 6000  # number of points to draw


def fit(model, X):
    """Fit the model, and print its size and the fit time."""
    start = time.perf_counter()
    model.fit(X)
    seconds = time.perf_counter() - start
    print(f"{type(model).__name__}: {len(X):,} rows, {model.n_centers_:,} centers, {seconds:.1f} s")
    return model


def style(axes, title):
    """Set the title and hide the frame."""
    axes.set_title(title, fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)


# -------------------------------------------------------------------------- swiss roll


def swiss_roll(path, n):
    X, t = make_swiss_roll(n, random_state=0)
    length = (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2
    length -= length.min()
    model = fit(DiffusionMaps(1, bandwidth=2.0, ell=3.0), X)
    first = model.transform(X)[:, 0]
    rank = abs(spearmanr(first, length).statistic)
    figure = plt.figure(figsize=(11, 4.2), layout="constrained")
    left = figure.add_subplot(1, 2, 1, projection="3d")
    draw_roll(left, X[:SHOWN], first[:SHOWN])
    right = figure.add_subplot(1, 2, 2)
    right.scatter(length[:SHOWN], first[:SHOWN], c=first[:SHOWN], cmap="viridis", s=4, lw=0)
    style(right, f"Rank correlation with the sheet: {rank:.6f}")
    right.set_xlabel("length along the sheet")
    right.set_ylabel("first diffusion coordinate")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_roll(axes, X, colors):
    axes.scatter(*X.T, c=colors, cmap="viridis", s=5, lw=0)
    axes.view_init(elev=12, azim=-74)
    axes.set_box_aspect((1, 1.1, 1), zoom=1.35)
    axes.set_title("A swiss roll, colored by its first diffusion coordinate", fontsize=11)
    axes.set_axis_off()


# ------------------------------------------------------------------------------ circle


def circle(path):
    angles = np.random.default_rng(0).vonmises(0.0, 2.0, size=20_000)
    X = on_circle(angles)
    even = np.linspace(-np.pi, np.pi, 400)
    figure, (data, *maps) = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained")
    draw_density(data, angles)
    for axes, alpha, result in zip(
        maps, (1.0, 0.0), ("the circle", "mostly the density"), strict=True
    ):
        model = fit(DiffusionMaps(2, bandwidth=0.2, alpha=alpha), X)
        Z = model.transform(on_circle(even))
        axes.scatter(Z[:, 0], Z[:, 1], c=even, cmap="twilight_shifted", s=14, lw=0)
        style(axes, f"alpha = {alpha:g} shows {result}")
        axes.set_xlabel("diffusion coordinate 1")
        axes.set_aspect("equal", adjustable="datalim")
    maps[0].set_ylabel("diffusion coordinate 2")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def on_circle(angles):
    return np.column_stack([np.cos(angles), np.sin(angles)])


def draw_density(axes, angles):
    """Draw the points slightly off the circle, so that dense regions are visible."""
    some = angles[:SHOWN]
    radii = 1 + 0.05 * np.random.default_rng(1).normal(size=len(some))
    points = radii[:, None] * on_circle(some)
    axes.scatter(points[:, 0], points[:, 1], c=some, cmap="twilight_shifted", s=3, lw=0)
    style(axes, "Data: 55 times denser on the right")
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[["bottom", "left"]].set_visible(False)


# ------------------------------------------------------------------------------- rings


def rings(path):
    rng = np.random.default_rng(0)
    radii = np.repeat([1.0, 3.0], 10_000) + 0.15 * rng.normal(size=20_000)
    X = radii[:, None] * on_circle(rng.uniform(-np.pi, np.pi, size=20_000))
    model = fit(NormalizedCut(2, bandwidth=0.7), X)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    some = rng.permutation(len(X))[:SHOWN]
    colors = np.array(["#2b6ca3", "#d98032"])
    left.scatter(X[some, 0], X[some, 1], c=colors[model.labels_[some]], s=4, lw=0)
    style(left, f"labels_ of {len(X):,} points")
    draw_plane(right, model, colors)
    for axes in (left, right):
        axes.set(aspect="equal", xlim=(-4.2, 4.2), ylim=(-4.2, 4.2), xticks=[], yticks=[])
        axes.spines[["bottom", "left"]].set_visible(False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_plane(axes, model, colors):
    """Draw the cluster of every point in the plane, and the centers sized by weight."""
    ticks = np.linspace(-4.2, 4.2, 220)
    plane = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    clusters = model.predict(plane).reshape(220, 220)
    axes.contourf(ticks, ticks, clusters, levels=[-0.5, 0.5, 1.5], colors=colors, alpha=0.3)
    centers, weights = model.reduced_set_.centers, model.reduced_set_.weights
    sizes = 60 * weights / weights.max()
    axes.scatter(centers[:, 0], centers[:, 1], s=sizes, c=colors[model.center_labels_], lw=0)
    style(axes, f"predict, from {model.n_centers_} centers sized by weight")


def main(folder="docs/images", rows="1000000"):
    folder = Path(folder)
    swiss_roll(folder / "swiss_roll.png", int(rows))
    circle(folder / "circle.png")
    rings(folder / "rings.png")
    print(f"Figures: {folder}")


if __name__ == "__main__":
    main(*sys.argv[1:])

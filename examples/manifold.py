"""Manifold learning on reduced sets: the pictures of docs/manifold.md.

A swiss roll unrolled by diffusion maps, a circle that is sampled unevenly with and without
the density divided out, and two rings cut apart, with the cluster of every point of the plane.

    python examples/manifold.py [docs/images] [rows of the roll]
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

SHOWN = 6000  # points that are drawn


def fitted(model, X):
    """The fitted model, and a line on what it cost."""
    start = time.perf_counter()
    model.fit(X)
    seconds = time.perf_counter() - start
    print(f"{type(model).__name__}: {len(X):,} rows, {model.n_centers_:,} centers, {seconds:.1f} s")
    return model


def plain(axes, title):
    axes.set_title(title, fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)


# ---------------------------------------------------------------------- the swiss roll


def swiss_roll(path, n):
    X, t = make_swiss_roll(n, random_state=0)
    length = (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2
    length -= length.min()
    model = fitted(DiffusionMaps(1, bandwidth=2.0, ell=3.0), X)
    first = model.transform(X)[:, 0]
    rank = abs(spearmanr(first, length).statistic)
    figure = plt.figure(figsize=(11, 4.2), layout="constrained")
    left = figure.add_subplot(1, 2, 1, projection="3d")
    draw_roll(left, X[:SHOWN], first[:SHOWN])
    right = figure.add_subplot(1, 2, 2)
    right.scatter(length[:SHOWN], first[:SHOWN], c=first[:SHOWN], cmap="viridis", s=4, lw=0)
    plain(right, f"It follows the sheet: rank correlation {rank:.6f}")
    right.set_xlabel("length along the sheet")
    right.set_ylabel("first diffusion coordinate")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_roll(axes, X, colours):
    axes.scatter(*X.T, c=colours, cmap="viridis", s=5, lw=0)
    axes.view_init(elev=12, azim=-74)
    axes.set_box_aspect((1, 1.1, 1), zoom=1.35)
    axes.set_title("A swiss roll, coloured by its first diffusion coordinate", fontsize=11)
    axes.set_axis_off()


# --------------------------------------------------------------------------- the circle


def circle(path):
    angles = np.random.default_rng(0).vonmises(0.0, 2.0, size=20_000)
    X = on_circle(angles)
    even = np.linspace(-np.pi, np.pi, 400)
    figure, (data, *maps) = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained")
    draw_density(data, angles)
    for axes, alpha, says in zip(
        maps, (1.0, 0.0), ("the circle", "mostly the density"), strict=True
    ):
        model = fitted(DiffusionMaps(2, bandwidth=0.2, alpha=alpha), X)
        Z = model.transform(on_circle(even))
        axes.scatter(Z[:, 0], Z[:, 1], c=even, cmap="twilight_shifted", s=14, lw=0)
        plain(axes, f"alpha = {alpha:g} shows {says}")
        axes.set_xlabel("diffusion coordinate 1")
        axes.set_aspect("equal", adjustable="datalim")
    maps[0].set_ylabel("diffusion coordinate 2")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def on_circle(angles):
    return np.column_stack([np.cos(angles), np.sin(angles)])


def draw_density(axes, angles):
    """Points moved off the circle a little, so that crowds show."""
    some = angles[:SHOWN]
    radii = 1 + 0.05 * np.random.default_rng(1).normal(size=len(some))
    points = radii[:, None] * on_circle(some)
    axes.scatter(points[:, 0], points[:, 1], c=some, cmap="twilight_shifted", s=3, lw=0)
    plain(axes, "55 times as many points right as left")
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[["bottom", "left"]].set_visible(False)


# ---------------------------------------------------------------------------- the rings


def rings(path):
    rng = np.random.default_rng(0)
    radii = np.repeat([1.0, 3.0], 10_000) + 0.15 * rng.normal(size=20_000)
    X = radii[:, None] * on_circle(rng.uniform(-np.pi, np.pi, size=20_000))
    model = fitted(NormalizedCut(2, bandwidth=0.7), X)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    some = rng.permutation(len(X))[:SHOWN]
    colours = np.array(["#2b6ca3", "#d98032"])
    left.scatter(X[some, 0], X[some, 1], c=colours[model.labels_[some]], s=4, lw=0)
    plain(left, f"labels_ of {len(X):,} points")
    draw_plane(right, model, colours)
    for axes in (left, right):
        axes.set(aspect="equal", xlim=(-4.2, 4.2), ylim=(-4.2, 4.2), xticks=[], yticks=[])
        axes.spines[["bottom", "left"]].set_visible(False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_plane(axes, model, colours):
    """The cluster of every point, and the centers, sized by weight."""
    ticks = np.linspace(-4.2, 4.2, 220)
    plane = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    clusters = model.predict(plane).reshape(220, 220)
    axes.contourf(ticks, ticks, clusters, levels=[-0.5, 0.5, 1.5], colors=colours, alpha=0.3)
    centers, weights = model.reduced_set_.centers, model.reduced_set_.weights
    sizes = 60 * weights / weights.max()
    axes.scatter(centers[:, 0], centers[:, 1], s=sizes, c=colours[model.center_labels_], lw=0)
    plain(axes, f"predict from {model.n_centers_} centers, sized by weight")


def main(folder="docs/images", rows="1000000"):
    folder = Path(folder)
    swiss_roll(folder / "swiss_roll.png", int(rows))
    circle(folder / "circle.png")
    rings(folder / "rings.png")
    print(f"Figures: {folder}")


if __name__ == "__main__":
    main(*sys.argv[1:])

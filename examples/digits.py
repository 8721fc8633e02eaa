"""Compare kernel PCA on a reduced set of handwritten digits with exact kernel PCA.

The script fits both models to the same 80% of scikit-learn's digits, embeds the other 20%, prints
times and errors, and draws both embeddings with the shadow centers.

    python examples/digits.py [digits.png]
"""

from __future__ import annotations

import sys
import time
from statistics import median

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA
from sklearn.model_selection import train_test_split

from rskpca import ReducedSetKernelPCA

BANDWIDTH, ELLS, N_COMPONENTS, REPEATS = 80.0, (3.0, 4.0, 5.0), 5, 7


def measure(function, argument):
    """Call a function and return its result and the time in seconds."""
    start = time.perf_counter()
    result = function(argument)
    return result, time.perf_counter() - start


def compare(models, train, test):
    """Return the median times of interleaved fits and transforms, and the embeddings."""
    seconds = {name: ([], []) for name in models}
    embedded = {}
    for _ in range(1 + REPEATS):  # the first round compiles and warms up the caches
        for name, model in models.items():
            _, fit = measure(model.fit, train)
            points, transform = measure(model.transform, test)
            seconds[name][0].append(fit)
            seconds[name][1].append(transform)
            embedded[name] = model.transform(train), points
    return {name: [median(part[1:]) for part in both] for name, both in seconds.items()}, embedded


def align(target, points):
    """Map the points onto the target by least squares, as in the paper."""
    return points @ np.linalg.lstsq(points, target, rcond=None)[0]


def print_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  ".join(cells))
        if number == 0:
            print("  ".join("-" * width for width in widths))


def embedding_error(exact, points):
    """Return the relative Frobenius error after alignment."""
    return np.linalg.norm(align(exact, points) - exact) / np.linalg.norm(exact)


def eigenvalue_error(exact, model):
    """Return the largest eigenvalue error, relative to the largest eigenvalue."""
    return np.abs(model.eigenvalues_ - exact.eigenvalues_).max() / exact.eigenvalues_[0]


def print_comparison(exact, reduced, seconds, embedded):
    """Print a table with one row per model."""
    n = len(exact.X_fit_)
    fit, transform = seconds["exact"]
    header = ["", "points kept", "fit", "", "transform", "", "embedding error", "eigenvalue error"]
    rows = [header, ["KernelPCA", f"{n:,}", *format_time(fit), *format_time(transform), "-", "-"]]
    for ell, model in reduced.items():
        times = seconds[ell]
        rows.append([
            f"rskpca, ell = {ell:g}",
            f"{model.n_centers_:,} ({model.n_centers_ / n:.0%})",
            *format_time(times[0], fit),
            *format_time(times[1], transform),
            f"{embedding_error(embedded['exact'][1], embedded[ell][1]):.1%}",
            f"{eigenvalue_error(exact, model):.1%}",
        ])  # fmt: skip
    print_table(rows)


def format_time(seconds, baseline=None):
    """Format a time in milliseconds and its speed-up over a baseline."""
    ratio = "" if baseline is None else f"{baseline / seconds:.1f}x"
    return f"{1e3 * seconds:.1f} ms", ratio


def draw(path, labels, exact_points, reduced_points, centers, model):
    """Draw both embeddings, the centers sized by weight, and images of the heaviest centers."""
    figure = plt.figure(figsize=(11, 7), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=[4.2, 1])
    left, right = top.subplots(1, 2, sharex=True, sharey=True)
    weights = model.reduced_set_.weights
    for axes, points, title in (
        (left, exact_points, f"Exact kernel PCA: {len(labels):,} points kept"),
        (right, reduced_points, f"Reduced set: {len(weights)} shadow centers, sized by weight"),
    ):
        faint = 0.75 if axes is left else 0.45
        points_drawn = axes.scatter(
            points[:, 0], points[:, 1], c=labels, cmap="tab10", vmin=-0.5, vmax=9.5, s=9, lw=0,
            alpha=faint,
        )  # fmt: skip
        axes.set_title(title, fontsize=11)
        axes.set_xlabel("component 1")
        axes.spines[["top", "right"]].set_visible(False)
    left.set_ylabel("component 2")
    right.scatter(
        centers[:, 0], centers[:, 1], s=4 * weights, facecolors="none", edgecolors="0.15", lw=0.9
    )
    bar = top.colorbar(points_drawn, ax=[left, right], ticks=range(10), label="digit", pad=0.01)
    bar.solids.set_alpha(1)
    heaviest = np.argsort(-weights)[:12]
    bottom.suptitle("The heaviest centers and the number of digits each stands for", fontsize=10)
    for axes, j in zip(bottom.subplots(1, len(heaviest)), heaviest, strict=True):
        axes.imshow(model.reduced_set_.centers[j].reshape(8, 8), cmap="gray_r")
        axes.set_title(f"{weights[j]:.0f}", fontsize=9)
        axes.set_axis_off()
    figure.savefig(path, dpi=130)


def main(path="digits.png"):
    X, y = load_digits(return_X_y=True)
    train, test, labels, _ = train_test_split(X, y, test_size=0.2, random_state=0)
    exact = KernelPCA(N_COMPONENTS, kernel="rbf", gamma=1 / BANDWIDTH**2)
    reduced = {ell: ReducedSetKernelPCA(N_COMPONENTS, bandwidth=BANDWIDTH, ell=ell) for ell in ELLS}
    seconds, embedded = compare({"exact": exact, **reduced}, train, test)

    print(
        f"Digits: {train.shape[0]:,} x {train.shape[1]} to fit, {len(test)} held out; Gaussian "
        f"kernel, bandwidth {BANDWIDTH:g}; {N_COMPONENTS} components\n"
    )
    print_comparison(exact, reduced, seconds, embedded)
    print(
        "\nEmbedding error: relative error of held-out points after the best linear alignment.\n"
        "A larger ell keeps more centers and is more accurate; ell = inf is exact."
    )
    model, exact_points = reduced[ELLS[0]], embedded["exact"][0]
    flip = np.sign(np.sum(exact_points * embedded[ELLS[0]][0], axis=0))
    centers = model.transform(model.reduced_set_.centers) * flip
    draw(path, labels, exact_points, embedded[ELLS[0]][0] * flip, centers, model)
    print(f"\nFigure: {path}")


if __name__ == "__main__":
    main(*sys.argv[1:])

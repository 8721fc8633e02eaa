"""Denoise handwritten digits with pre-images of kernel principal components.

The script fits models to clean images, adds noise to other images, and compares scikit-learn's
pre-images with those from a reduced set. It uses usps if the environment variable RSKPCA_DATA
names a folder that contains usps.npz, and scikit-learn's digits otherwise.

    python examples/denoising.py [denoising.png]
"""

from __future__ import annotations

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from example_data import load_data, shuffle, size
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA

from rskpca import ReducedSetKernelPCA

N_COMPONENTS, N_TEST, NOISE = 64, 300, 0.5
RIDGES = (1.0, 0.03, 0.01, 0.003)
METHODS = ("ridge", "fixed-point", "distances")


def digits():
    """Return digits with pixels in [-1, 1], as in usps."""
    X, y = load_digits(return_X_y=True)
    return X / 8 - 1, y


def load_images():
    """Return images in [0, 1] in a fixed random order, their labels, and a bandwidth."""
    X, y = shuffle(*load_data("usps", digits), n=size(3_000, quick=800))
    return (X + 1) / 2, y, 18.0 * np.sqrt(X.shape[1]) / 16


def denoise_with_sklearn(train, noisy, gamma):
    """Return the denoised images for each ridge parameter."""
    images = {}
    for alpha in RIDGES:
        model = KernelPCA(
            N_COMPONENTS, kernel="rbf", gamma=gamma, fit_inverse_transform=True, alpha=alpha,
            eigen_solver="randomized", random_state=0,
        ).fit(train)  # fmt: skip
        images[alpha] = model.inverse_transform(model.transform(noisy))
    return images


def error(images, clean):
    return np.mean((images - clean) ** 2)


def compare(train, clean, noisy, bandwidth):
    """Return the rows of the figure (a dict of images by name) and the fitted model."""
    theirs = denoise_with_sklearn(train, noisy, bandwidth**-2)
    best = min(RIDGES, key=lambda alpha: error(theirs[alpha], clean))
    model = ReducedSetKernelPCA(N_COMPONENTS, bandwidth=bandwidth, ell=6.0).fit(train)
    Z = model.transform(noisy)
    shown = {
        "clean": clean,
        "noisy": noisy,
        "KernelPCA, alpha = 1\n(the default)": theirs[1.0],
        f"KernelPCA, alpha = {best:g}\n(best for these images)": theirs[best],
    }
    for method in METHODS:
        options = {"alpha": 1.0} if method == "ridge" else {}  # recommended for noisy images
        shown[f'rskpca\n"{method}"'] = model.inverse_transform(Z, method=method, **options)
    return shown, model


def draw(path, shown, labels, title):
    """Draw one column per digit and one row per method."""
    side = int(np.sqrt(shown["clean"].shape[1]))
    chosen = [np.flatnonzero(labels == digit)[0] for digit in range(10)]
    width, title_height, left = 9.6, 0.42, 0.245
    cell_size = width * (1 - left - 0.01) / 10
    height = len(shown) * cell_size + title_height
    figure, axes = plt.subplots(
        len(shown), 10, figsize=(width, height),
        gridspec_kw={"wspace": 0.05, "hspace": 0.05, "left": left, "right": 0.99,
                     "bottom": 0.008, "top": 1 - title_height / height},
    )  # fmt: skip
    for line, (name, images) in zip(axes, shown.items(), strict=True):
        for cell, index in zip(line, chosen, strict=True):
            cell.imshow(images[index].reshape(side, side), cmap="gray", vmin=0, vmax=1)
            cell.set_axis_off()
        ours = name.startswith("rskpca")
        style = {"fontsize": 9, "va": "center", "transform": line[0].transAxes}
        style |= {"weight": "bold", "color": "#0b5394"} if ours else {"color": "0.2"}
        line[0].text(-3.2, 0.5, name, ha="left", **style)
        if name != "clean":
            line[0].text(-0.14, 0.5, f"{error(images, shown['clean']):.3f}", ha="right", **style)
    axes[0, 0].text(
        -0.14, 0.5, "mean\nsquared\nerror", transform=axes[0, 0].transAxes, ha="right",
        va="center", fontsize=8, color="0.5",
    )  # fmt: skip
    figure.text(left, 1 - 0.5 * title_height / height, title, fontsize=10.5, va="center")
    figure.savefig(path, dpi=150)


def main(path="denoising.png"):
    X, labels, bandwidth = load_images()
    train, clean, labels = X[:-N_TEST], X[-N_TEST:], labels[-N_TEST:]
    noisy = clean + np.random.default_rng(1).normal(0, NOISE, clean.shape)
    shown, model = compare(train, clean, noisy, bandwidth)
    print(f"Training set: {len(train):,} x {train.shape[1]}; {N_TEST} images with noise sd {NOISE}")
    print(f"{N_COMPONENTS} components, bandwidth {bandwidth:g}, {model.n_centers_:,} centers\n")
    for name, images in list(shown.items())[1:]:
        print(f"{name.replace(chr(10), ' '):48s} {error(images, clean):.4f}")
    title = (
        f"{N_COMPONENTS} kernel principal components of {len(train):,} images: "
        f"KernelPCA keeps all of them, rskpca {model.n_centers_:,}"
    )
    draw(path, shown, labels, title)
    print(f"\nFigure: {path}")


if __name__ == "__main__":
    main(*sys.argv[1:])

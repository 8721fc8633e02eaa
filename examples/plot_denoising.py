"""
Denoising with pre-images
=========================

Noisy images are projected onto the principal components of clean images and mapped back to pixels.
This example compares three pre-image methods, all of which need only the reduced set.
"""

import matplotlib.pyplot as plt
import numpy as np
from example_data import load_data, shuffle, size
from sklearn.datasets import load_digits

from rskpca import ReducedSetKernelPCA


def digits():
    """Return digits with pixels in [-1, 1], as in usps."""
    X, y = load_digits(return_X_y=True)
    return X / 8 - 1, y


X, y = shuffle(*load_data("usps", digits), n=size(3_000, quick=600))
X = (X + 1) / 2
train, clean, labels = X[:-200], X[-200:], y[-200:]
noisy = clean + np.random.default_rng(0).normal(0, 0.4, clean.shape)

# %%

side = int(np.sqrt(X.shape[1]))
model = ReducedSetKernelPCA(n_components=64, bandwidth=1.1 * side, ell=6.0).fit(train)
Z = model.transform(noisy)
images = {"clean": clean, "noisy": noisy}
images["ridge"] = model.inverse_transform(Z, alpha=1.0)  # a larger value for noisy images
images |= {m: model.inverse_transform(Z, method=m) for m in ("fixed-point", "distances")}
print(model.reduced_set_)
for name, found in images.items():
    print(f"{name:12} squared error per pixel {np.mean((found - clean) ** 2):.4f}")

# %%

chosen = [np.flatnonzero(labels == digit)[0] for digit in range(10)]
figure, axes = plt.subplots(len(images), 10, figsize=(9, 4.8), layout="constrained")
for line, (name, found) in zip(axes, images.items(), strict=True):
    for ax, image in zip(line, found[chosen], strict=True):
        ax.imshow(image.reshape(side, side), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
    line[0].set_ylabel(name, rotation=0, ha="right", va="center")
plt.show()

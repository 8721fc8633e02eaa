"""
Spectral clustering of an image
===============================

Normalized cut was made to segment images. Each pixel is a row: its colour, and its place, scaled
so that nearness counts a little. The 273,280 pixels of a photograph have an affinity matrix of
597 GB; its centers have one of some megabytes.
"""

import matplotlib.pyplot as plt
import numpy as np
from example_data import rows
from sklearn.datasets import load_sample_image

from rskpca import NormalizedCut

step = rows(1, quick=8)
image = load_sample_image("flower.jpg")[::step, ::step] / 255
height, width, _ = image.shape
y, x = np.mgrid[:height, :width] / max(height, width)
pixels = np.column_stack([image.reshape(-1, 3), 0.3 * x.ravel(), 0.3 * y.ravel()])

# %%

model = NormalizedCut(n_clusters=3, bandwidth=0.35, ell=4.0).fit(pixels)
segments = model.labels_.reshape(height, width)
print(f"{len(pixels):,} pixels, {model.n_centers_} centers")
print("pixels in each segment:", np.bincount(model.labels_))

# %%
# Each segment in its mean colour.

means = np.array([image[segments == k].mean(axis=0) for k in range(3)])
figure, axes = plt.subplots(1, 3, figsize=(11, 2.8), layout="constrained")
for ax, shown, title in zip(
    axes, (image, segments, means[segments]), ("pixels", "segments", "mean colours"), strict=True
):
    ax.imshow(shown, cmap="viridis")
    ax.set(title=title, xticks=[], yticks=[])
plt.show()

"""
Spectral clustering of an image
===============================

Normalized cut was developed for image segmentation. Each pixel is a row that consists of its
color and its position, which is scaled down to have little influence. The affinity matrix of all
273,280 pixels of a photograph would take 597 GB; that of the centers takes a few megabytes.
"""

import matplotlib.pyplot as plt
import numpy as np
from example_data import size
from sklearn.datasets import load_sample_image

from rskpca import NormalizedCut

step = size(1, quick=8)
image = load_sample_image("flower.jpg")[::step, ::step] / 255
height, width, _ = image.shape
y, x = np.mgrid[:height, :width] / max(height, width)
pixels = np.column_stack([image.reshape(-1, 3), 0.3 * x.ravel(), 0.3 * y.ravel()])

# %%

model = NormalizedCut(n_clusters=3, bandwidth=0.35, ell=4.0).fit(pixels)
segments = model.labels_.reshape(height, width)
print(f"{len(pixels):,} pixels, {model.n_centers_} centers")
print("pixels per segment:", np.bincount(model.labels_))

# %%
# Each segment is shown in its mean color.

means = np.array([image[segments == k].mean(axis=0) for k in range(3)])
figure, axes = plt.subplots(1, 3, figsize=(11, 2.8), layout="constrained")
for ax, shown, title in zip(
    axes, (image, segments, means[segments]), ("pixels", "segments", "mean colors"), strict=True
):
    ax.imshow(shown, cmap="viridis")
    ax.set(title=title, xticks=[], yticks=[])
plt.show()

"""
Faces under changing light
==========================

The Yale Face Database B contains photographs of ten people under different lighting. The version
used here has 600 pixels per photograph. Two kernel principal components arrange the photographs by
the direction of the light. With this many columns, the data compress little: nearly half of the
photographs become centers.
"""

import matplotlib.pyplot as plt
import numpy as np
from example_data import load_data, shuffle
from sklearn.datasets import load_digits

from rskpca import ReducedSetKernelPCA


def digits():
    """Return digits enlarged to 30 x 20 pixels, the size of the photographs."""
    images, y = load_digits().images, load_digits().target
    large = np.kron(images, np.ones((1, 3, 2)))
    return np.pad(large, ((0, 0), (3, 3), (2, 2))).transpose(0, 2, 1).reshape(len(y), 600), y


X, person = shuffle(*load_data("yale", digits), n=2_000)
model = ReducedSetKernelPCA(n_components=2, ell=3.0).fit(X)
print(model.reduced_set_)

# %%
# The figure shows photographs that are centers, at their coordinates. Those that would overlap are
# omitted.

Z = model.transform(X)
centers = model.reduced_set_.centers
positions = model.transform(centers)
figure, ax = plt.subplots(figsize=(9, 6), layout="constrained")
ax.scatter(*Z.T, c=person, cmap="tab10", s=6, lw=0, alpha=0.5)
span = np.ptp(Z, axis=0)
shown: list[int] = []
for j in np.argsort(-model.reduced_set_.weights):
    apart = np.abs(positions[j] - positions[shown]) / span
    if np.all(np.any(apart > (0.06, 0.13), axis=1)):
        shown.append(j)
for j in shown[:60]:
    width, height = 0.028 * span[0], 0.062 * span[1]
    x, y = positions[j]
    ax.imshow(
        centers[j].reshape(20, 30).T, cmap="gray", aspect="auto", zorder=2,
        extent=(x - width, x + width, y - height, y + height),
    )  # fmt: skip
low, high = Z.min(axis=0) - 0.07 * span, Z.max(axis=0) + 0.07 * span
ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
ax.set(xlabel="component 1", ylabel="component 2")
ax.set_title(f"{model.n_centers_} of {len(X):,} photographs are centers")
plt.show()

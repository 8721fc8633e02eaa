"""
A stream that drifts
====================

Rows arrive in chunks, and their distribution changes over time. A model of all rows keeps centers
in regions where no row has appeared for a long time, whereas a ``WindowDensity`` counts only the
most recent rows. Both models are updated by ``partial_fit``.
"""

import matplotlib.pyplot as plt
import numpy as np
from example_data import size

from rskpca import Gaussian, ReducedSetKernelPCA, ShadowDensity, WindowDensity

CHUNKS, SIZE = 40, size(20_000, quick=500)
rng = np.random.default_rng(0)


def chunk(time):
    """Return rows from two clusters that orbit each other."""
    angle = 2 * np.pi * time / CHUNKS
    middle = 3 * np.array([np.cos(angle), np.sin(angle)])
    side = rng.choice([-1, 1], size=(SIZE, 1))
    return side * middle + 0.5 * rng.normal(size=(SIZE, 2))


# %%
# One model uses all rows, the other only the last eight chunks.

shadow = ShadowDensity(Gaussian(2.0), ell=4.0)
everything = ReducedSetKernelPCA(2, density=shadow)
recent = ReducedSetKernelPCA(2, density=WindowDensity(8 * SIZE, shadow))
sizes, frames = [], {}
for now in range(CHUNKS):
    X = chunk(now)
    everything.partial_fit(X)
    recent.partial_fit(X)
    sizes.append((everything.n_centers_, recent.n_centers_))
    if now % 13 == 12:
        frames[now] = X[:400], recent.reduced_set_

# %%
# The certificate of the second model refers only to the rows in the window.

for name, model in (("all rows", everything), ("window", recent)):
    error = model.certificate_.level("sample").operator
    print(f"{name}: {model.reduced_set_}, operator error at most {error:.3f}")

# %%
# Dots are rows from the latest chunk. Circles are the centers of the window, sized by weight; they
# cover the last eight chunks.

figure, axes = plt.subplots(1, 4, figsize=(12, 3.1), layout="constrained")
for ax, (now, (X, kept)) in zip(axes, frames.items(), strict=False):
    ax.scatter(*X.T, s=3, lw=0, color="#8fb3d1")
    marks = 120 * kept.weights / kept.weights.max()
    ax.scatter(*kept.centers.T, s=marks, facecolors="none", edgecolors="#1b3a57")
    ax.set(title=f"chunk {now + 1}", xlim=(-5, 5), ylim=(-5, 5), xticks=[], yticks=[])
    ax.set_aspect("equal")
axes[-1].plot(np.array(sizes), label=["all rows", "last 8 chunks"])
axes[-1].set(xlabel="chunk", title="number of centers")
axes[-1].set_ylim(bottom=0)
axes[-1].legend(frameon=False)
plt.show()

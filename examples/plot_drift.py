"""
A stream that drifts
====================

Rows come in chunks, and what they look like changes. ``partial_fit`` adds a chunk, ``forget`` takes
an old one away again, exactly: the model is that of the last chunks alone, and its memory that
of its centers.
"""

from collections import deque

import matplotlib.pyplot as plt
import numpy as np
from example_data import rows

from rskpca import Gaussian, ReducedSetKernelPCA, ShadowDensity

CHUNKS, KEPT = 40, 8
rng = np.random.default_rng(0)


def chunk(time):
    """Two clumps that circle each other."""
    angle = 2 * np.pi * time / CHUNKS
    middle = 3 * np.array([np.cos(angle), np.sin(angle)])
    side = rng.choice([-1, 1], size=(rows(20_000, quick=500), 1))
    return side * middle + 0.5 * rng.normal(size=(len(side), 2))


# %%
# One model of everything so far, one of the last eight chunks.

everything, recent = (
    ReducedSetKernelPCA(2, density=ShadowDensity(Gaussian(2.0), ell=4.0)) for _ in range(2)
)
window: deque[np.ndarray] = deque()
sizes, frames = [], {}
for now in range(CHUNKS):
    X = chunk(now)
    everything.partial_fit(X)
    recent.partial_fit(X)
    window.append(X)
    if len(window) > KEPT:
        recent.forget(window.popleft())
    sizes.append((everything.n_centers_, recent.n_centers_))
    if now % 13 == 12:
        frames[now] = X[:400], recent.reduced_set_

# %%
# The model after forgetting is the model of the window, as if nothing else had ever been seen:
# same rows, same weight.

print(f"rows in the window: {sum(map(len, window)):,}")
print(f"rows in the model:  {recent.reduced_set_.n_samples:,.0f}")

# %%

figure, axes = plt.subplots(1, 4, figsize=(12, 3.1), layout="constrained")
for ax, (now, (X, kept)) in zip(axes, frames.items(), strict=False):
    ax.scatter(*X.T, s=3, lw=0, color="#8fb3d1")
    marks = 120 * kept.weights / kept.weights.max()
    ax.scatter(*kept.centers.T, s=marks, facecolors="none", edgecolors="#1b3a57")
    ax.set(title=f"chunk {now + 1}", xlim=(-5, 5), ylim=(-5, 5), xticks=[], yticks=[])
    ax.set_aspect("equal")
axes[-1].plot(np.array(sizes), label=["of everything", "of the last 8 chunks"])
axes[-1].set(xlabel="chunk", title="centers")
axes[-1].set_ylim(bottom=0)
axes[-1].legend(frameon=False)
plt.show()

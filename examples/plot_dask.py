"""
Fitting a Dask array
====================

A Dask array is processed where its blocks are stored: each worker summarizes its own blocks, and
only the summaries are sent over the network. ``transform`` is lazy. This example uses threads on
one machine; if a ``distributed.Client`` is active, its workers are used instead.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from example_data import size

from rskpca import Gaussian, ReducedSetKernelPCA
from rskpca.scaling import dask as on_dask


def block(block_info):
    """Generate one block of a noisy ring on the worker."""
    (start, stop), _ = block_info[None]["array-location"]
    rng = np.random.default_rng(start)
    angles = rng.uniform(0, 2 * np.pi, stop - start)
    ring = np.column_stack([np.cos(angles), np.sin(angles), np.cos(2 * angles)])
    return ring + 0.05 * rng.normal(size=ring.shape)


n = size(1_000_000, quick=8_000)
X = da.map_blocks(block, chunks=((n // 8,) * 8, (3,)), dtype=np.float64)
print(X)

# %%

model = on_dask.fit(ReducedSetKernelPCA(3, kernel=Gaussian(1.0), ell=5.0), X)
print(model.reduced_set_)
Z = on_dask.transform(model, X)
print(Z)

# %%
# Only the requested part of ``Z`` is computed.

shown = Z[:: n // 3_000].compute()
figure = plt.figure(figsize=(5, 4.4), layout="constrained")
ax = figure.add_subplot(projection="3d")
ax.scatter(*shown.T, c=shown[:, 0], s=5, lw=0)
ax.set(xlabel="component 1", ylabel="component 2", zlabel="component 3")
ax.set_title(f"{n:,} rows in {X.numblocks[0]} blocks, {model.n_centers_} centers")
plt.show()

"""
Rows on a cluster: Dask
=======================

A Dask array is fitted where its blocks are: each worker summarises its own, and only summaries
travel. ``transform`` is lazy, block by block. Here the cluster is this machine's threads; a
``distributed.Client`` is used where there is one.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from example_data import rows

from rskpca import Gaussian, ReducedSetKernelPCA
from rskpca.scaling import dask as on_dask


def block(block_info):
    """Rows of one block, made where they are needed: a ring with noise."""
    (start, stop), _ = block_info[None]["array-location"]
    rng = np.random.default_rng(start)
    angles = rng.uniform(0, 2 * np.pi, stop - start)
    ring = np.column_stack([np.cos(angles), np.sin(angles), np.cos(2 * angles)])
    return ring + 0.05 * rng.normal(size=ring.shape)


n = rows(1_000_000, quick=8_000)
X = da.map_blocks(block, chunks=((n // 8,) * 8, (3,)), dtype=np.float64)
print(X)

# %%

model = on_dask.fit(ReducedSetKernelPCA(3, kernel=Gaussian(1.0), ell=5.0), X)
print(model.reduced_set_)
Z = on_dask.transform(model, X)
print(Z)

# %%
# Nothing of ``Z`` is computed but what is asked for.

shown = Z[:: n // 3_000].compute()
figure = plt.figure(figsize=(5, 4.4), layout="constrained")
ax = figure.add_subplot(projection="3d")
ax.scatter(*shown.T, c=shown[:, 0], s=5, lw=0)
ax.set(xlabel="component 1", ylabel="component 2", zlabel="component 3")
ax.set_title(f"{n:,} rows in {X.numblocks[0]} blocks, {model.n_centers_} centers")
plt.show()

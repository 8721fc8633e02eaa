"""
Forest cover at full size
=========================

All 581,012 rows of covtype, ten columns. A kernel matrix of them would take 2.7 TB; one pass
leaves some hundreds of centers, and the certificate says how far the model can be from the
exact answer, which nobody can compute.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from example_data import published, rows, shuffled
from sklearn.datasets import make_blobs

from rskpca import ReducedSetKernelPCA


def blobs():
    """As many rows in seven clumps."""
    return make_blobs(581_012, n_features=10, centers=7, cluster_std=2.0, random_state=0)


X, cover = published("covtype", blobs)
X, cover = shuffled(X[:, :10], cover, rows(len(X), quick=10_000))

# %%

start = time.perf_counter()
model = ReducedSetKernelPCA(n_components=3, ell=5.0).fit(X)
fitted = time.perf_counter()
Z = model.transform(X)
print(
    f"{len(X):,} rows: fit {fitted - start:.1f} s, transform {time.perf_counter() - fitted:.1f} s"
)
print(model.reduced_set_)
print(model.certificate_)

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.3), layout="constrained")
some = slice(0, 20_000)
left.scatter(*Z[some, :2].T, c=cover[some], cmap="Set2", s=2, lw=0)
C = model.transform(model.reduced_set_.centers)
sizes = 400 * model.reduced_set_.weights / model.reduced_set_.weights.max()
left.scatter(*C[:, :2].T, s=sizes, facecolors="none", edgecolors="0.2", lw=0.5)
left.set(xlabel="component 1", ylabel="component 2")
left.set_title("Rows by kind of forest; centers by weight")
weights = np.sort(model.reduced_set_.weights)[::-1]
right.loglog(np.arange(1, len(weights) + 1), weights, color="#1b3a57")
right.set(xlabel="center, by weight", ylabel="rows that it stands for")
right.set_title(f"{len(weights):,} centers for {len(X):,} rows")
right.spines[["top", "right"]].set_visible(False)
plt.show()

"""
Forest cover at full size
=========================

The covtype data set has 581,012 rows; this example uses ten of its columns. The full kernel matrix
would take 2.7 TB. One pass reduces the rows to a few hundred centers, and the certificate bounds
the distance from the exact result, which cannot be computed.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from example_data import load_data, shuffle, size
from sklearn.datasets import make_blobs

from rskpca import ReducedSetKernelPCA


def blobs():
    """Return the same number of rows in seven clusters."""
    return make_blobs(581_012, n_features=10, centers=7, cluster_std=2.0, random_state=0)


X, cover = load_data("covtype", blobs)
X, cover = shuffle(X[:, :10], cover, size(len(X), quick=10_000))

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
left.set_title("Rows colored by cover type; centers sized by weight")
weights = np.sort(model.reduced_set_.weights)[::-1]
right.loglog(np.arange(1, len(weights) + 1), weights, color="#1b3a57")
right.set(xlabel="rank of the center", ylabel="weight (number of rows)")
right.set_title(f"{len(weights):,} centers for {len(X):,} rows")
right.spines[["top", "right"]].set_visible(False)
plt.show()

"""
Kernel PCA of digits and its error
==================================

scikit-learn's digits data set is small enough for exact kernel PCA. This example measures the error
of the reduced set for several values of ``ell``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA

from rskpca import ReducedSetKernelPCA

X, y = load_digits(return_X_y=True)
exact = KernelPCA(2, kernel="rbf", gamma=1 / 80**2).fit_transform(X)


def error(Z):
    """Return the relative error after the best linear alignment with the exact embedding."""
    fitted = Z @ np.linalg.lstsq(Z, exact, rcond=None)[0]
    return np.linalg.norm(fitted - exact) / np.linalg.norm(exact)


# %%
# A larger ``ell`` means more centers and a smaller error; ``np.inf`` keeps every row.

models = {
    ell: ReducedSetKernelPCA(2, bandwidth=80.0, ell=ell).fit(X) for ell in (2, 3, 4, 5, np.inf)
}
for ell, model in models.items():
    print(f"ell {ell:>3g}: {model.n_centers_:5,} centers, error {error(model.transform(X)):.2e}")

# %%
# A second pass over the data, with the same centers, removes most of the error.

model = ReducedSetKernelPCA(2, bandwidth=80.0, ell=3.0, refine="nystrom").fit(X)
Z = model.transform(X)
print(f"ell   3, two passes: {model.n_centers_} centers, error {error(Z):.2e}")

# %%
# Circles are centers; their area is proportional to the number of digits that they represent.

flip = np.sign(np.sum(Z * exact, axis=0))
C = model.transform(model.reduced_set_.centers) * flip
embeddings = {f"exact: {len(X):,} points": exact, f"{model.n_centers_} centers": Z * flip}
figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
for ax, (title, points) in zip(axes, embeddings.items(), strict=True):
    dots = ax.scatter(*points.T, c=y, cmap="tab10", vmin=-0.5, vmax=9.5, s=7, lw=0, alpha=0.6)
    ax.set(title=title, xlabel="component 1")
sizes = 3 * model.reduced_set_.weights
axes[1].scatter(*C.T, s=sizes, facecolors="none", edgecolors="0.2", lw=0.7)
axes[0].set_ylabel("component 2")
figure.colorbar(dots, ax=axes, ticks=range(10), label="digit", pad=0.01)
plt.show()

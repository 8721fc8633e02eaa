"""
Features for a classifier: credit
=================================

Kernel principal components as features of a linear classifier, in a pipeline with a scaler and a
search over ``ell`` and the bandwidth. The data are small (German credit, 1,000 rows), so exact
kernel PCA, ``ell=np.inf``, is one of the choices.
"""

import matplotlib.pyplot as plt
import numpy as np
from example_data import published, rows, shuffled
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rskpca import ReducedSetKernelPCA

X, y = published("german", lambda: load_breast_cancer(return_X_y=True))
X, y = shuffled(X, y, rows(1_000, quick=300))

# %%

pipeline = make_pipeline(
    StandardScaler(), ReducedSetKernelPCA(n_components=10), LogisticRegression(max_iter=1_000)
)
ells, bandwidths = [1.5, 2.0, 3.0, 4.0, np.inf], [4.0, 8.0]
grid = {"reducedsetkernelpca__ell": ells, "reducedsetkernelpca__bandwidth": bandwidths}
search = GridSearchCV(pipeline, grid, scoring="roc_auc", cv=rows(5, quick=3)).fit(X, y)
print(f"best area under the curve {search.best_score_:.3f} with {search.best_params_}")
print(f"rows kept by the best: {search.best_estimator_[1].n_centers_} of {len(X)}")

# %%
# At the narrow kernel a coarse set costs nothing; at the wide one it costs up to two points, and
# from ``ell=3`` on next to nothing. So small a data set needs no reduced set; a large one of this
# kind would.

scores = search.cv_results_["mean_test_score"].reshape(len(bandwidths), len(ells))
figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for bandwidth, line in zip(bandwidths, scores, strict=True):
    ax.plot(range(len(ells)), line, marker="o", label=f"bandwidth {bandwidth:g}")
ax.set_xticks(range(len(ells)), [f"{ell:g}" for ell in ells])
ax.set(xlabel="ell", ylabel="area under the curve, cross-validated")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

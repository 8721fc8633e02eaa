"""
Novelty detection by reconstruction error
=========================================

A detector is trained on the pen strokes of one digit. It scores a point by its reconstruction
error, the part that the principal components leave out (Hoffmann 2007). Computing a score requires
one kernel value per center.
"""

import matplotlib.pyplot as plt
import numpy as np
from example_data import load_data
from sklearn.datasets import load_digits
from sklearn.metrics import RocCurveDisplay, roc_auc_score

from rskpca import KernelPCANovelty, ReducedSetKernelPCA


def small_digits():
    """Return digits of 4 x 4 pixels, with the dimension and the scale of pendigits."""
    pixels = load_digits().images.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4))
    return pixels.reshape(-1, 16) * 20, load_digits().target


X, digit = load_data("pendigits", small_digits)
half = np.arange(len(X)) % 2 == 0
known = X[half & (digit == 3)]
test, novel = X[~half], digit[~half] != 3

# %%
# The detector is trained on the digit 3 only.

embedding = ReducedSetKernelPCA(8, bandwidth=120.0, ell=1.8)
detector = KernelPCANovelty(embedding, contamination=0.05).fit(known)
scores = detector.score_samples(test)
print(f"{len(known)} rows of digit 3, {detector.embedding_.n_centers_} centers")
print(f"area under the ROC curve: {roc_auc_score(novel, -scores):.4f}")
print(f"other digits called novel: {np.mean(detector.predict(test[novel]) == -1):.1%}")
print(f"unseen 3s called novel: {np.mean(detector.predict(test[~novel]) == -1):.1%}")

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
edges = np.linspace(scores.min(), scores.max(), 60)
for chosen, label in ((novel, "other digits"), (~novel, "unseen 3s")):
    left.hist(scores[chosen], edges, density=True, alpha=0.6, label=label)
left.axvline(detector.offset_, color="0.2", lw=1, ls="--")
left.set(xlabel="score", title="Scores (novel to the left of the line)", yticks=[])
left.legend(frameon=False)
RocCurveDisplay.from_predictions(novel, -scores, ax=right, name="3 vs. the rest")
right.spines[["top", "right"]].set_visible(False)
plt.show()

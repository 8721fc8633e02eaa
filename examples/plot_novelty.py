"""
Novelty: what kernel PCA cannot rebuild
=======================================

A detector learns one kind of digit, as strokes of a pen, and scores others by how much of a point
its components leave out (Hoffmann 2007). A score costs as many kernel values as there are centers.
"""

import matplotlib.pyplot as plt
import numpy as np
from example_data import published
from sklearn.datasets import load_digits
from sklearn.metrics import RocCurveDisplay, roc_auc_score

from rskpca import KernelPCANovelty, ReducedSetKernelPCA


def small_digits():
    """Digits as 4 x 4 pixels, as many columns as the strokes have, and about as far apart."""
    pixels = load_digits().images.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4))
    return pixels.reshape(-1, 16) * 20, load_digits().target


X, digit = published("pendigits", small_digits)
half = np.arange(len(X)) % 2 == 0
known = X[half & (digit == 3)]
test, novel = X[~half], digit[~half] != 3

# %%
# The detector knows the digit 3 alone.

embedding = ReducedSetKernelPCA(8, bandwidth=120.0, ell=1.8)
detector = KernelPCANovelty(embedding, contamination=0.05).fit(known)
scores = detector.score_samples(test)
print(f"{len(known)} rows of digit 3, {detector.embedding_.n_centers_} centers")
print(f"area under the curve: {roc_auc_score(novel, -scores):.4f}")
print(f"other digits called novel: {np.mean(detector.predict(test[novel]) == -1):.1%}")
print(f"unseen 3s called novel: {np.mean(detector.predict(test[~novel]) == -1):.1%}")

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
edges = np.linspace(scores.min(), scores.max(), 60)
for chosen, label in ((novel, "other digits"), (~novel, "unseen 3s")):
    left.hist(scores[chosen], edges, density=True, alpha=0.6, label=label)
left.axvline(detector.offset_, color="0.2", lw=1, ls="--")
left.set(xlabel="score", title="Scores; left of the line is novel", yticks=[])
left.legend(frameon=False)
RocCurveDisplay.from_predictions(novel, -scores, ax=right, name="3 against the rest")
right.spines[["top", "right"]].set_visible(False)
plt.show()

"""
Unrolling a swiss roll
======================

The natural coordinate of a sheet that is rolled up in three dimensions is the position along the
sheet. Diffusion maps find this coordinate if the bandwidth is smaller than the distance between
adjacent layers. The kernel matrix of all rows would not fit in memory, but that of the centers
does.
"""

import matplotlib.pyplot as plt
import numpy as np
from example_data import size
from scipy.stats import spearmanr
from sklearn.datasets import make_swiss_roll

from rskpca import DiffusionMaps

X, t = make_swiss_roll(size(200_000, quick=5_000), random_state=0)
along = (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2  # arc length of the spiral r = t

# %%
# One pass selects the centers. The random walk on the centers is decomposed, and all rows are
# embedded from the centers.

model = DiffusionMaps(n_components=1, bandwidth=2.0, ell=3.0).fit(X)
Z = model.transform(X)[:, 0]
rank = abs(spearmanr(Z, along).statistic)
print(f"{len(X):,} rows, {model.n_centers_:,} centers, rank correlation with length: {rank:.4f}")

# %%

some = slice(0, 5_000)
figure = plt.figure(figsize=(9.5, 4), layout="constrained")
left = figure.add_subplot(1, 2, 1, projection="3d")
left.scatter(*X[some].T, c=Z[some], s=4, lw=0)
left.view_init(elev=12, azim=-74)
left.set_box_aspect((1, 1, 1), zoom=1.25)
left.set_axis_off()
left.set_title("The roll, colored by its diffusion coordinate")
right = figure.add_subplot(1, 2, 2)
right.scatter(along[some], Z[some], c=Z[some], s=4, lw=0)
right.set(xlabel="length along the sheet", ylabel="first diffusion coordinate")
right.set_title(f"Rank correlation with arc length: {rank:.4f}")
plt.show()

"""The compiled loops of the search for the nearest center. Imported late, as ``compiled``."""

from __future__ import annotations

import numpy as np

from .compiled import _exact, squared_distance


@_exact
def nearest_of_products(products, norms, center_norms, margins, X, C, labels, squared):
    """The nearest center of each row, the first of equals, and its squared distance.

    ``products`` are inner products of shifted rows and centers. Centers whose distance by them
    is within ``margins[i]`` of the smallest are compared by differences. NaN rules nothing out.
    """
    for i in range(products.shape[0]):
        least = np.inf
        for j in range(products.shape[1]):
            least = min(least, norms[i] + center_norms[j] - 2 * products[i, j])
        limit = least + margins[i]
        squared[i] = np.inf
        labels[i] = 0
        for j in range(products.shape[1]):
            if not norms[i] + center_norms[j] - 2 * products[i, j] > limit:
                distance = squared_distance(X, i, C, j)
                if distance < squared[i]:
                    labels[i], squared[i] = j, distance


@_exact
def distances_to_labels(X, C, labels, squared):
    """Squared distance of each row to the center that its label names."""
    for i in range(X.shape[0]):
        squared[i] = squared_distance(X, i, C, labels[i])

"""The compiled loop of the minimum spanning tree. Imported late, as ``compiled``."""

from __future__ import annotations

import numpy as np

from .compiled import _exact, squared_distance


@_exact
def spanning_tree(C, squared):
    """Squared lengths of the links of the minimum spanning tree, by Prim's algorithm."""
    m = C.shape[0]
    left = np.arange(m)  # left[:count] are the points outside the tree
    nearest = np.full(m, np.inf)  # their squared distances to it
    newest = m - 1
    for count in range(m - 1, 0, -1):
        best = 0
        for a in range(count):
            distance = squared_distance(C, left[a], C, newest)
            if distance < nearest[a]:
                nearest[a] = distance
            if nearest[a] < nearest[best]:
                best = a
        newest = left[best]
        squared[count - 1] = nearest[best]
        left[best] = left[count - 1]
        nearest[best] = nearest[count - 1]

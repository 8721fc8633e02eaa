"""How far apart points lie: the links of their minimum spanning tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]


def longest_links(C: Array) -> NDArray[np.float64]:
    """Lengths of the links of the minimum spanning tree of the points, longest first.

    Points that may step as far as the p-th longest are in at most p pieces. Memory of O(m).
    """
    from .compiled_links import spanning_tree

    squared = np.empty(max(len(C) - 1, 0))
    spanning_tree(np.ascontiguousarray(C, dtype=np.float64), squared)
    return np.sqrt(np.sort(squared)[::-1])

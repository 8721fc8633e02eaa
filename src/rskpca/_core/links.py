"""Edge lengths of the minimum spanning tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]


def longest_links(C: Array) -> NDArray[np.float64]:
    """Return the edge lengths of the minimum spanning tree of the points, longest first.

    Linking all points closer than the p-th longest edge, inclusive, leaves at most p components.
    Memory is O(m).
    """
    from .compiled import spanning_tree

    squared = np.empty(max(len(C) - 1, 0))
    spanning_tree(np.ascontiguousarray(C, dtype=np.float64), squared)
    return np.sqrt(np.sort(squared)[::-1])

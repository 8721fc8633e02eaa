"""A block of distances in one call: threads wait for each other at the interpreter's lock, and so
meet there as seldom as they can. Imported late, as ``compiled``."""

from __future__ import annotations

import numpy as np

from .compiled import _exact, finish_distances, scale_rows


@_exact
def distance_block(X, origin, scale, C, center_norms, near, large, sign, rows, norms, block):
    """block = sign * squared distances of X to C, in units of 1 / scale.

    The centers C are scaled already, about the origin; rows and norms are memory for X likewise.
    """
    scale_rows(X, origin, scale, rows, norms)
    np.dot(rows, C.T, block)
    finish_distances(block, rows, C, norms, center_norms, near, large, sign)

"""The idx format of mnist: two zeros, a type, the number of axes, their lengths, the values."""

from __future__ import annotations

import math
import struct

import numpy as np
from numpy.typing import NDArray

UNSIGNED_BYTE = 8


def read_idx(content: bytes) -> NDArray[np.uint8]:
    """The array in an idx file of bytes."""
    zeros, kind, n_axes = struct.unpack_from(">HBB", content)
    if zeros != 0 or kind != UNSIGNED_BYTE:
        raise ValueError(f"no idx file of bytes: it starts with {content[:4].hex()}.")
    shape = struct.unpack_from(f">{n_axes}I", content, 4)
    start = 4 + 4 * n_axes
    if len(content) - start != math.prod(shape):
        raise ValueError(f"an idx file of shape {shape} with {len(content) - start} values.")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)

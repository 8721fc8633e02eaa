"""Random numbers that are spread more evenly than by chance alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]


def stratified(shape: tuple[int, ...], generator: np.random.Generator) -> Array:
    """Uniform numbers, one in each interval of length 1 / shape[-1], in random order."""
    intervals = generator.permuted(np.broadcast_to(np.arange(shape[-1]), shape), axis=-1)
    return (intervals + generator.random(shape)) / shape[-1]


def directions(shape: tuple[int, ...], n_features: int, generator: np.random.Generator) -> Array:
    """Unit vectors, uniform on the sphere."""
    normal = generator.standard_normal((*shape, n_features))
    return normal / np.linalg.norm(normal, axis=-1, keepdims=True)

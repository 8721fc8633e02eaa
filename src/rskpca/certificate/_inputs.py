"""Inputs shared by the theorems: a radius and normalized weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from ..kernels import RadialKernel

Array = NDArray[np.floating]


def resolve_radius(kernel: RadialKernel, ell: float | None, radius: float | None) -> float:
    """Return epsilon, which is sigma / ell or the given radius."""
    if (ell is None) == (radius is None):
        raise ValueError(
            f"Pass either ell or radius, but not both; got ell={ell!r}, radius={radius!r}."
        )
    if ell is not None:
        return kernel.scale / check.positive_number("ell", ell, infinite=True)
    if radius == 0:
        return 0.0
    return check.positive_number("radius", radius)


def normalized_weights(X: Array, sample_weight: Array | None) -> Array:
    """Return the weights of the rows, normalized to sum to one."""
    weights = check.sample_weights(sample_weight, X.shape[0])
    return weights / weights.sum()

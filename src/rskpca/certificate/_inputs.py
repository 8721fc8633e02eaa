"""What the theorems take: an ell or a radius, and weights that sum to one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from ..kernels import RadialKernel

Array = NDArray[np.floating]


def radius_of(kernel: RadialKernel, ell: float | None, radius: float | None) -> float:
    """epsilon = sigma / ell, or the radius where that is given."""
    if (ell is None) == (radius is None):
        raise ValueError(f"give ell or radius, one of them: got ell={ell!r}, radius={radius!r}.")
    if ell is not None:
        return kernel.scale / check.positive_number("ell", ell, infinite=True)
    if radius == 0:
        return 0.0
    return check.positive_number("radius", radius)


def shares(X: Array, sample_weight: Array | None) -> Array:
    """Weights of the rows that sum to one."""
    weights = check.sample_weights(sample_weight, len(X))
    return weights / weights.sum()

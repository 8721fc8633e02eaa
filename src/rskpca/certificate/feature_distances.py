"""Guaranteed bounds from distances in feature space, for kernels that are not radial.

With delta = psi(x) - psi(c), ||psi psi' - psi_c psi_c'|| <= (2 ||psi_c|| + ||delta||) ||delta||.
Theorems 5.1, 5.3 and 5.4 follow from this without reference to a profile. Centering subtracts the
outer product of the mean, to which the same inequality applies.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels import AnyKernel
from ..reduced_set import ReducedSet
from .levels import Level

Array = NDArray[np.floating]

_UNKNOWN = "the distances between rows and centers in feature space are unknown"


def in_feature_space(kernel: AnyKernel, reduced_set: ReducedSet, *, center: bool) -> list[Level]:
    """Return the levels of the radius and of the recorded distances."""
    radius, weights = reduced_set.radius, reduced_set.weights
    meanings = (
        ("a priori", "the radius in feature space"),
        ("a posteriori", "distances in feature space, recorded during the fit"),
    )
    displacement, scatter = reduced_set.displacement, reduced_set.scatter
    known = reduced_set.in_feature_space or radius == 0
    if not known or radius is None or displacement is None or scatter is None:
        return [Level(name, None, None, None, 1.0, text, _UNKNOWN) for name, text in meanings]
    lengths = np.sqrt(kernel.diagonal(reduced_set.centers))
    sums = (weights * radius, weights * radius**2), (displacement, scatter)
    return [
        Level(name, *_bounds(lengths, weights, *found, center=center), 1.0, meaning)
        for (name, meaning), found in zip(meanings, sums, strict=True)
    ]


def _bounds(
    lengths: Array, weights: Array, displacement: Array, scatter: Array, *, center: bool
) -> tuple[float, float, float]:
    """Bound the MMD, the operator and the eigenvalues, given sums of ||delta|| per center."""
    n = float(weights.sum())
    mmd = float(displacement.sum()) / n
    operator = float(2 * lengths @ displacement + scatter.sum()) / n
    if center:
        operator += (2 * float(weights @ lengths) / n + mmd) * mmd
    return mmd, operator, operator

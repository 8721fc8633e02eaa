"""The parameter ``basis``: the points that ``transform`` evaluates the kernel at."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .. import _validation as check
from .._validation import Rows
from ..density import BaseDensity
from ..density._base import claim_kernel
from ..kernels import RadialKernel
from ..reduced_set import ReducedSet
from ..spectral.basis import spanning
from ._base import Array

# Relative error of the coordinates that is small whatever else is known.
SMALL = 2e-3
_SHARE = 0.15  # of the error of the reduced set, that a basis may add


def check_basis(basis: Any) -> None:
    """None, "auto", a share, a whole number, a density or a ReducedSet."""
    if isinstance(basis, str) and basis != "auto":
        raise ValueError(
            f'basis must be None, "auto", a number, a density or a ReducedSet, got {basis!r}.'
        )
    if isinstance(basis, float | np.floating) and not 0 < basis <= 1:
        raise ValueError(
            f"basis={basis!r}: a float is a share of the centers, above 0 and at most 1; a "
            "number of points is a whole number."
        )
    numbers = float, np.floating, Integral
    if basis is not None and not isinstance(basis, (str, *numbers, BaseDensity, ReducedSet)):
        raise TypeError(
            'basis must be None, "auto", a number, a density or a ReducedSet, '
            f"got {type(basis).__name__}."
        )
    if isinstance(basis, Integral | bool):
        check.positive_integer("basis", basis)


def basis_points(
    basis: Any,
    kernel: RadialKernel,
    reduced_set: ReducedSet,
    sufficient: Callable[[], NDArray[np.intp]],
) -> Array:
    """The points that a checked ``basis`` names; ``sufficient`` finds those of "auto"."""
    centers, m = reduced_set.centers, reduced_set.n_centers
    if basis is None:
        return centers
    if isinstance(basis, BaseDensity):
        if m == 1:
            return centers
        density = clone(basis)
        claim_kernel(density, (kernel, None, None), "embedding")
        rows = Rows(centers, reduced_set.weights, weighted=True)
        return density.summarize(rows, kernel).reduced_set_.centers
    if isinstance(basis, ReducedSet):
        return _of_width(basis.centers, centers)
    if isinstance(basis, str):
        return centers[sufficient()]
    size = math.ceil(basis * m) if isinstance(basis, float | np.floating) else min(basis, m)
    return centers[spanning(kernel, reduced_set, size)]


def tolerable(kernel: RadialKernel, reduced_set: ReducedSet) -> float:
    """An error of the coordinates that adds little to what the reduced set causes itself.

    Some 15% of two parts. Half of 1 - phi / kappa at the mean squared distance from the center
    in bandwidths, the bias, which is of second order for kernels with a cusp too: but for the
    few pairs of one center the first-order terms cancel. And the net displacement of each
    center's points in bandwidths, as if independent of the others'.
    """
    n, scatter, displacement = (
        reduced_set.n_samples, reduced_set.scatter, reduced_set.displacement,
    )  # fmt: skip
    if scatter is None or displacement is None:
        return SMALL
    squared = np.float64(scatter.sum() / n / kernel.scale**2)
    bias = 0.5 * (1 - float(kernel.profile(squared ** max(kernel.power / 2, 1))) / kernel.kappa)
    spread = np.linalg.norm(displacement) / n / kernel.scale
    return max(_SHARE * float(np.hypot(bias, spread)), 1e-6)


def _of_width(points: Array, centers: Array) -> Array:
    if points.shape[1] != centers.shape[1]:
        raise ValueError(
            f"basis has {points.shape[1]} features, but the data have {centers.shape[1]}; "
            "both must come from the same columns."
        )
    return points.astype(centers.dtype)

"""The ``basis`` parameter: the points at which ``transform`` evaluates the kernel."""

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
from ..kernels import AnyKernel, RadialKernel
from ..reduced_set import ReducedSet
from ..spectral.basis import spanning
from ._base import Array

# Relative coordinate error that is acceptable for every reduced set.
SMALL = 2e-3
MODEST = 1e-2  # the same for data that do not compress, where a smaller error is costly
_SHARE = 0.15  # error that a basis may add, as a fraction of the reduced set's error


def check_basis(basis: Any, names: tuple[str, ...] = ("auto",)) -> None:
    """Check that basis is None, a known name, a fraction, an integer, a density or a ReducedSet."""
    if isinstance(basis, str) and basis not in names:
        known = ", ".join(f'"{name}"' for name in names)
        raise ValueError(
            f"basis must be None, {known}, a number, a density or a ReducedSet, got {basis!r}."
        )
    if isinstance(basis, float | np.floating) and not 0 < basis <= 1:
        raise ValueError(
            f"basis must be above 0 and at most 1 if it is a float, got {basis!r}. A float is a "
            "fraction of the centers. Pass an integer to set the number of points."
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
    sufficient: Callable[[], NDArray[np.intp]] | None = None,
) -> Array:
    """Return the points for a validated ``basis``; ``sufficient`` selects them for "auto"."""
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
        return _check_width(basis.centers, centers)
    if sufficient is not None and isinstance(basis, str):
        chosen = sufficient()
        return centers if len(chosen) == m else centers[chosen]
    size = math.ceil(basis * m) if isinstance(basis, float | np.floating) else min(basis, m)
    return centers[spanning(kernel, reduced_set, size)]


def tolerable(kernel: AnyKernel, reduced_set: ReducedSet) -> float:
    """Return a coordinate error that adds little to the error of the reduced set.

    It is 15% of the root sum of squares of two terms. The first is a bias, half of 1 - phi / kappa
    at the mean squared distance between rows and centers. It is of second order even for kernels
    with a cusp, because first-order terms cancel except for pairs with the same center. The second
    is the net displacement of the rows of each center, assumed independent across centers. Lengths
    are measured in units of the bandwidth.
    """
    n, scatter, displacement = (
        reduced_set.n_samples, reduced_set.scatter, reduced_set.displacement,
    )  # fmt: skip
    if scatter is None or displacement is None:
        return SMALL
    if not isinstance(kernel, RadialKernel):  # squared distances in H are 2 (kappa - k)
        kappa = float(reduced_set.weights @ kernel.diagonal(reduced_set.centers)) / n
        bias, spread = scatter.sum() / n / (4 * kappa), np.linalg.norm(displacement) / n
        return max(_SHARE * float(np.hypot(bias, spread / np.sqrt(2 * kappa))), 1e-6)
    squared = np.float64(scatter.sum() / n / kernel.scale**2)
    bias = 0.5 * (1 - float(kernel.profile(squared ** max(kernel.power / 2, 1))) / kernel.kappa)
    spread = np.linalg.norm(displacement) / n / kernel.scale
    return max(_SHARE * float(np.hypot(bias, spread)), 1e-6)


def _check_width(points: Array, centers: Array) -> Array:
    if points.shape[1] != centers.shape[1]:
        raise ValueError(
            f"basis must have {centers.shape[1]} features, like the data, got {points.shape[1]}. "
            "Compute both from the same columns."
        )
    return points.astype(centers.dtype)

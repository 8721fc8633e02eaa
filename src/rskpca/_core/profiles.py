"""Helpers for the profiles of radial kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]


def powered(values: Array, exponent: float) -> Array:
    """Return values^exponent; square roots are taken in place."""
    if exponent == 1:
        return values
    return np.sqrt(values, out=values) if exponent == 0.5 else np.power(values, exponent)


def steepest(profile: Callable[[Any], Any], power: float) -> tuple[float, float]:
    """Return the largest slope and the largest step up of u -> profile(u^power) on a grid."""
    u = np.unique(np.concatenate([np.linspace(0, 8, 2049), np.geomspace(1e-3, 1e3, 2048)]))
    with np.errstate(all="ignore"):
        steps = np.diff(profile(u**power))
        slopes = np.abs(steps) / np.maximum(np.diff(u), 1e-6)
    return float(np.nanmax(slopes, initial=0.0)), float(np.nanmax(steps, initial=0.0))


class Squared:
    """The profile phi^2 as an object that can be pickled."""

    def __init__(self, profile: Callable[[Any], Any]) -> None:
        self.profile = profile

    def __call__(self, s: Any) -> Any:
        return self.profile(s) ** 2

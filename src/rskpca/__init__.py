"""Kernel manifold learning on a reduced set of the data.

A single pass over the data produces a small weighted set of points, the reduced set. The
eigenproblem is solved on this set, and new points are embedded with it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .certificate import Certificate
from .density import (
    FadingDensity,
    FastParzenDensity,
    HerdingDensity,
    KMeansDensity,
    ParingDensity,
    ReweightedDensity,
    ShadowDensity,
    WindowDensity,
    merge,
)
from .embedding import (
    DiffusionMaps,
    KernelPCANovelty,
    LaplacianEigenmaps,
    NormalizedCut,
    NystromKernelPCA,
    ReducedSetKernelPCA,
    select_reduced_set,
)
from .kernels import Gaussian, Laplacian, RadialKernel
from .planning import plan
from .reduced_set import ReducedSet

if TYPE_CHECKING:
    from .io import load, save

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "DiffusionMaps",
    "FadingDensity",
    "FastParzenDensity",
    "Gaussian",
    "HerdingDensity",
    "KMeansDensity",
    "KernelPCANovelty",
    "Laplacian",
    "LaplacianEigenmaps",
    "NormalizedCut",
    "NystromKernelPCA",
    "ParingDensity",
    "RadialKernel",
    "ReducedSet",
    "ReducedSetKernelPCA",
    "ReweightedDensity",
    "ShadowDensity",
    "WindowDensity",
    "load",
    "merge",
    "plan",
    "save",
    "select_reduced_set",
]

_LATE = {"load": "io", "save": "io"}  # imported on first use


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_LATE[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})

"""Kernel manifold learning on a reduced set of the data.

A single pass over the data produces a small weighted set of points, the reduced set. The
eigenproblem is solved on this set, and new points are embedded with it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
        KernelPCA,
        KernelPCANovelty,
        LaplacianEigenmaps,
        NormalizedCut,
        NystromKernelPCA,
        ReducedSetKernelPCA,
        select_reduced_set,
    )
    from .io import load, save
    from .kernels import Gaussian, Laplacian, RadialKernel
    from .planning.plan import plan
    from .reduced_set import ReducedSet

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "DiffusionMaps",
    "FadingDensity",
    "FastParzenDensity",
    "Gaussian",
    "HerdingDensity",
    "KMeansDensity",
    "KernelPCA",
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

# Names are imported on first use, so that the command line can print its help without delay.
_MODULES = {
    "certificate": ["Certificate"],
    "density": [
        "FadingDensity",
        "FastParzenDensity",
        "HerdingDensity",
        "KMeansDensity",
        "ParingDensity",
        "ReweightedDensity",
        "ShadowDensity",
        "WindowDensity",
        "merge",
    ],
    "embedding": [
        "DiffusionMaps",
        "KernelPCA",
        "KernelPCANovelty",
        "LaplacianEigenmaps",
        "NormalizedCut",
        "NystromKernelPCA",
        "ReducedSetKernelPCA",
        "select_reduced_set",
    ],
    "io": ["load", "save"],
    "kernels": ["Gaussian", "Laplacian", "RadialKernel"],
    "planning": ["plan"],
    "reduced_set": ["ReducedSet"],
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])

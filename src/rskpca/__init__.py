"""Kernel manifold learning on a reduced set of the data.

One pass over the data leaves a small weighted set of points, the reduced set; the
eigenproblem is solved on that set, and new points are embedded from it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .bounds import Certificate
from .compression import (
    CompressedKernelPCA,
    SparseKernelPCA,
    compress_map,
    construct_reduced_set,
    select_reduced_set,
)
from .density import (
    FadingDensity,
    FastParzenDensity,
    HerdingDensity,
    KMeansDensity,
    ParingDensity,
    ReweightedDensity,
    ShadowDensity,
    UniformDensity,
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
    SubsampledKernelPCA,
    WeightedNystromKernelPCA,
)
from .kernels import Gaussian, Laplacian, RadialKernel
from .planning import Plan, plan
from .reduced_set import ReducedSet

if TYPE_CHECKING:
    from .io import load, save

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "CompressedKernelPCA",
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
    "Plan",
    "RadialKernel",
    "ReducedSet",
    "ReducedSetKernelPCA",
    "ReweightedDensity",
    "ShadowDensity",
    "SparseKernelPCA",
    "SubsampledKernelPCA",
    "UniformDensity",
    "WeightedNystromKernelPCA",
    "WindowDensity",
    "compress_map",
    "construct_reduced_set",
    "load",
    "merge",
    "plan",
    "save",
    "select_reduced_set",
    "to_onnx",
]

_LATE = {"load": "io", "save": "io", "to_onnx": "onnx"}  # what few programs need, by its module


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_LATE[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})

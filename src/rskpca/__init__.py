"""Kernel manifold learning on a reduced set of the data.

One pass over the data leaves a small weighted set of points, the reduced set; the
eigenproblem is solved on that set, and new points are embedded from it.
"""

from .density import (
    FastParzenDensity,
    HerdingDensity,
    KMeansDensity,
    ParingDensity,
    ReweightedDensity,
    ShadowDensity,
    UniformDensity,
)
from .embedding import (
    NystromKernelPCA,
    ReducedSetKernelPCA,
    SubsampledKernelPCA,
    WeightedNystromKernelPCA,
)
from .kernels import Gaussian, Laplacian, RadialKernel
from .reduced_set import ReducedSet

__version__ = "0.1.0"

__all__ = [
    "FastParzenDensity",
    "Gaussian",
    "HerdingDensity",
    "KMeansDensity",
    "Laplacian",
    "NystromKernelPCA",
    "ParingDensity",
    "RadialKernel",
    "ReducedSet",
    "ReducedSetKernelPCA",
    "ReweightedDensity",
    "ShadowDensity",
    "SubsampledKernelPCA",
    "UniformDensity",
    "WeightedNystromKernelPCA",
]

"""Kernel manifold learning on a reduced set of the data.

One pass over the data leaves a small weighted set of points, the reduced set; the
eigenproblem is solved on that set, and new points are embedded from it.
"""

from .bounds import Certificate
from .density import ShadowDensity
from .embedding import ReducedSetKernelPCA
from .kernels import Gaussian, Laplacian, RadialKernel
from .reduced_set import ReducedSet

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "Gaussian",
    "Laplacian",
    "RadialKernel",
    "ReducedSet",
    "ReducedSetKernelPCA",
    "ShadowDensity",
]

"""Baseline methods from the comparison in the paper by Kingravi, Vela and Gray (2013).

They are tested and documented so that the comparison can be reproduced. For new work, use
:class:`~rskpca.ReducedSetKernelPCA` or :class:`~rskpca.NystromKernelPCA`, which are faster and
more accurate with the same number of points.
"""

from .construction import construct_reduced_set
from .densities import SampledParingDensity, UniformDensity
from .landmarks import IncompleteCholeskyKernelPCA, WeightedNystromKernelPCA
from .map_compression import RadialBasisMap, compress_map, learn_map
from .randomized import ProjectedKernelPCA, SampledKernelPCA
from .sparse import SparseKernelPCA
from .subsampled import SubsampledKernelPCA

__all__ = [
    "IncompleteCholeskyKernelPCA",
    "ProjectedKernelPCA",
    "RadialBasisMap",
    "SampledKernelPCA",
    "SampledParingDensity",
    "SparseKernelPCA",
    "SubsampledKernelPCA",
    "UniformDensity",
    "WeightedNystromKernelPCA",
    "compress_map",
    "construct_reduced_set",
    "learn_map",
]

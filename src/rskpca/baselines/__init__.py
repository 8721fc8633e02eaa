"""Baseline methods from the paper's comparison.

They are tested and documented so that the comparison can be reproduced. For new work, use
:class:`~rskpca.ReducedSetKernelPCA` or :class:`~rskpca.NystromKernelPCA`, which are faster and
more accurate with the same number of points.
"""

from .construction import construct_reduced_set
from .network import compress_map
from .sparse import SparseKernelPCA
from .subsampled import SubsampledKernelPCA
from .uniform import UniformDensity
from .weighted_nystrom import WeightedNystromKernelPCA

__all__ = [
    "SparseKernelPCA",
    "SubsampledKernelPCA",
    "UniformDensity",
    "WeightedNystromKernelPCA",
    "compress_map",
    "construct_reduced_set",
]

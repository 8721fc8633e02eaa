"""Baseline methods from the paper's comparison.

They are tested and documented so that the comparison can be reproduced. For new work, use
:class:`~rskpca.ReducedSetKernelPCA` or :class:`~rskpca.NystromKernelPCA`, which are faster and
more accurate with the same number of points.
"""

from .construction import construct_reduced_set
from .incomplete_cholesky import IncompleteCholeskyKernelPCA
from .learned_map import RadialBasisMap, learn_map
from .network import compress_map
from .pared import SampledParingDensity
from .randomized import ProjectedKernelPCA, SampledKernelPCA
from .sparse import SparseKernelPCA
from .subsampled import SubsampledKernelPCA
from .uniform import UniformDensity
from .weighted_nystrom import WeightedNystromKernelPCA

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

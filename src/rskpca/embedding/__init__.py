"""scikit-learn estimators: density.fit, spectral.solve, extend."""

from ._base import KernelEmbedding, ReducedSetEmbedding
from ._principal import PrincipalComponents
from .diffusion_maps import DiffusionMaps
from .kernel_pca import ReducedSetKernelPCA
from .laplacian_eigenmaps import LaplacianEigenmaps
from .normalized_cut import NormalizedCut
from .novelty import KernelPCANovelty
from .nystrom import NystromKernelPCA
from .subsampled import SubsampledKernelPCA
from .weighted_nystrom import WeightedNystromKernelPCA

__all__ = [
    "DiffusionMaps",
    "KernelEmbedding",
    "KernelPCANovelty",
    "LaplacianEigenmaps",
    "NormalizedCut",
    "NystromKernelPCA",
    "PrincipalComponents",
    "ReducedSetEmbedding",
    "ReducedSetKernelPCA",
    "SubsampledKernelPCA",
    "WeightedNystromKernelPCA",
]

"""scikit-learn estimators: density.fit, spectral.solve, extend."""

from ._base import KernelEmbedding, ReducedSetEmbedding
from ._principal import PrincipalComponents
from .kernel_pca import ReducedSetKernelPCA
from .novelty import KernelPCANovelty
from .nystrom import NystromKernelPCA, WeightedNystromKernelPCA
from .subsampled import SubsampledKernelPCA

__all__ = [
    "KernelEmbedding",
    "KernelPCANovelty",
    "NystromKernelPCA",
    "PrincipalComponents",
    "ReducedSetEmbedding",
    "ReducedSetKernelPCA",
    "SubsampledKernelPCA",
    "WeightedNystromKernelPCA",
]

"""scikit-learn estimators: density.fit, spectral.solve, extend."""

from ._base import KernelEmbedding, ReducedSetEmbedding
from .kernel_pca import KernelPCAMixin, ReducedSetKernelPCA
from .nystrom import NystromKernelPCA, WeightedNystromKernelPCA
from .subsampled import SubsampledKernelPCA

__all__ = [
    "KernelEmbedding",
    "KernelPCAMixin",
    "NystromKernelPCA",
    "ReducedSetEmbedding",
    "ReducedSetKernelPCA",
    "SubsampledKernelPCA",
    "WeightedNystromKernelPCA",
]

"""scikit-learn estimators: density.fit, spectral.solve, extend."""

from .kernel_pca import ReducedSetKernelPCA
from .nystrom import NystromKernelPCA, WeightedNystromKernelPCA
from .subsampled import SubsampledKernelPCA

__all__ = [
    "NystromKernelPCA",
    "ReducedSetKernelPCA",
    "SubsampledKernelPCA",
    "WeightedNystromKernelPCA",
]

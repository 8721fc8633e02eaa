"""scikit-learn estimators: density.fit, spectral.solve, extend."""

from .kernel_pca import ReducedSetKernelPCA
from .novelty import KernelPCANovelty

__all__ = ["KernelPCANovelty", "ReducedSetKernelPCA"]

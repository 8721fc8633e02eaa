"""scikit-learn estimators: density.fit, spectral.solve, extend."""

from .kernel_pca import ReducedSetKernelPCA

__all__ = ["ReducedSetKernelPCA"]

"""scikit-learn estimators: density.fit, spectral.solve, extend."""

from .diffusion_maps import DiffusionMaps
from .kernel_pca import ReducedSetKernelPCA
from .laplacian_eigenmaps import LaplacianEigenmaps

__all__ = ["DiffusionMaps", "LaplacianEigenmaps", "ReducedSetKernelPCA"]

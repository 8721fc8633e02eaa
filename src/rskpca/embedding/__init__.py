"""scikit-learn estimators: density.fit, spectral.solve, extend."""

from .diffusion_maps import DiffusionMaps
from .kernel_pca import ReducedSetKernelPCA
from .laplacian_eigenmaps import LaplacianEigenmaps
from .normalized_cut import NormalizedCut

__all__ = ["DiffusionMaps", "LaplacianEigenmaps", "NormalizedCut", "ReducedSetKernelPCA"]

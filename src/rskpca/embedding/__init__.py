"""scikit-learn estimators that summarize data, solve an eigenproblem and embed new points."""

from .._validation import validate_rows
from ._base import KernelEmbedding
from .compressed import CompressedKernelPCA
from .diffusion_maps import DiffusionMaps
from .drop_in import KernelPCA
from .kernel_pca import ReducedSetKernelPCA
from .laplacian_eigenmaps import LaplacianEigenmaps
from .normalized_cut import NormalizedCut
from .novelty import KernelPCANovelty
from .nystrom import NystromKernelPCA
from .selection import select_reduced_set

__all__ = [
    "CompressedKernelPCA",
    "DiffusionMaps",
    "KernelEmbedding",
    "KernelPCA",
    "KernelPCANovelty",
    "LaplacianEigenmaps",
    "NormalizedCut",
    "NystromKernelPCA",
    "ReducedSetKernelPCA",
    "select_reduced_set",
    "validate_rows",
]

"""Reduction after training: a kernel PCA that is known, on fewer points."""

from .compressed import CompressedKernelPCA
from .construction import construct_reduced_set
from .network import compress_map
from .selection import select_reduced_set
from .sparse import SparseKernelPCA

__all__ = [
    "CompressedKernelPCA",
    "SparseKernelPCA",
    "compress_map",
    "construct_reduced_set",
    "select_reduced_set",
]

"""Drivers for data larger than memory: files, folders, streams; Dask in ``scaling.dask``."""

from .applying import predict, transform
from .fitting import fit
from .standardizing import standardized

__all__ = ["fit", "predict", "standardized", "transform"]

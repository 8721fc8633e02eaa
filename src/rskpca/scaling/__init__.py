"""Fit and apply models on data larger than memory. For clusters, see ``scaling.dask``."""

from .applying import predict, transform
from .fitting import fit
from .standardizing import standardized

__all__ = ["fit", "predict", "standardized", "transform"]

"""Fit models to data larger than memory, and apply them. For clusters, see ``scaling.dask``."""

from .applying import predict, transform
from .fitting import fit
from .standardizing import standardized

__all__ = ["fit", "predict", "standardized", "transform"]

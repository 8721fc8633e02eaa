"""Sections 3 and 4: density estimators, X -> ReducedSet."""

from ._base import BaseDensity
from ._batch import BatchDensity, Choice
from .herding import HerdingDensity
from .kmeans import KMeansDensity
from .paring import ParingDensity
from .parzen import FastParzenDensity
from .reweighted import ReweightedDensity
from .shadow import ShadowDensity
from .uniform import UniformDensity

__all__ = [
    "BaseDensity",
    "BatchDensity",
    "Choice",
    "FastParzenDensity",
    "HerdingDensity",
    "KMeansDensity",
    "ParingDensity",
    "ReweightedDensity",
    "ShadowDensity",
    "UniformDensity",
]

"""Density estimators (sections 3 and 4 of the paper), which summarize X as a ReducedSet."""

from ._base import BaseDensity
from ._batch import BatchDensity, Choice
from .fading import FadingDensity
from .herding import HerdingDensity
from .kmeans import KMeansDensity
from .merging import merge
from .paring import ParingDensity
from .parzen import FastParzenDensity
from .reweighted import ReweightedDensity
from .shadow import ShadowDensity
from .window import WindowDensity

__all__ = [
    "BaseDensity",
    "BatchDensity",
    "Choice",
    "FadingDensity",
    "FastParzenDensity",
    "HerdingDensity",
    "KMeansDensity",
    "ParingDensity",
    "ReweightedDensity",
    "ShadowDensity",
    "WindowDensity",
    "merge",
]

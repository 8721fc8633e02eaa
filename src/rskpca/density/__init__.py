"""Sections 3 and 4: density estimators, X -> ReducedSet."""

from ._base import BaseDensity
from .shadow import ShadowDensity

__all__ = ["BaseDensity", "ShadowDensity"]

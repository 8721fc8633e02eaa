"""Eigenvalues and eigenfunctions of operators on a reduced set (section 3 of the paper)."""

from .bias import corrected_eigenvalues
from .diffusion import Diffusion, FittedMarkov, NormalizedLaplacian
from .eigensystem import EigenSystem, solve
from .feature_space import FeatureSpace
from .nystrom import nystrom
from .operators import (
    Centered,
    FittedCentered,
    FittedOperator,
    Multiplied,
    Operator,
    Plain,
    Shifted,
)
from .ritz import Moments, ritz

__all__ = [
    "Centered",
    "Diffusion",
    "EigenSystem",
    "FeatureSpace",
    "FittedCentered",
    "FittedMarkov",
    "FittedOperator",
    "Moments",
    "Multiplied",
    "NormalizedLaplacian",
    "Operator",
    "Plain",
    "Shifted",
    "corrected_eigenvalues",
    "nystrom",
    "ritz",
    "solve",
]

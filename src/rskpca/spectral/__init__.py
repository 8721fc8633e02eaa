"""Section 3: (operator, reduced set) -> eigenvalues and eigenfunctions."""

from .eigensystem import EigenSystem, solve
from .feature_space import FeatureSpace
from .nystrom import nystrom
from .operators import Centered, FittedCentered, FittedOperator, Operator, Plain, Shifted
from .ritz import Moments, ritz

__all__ = [
    "Centered",
    "EigenSystem",
    "FeatureSpace",
    "FittedCentered",
    "FittedOperator",
    "Moments",
    "Operator",
    "Plain",
    "Shifted",
    "nystrom",
    "ritz",
    "solve",
]

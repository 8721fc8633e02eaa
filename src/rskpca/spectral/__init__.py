"""Section 3: (operator, reduced set) -> eigenvalues and eigenfunctions."""

from .eigensystem import EigenSystem, solve
from .feature_space import FeatureSpace
from .operators import Centered, FittedOperator, Operator, Plain, Shifted
from .ritz import Moments, ritz

__all__ = [
    "Centered",
    "EigenSystem",
    "FeatureSpace",
    "FittedOperator",
    "Moments",
    "Operator",
    "Plain",
    "Shifted",
    "ritz",
    "solve",
]

"""Section 3: (operator, reduced set) -> eigenvalues and eigenfunctions."""

from .bias import corrected_eigenvalues
from .eigensystem import EigenSystem, solve
from .nystrom import nystrom
from .operators import Centered, FittedOperator, Operator, Plain, Shifted
from .ritz import Moments, ritz

__all__ = [
    "Centered",
    "EigenSystem",
    "FittedOperator",
    "Moments",
    "Operator",
    "Plain",
    "Shifted",
    "corrected_eigenvalues",
    "nystrom",
    "ritz",
    "solve",
]

"""Section 3: (operator, reduced set) -> eigenvalues and eigenfunctions."""

from .eigensystem import EigenSystem, solve
from .operators import Centered, FittedOperator, Operator, Plain

__all__ = ["Centered", "EigenSystem", "FittedOperator", "Operator", "Plain", "solve"]

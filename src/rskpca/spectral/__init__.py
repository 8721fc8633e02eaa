"""Section 3: (operator, reduced set) -> eigenvalues and eigenfunctions."""

from .operators import Centered, FittedOperator, Operator, Plain
from .solve import EigenSystem, solve

__all__ = ["Centered", "EigenSystem", "FittedOperator", "Operator", "Plain", "solve"]

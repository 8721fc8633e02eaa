"""Section 3: (operator, reduced set) -> eigenvalues and eigenfunctions."""

from .diffusion import Diffusion, FittedMarkov, NormalizedLaplacian
from .eigensystem import EigenSystem, solve
from .operators import Centered, FittedOperator, Multiplied, Operator, Plain, Shifted
from .ritz import Moments, ritz

__all__ = [
    "Centered",
    "Diffusion",
    "EigenSystem",
    "FittedMarkov",
    "FittedOperator",
    "Moments",
    "Multiplied",
    "NormalizedLaplacian",
    "Operator",
    "Plain",
    "Shifted",
    "ritz",
    "solve",
]

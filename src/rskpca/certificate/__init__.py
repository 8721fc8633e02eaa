"""The error bounds of section 5, with one module per theorem, and the certificate."""

from . import eigenspaces, eigenvalues, hilbert_schmidt, mmd
from .certificate import Certificate, certify, certify_walk
from .levels import Level
from .sampled import Analysis, RowErrors
from .walks import Walk, WalkAnalysis

__all__ = [
    "Analysis",
    "Certificate",
    "Level",
    "RowErrors",
    "Walk",
    "WalkAnalysis",
    "certify",
    "certify_walk",
    "eigenspaces",
    "eigenvalues",
    "hilbert_schmidt",
    "mmd",
]

"""The error bounds of section 5, with one module per theorem, and the certificate."""

from . import eigenspaces, eigenvalues, hilbert_schmidt, mmd
from .certificate import Certificate, certify
from .levels import Level
from .sampled import Analysis, RowErrors

__all__ = [
    "Analysis",
    "Certificate",
    "Level",
    "RowErrors",
    "certify",
    "eigenspaces",
    "eigenvalues",
    "hilbert_schmidt",
    "mmd",
]

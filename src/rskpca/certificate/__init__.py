"""Section 5: one file a theorem, the bound beside the measured value; and the certificate."""

from . import eigenspaces, eigenvalues, hilbert_schmidt, mmd
from .certificate import Certificate, certify
from .levels import Level

__all__ = [
    "Certificate",
    "Level",
    "certify",
    "eigenspaces",
    "eigenvalues",
    "hilbert_schmidt",
    "mmd",
]

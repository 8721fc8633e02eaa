"""A fitted model as one HTML file that needs no network to open."""

from .writing import build, write

__all__ = ["build", "write"]

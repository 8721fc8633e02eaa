"""Reports: a fitted model as one self-contained HTML file."""

from .writing import build, write

__all__ = ["build", "write"]

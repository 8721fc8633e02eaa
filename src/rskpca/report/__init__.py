"""Reports on fitted models, as self-contained HTML files."""

from .writing import build, write

__all__ = ["build", "write"]

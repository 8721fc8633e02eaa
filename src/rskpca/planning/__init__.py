"""Before the run: how many centers, how long, how much memory, how wrong."""

from .plan import plan
from .report import Plan, PlannedFit

__all__ = ["Plan", "PlannedFit", "plan"]

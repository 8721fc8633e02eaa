"""Predict the size, time, memory and error of a fit before running it."""

from .plan import plan
from .result import Plan, PlannedFit

__all__ = ["Plan", "PlannedFit", "plan"]

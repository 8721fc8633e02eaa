"""Every benchmark by name, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from .rows import Row

NAMES = (
    "cover",
    "transform",
    "fit",
    "accuracy",
    "manifold",
    "certificate",
    "methods",
    "weights",
    "frontier",
    "denoising",
    "novelty",
    "plan",
    "report",
    "window",
    "memory",
    "scale",
    "stream",
    "start",
    "threads",
    "dask_scale",
    "deployment",
)
BENCHMARKS: dict[str, Callable[[bool], list[Row]]] = {
    name: import_module(f"benchmarks.{name}").run for name in NAMES
}

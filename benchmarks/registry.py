"""Every benchmark by name, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable

from . import accuracy, cover, fit, frontier, memory, start, threads, transform
from .rows import Row

BENCHMARKS: dict[str, Callable[[bool], list[Row]]] = {
    module.__name__.rpartition(".")[2]: module.run
    for module in (cover, transform, fit, accuracy, frontier, memory, start, threads)
}

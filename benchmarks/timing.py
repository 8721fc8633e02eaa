"""Contenders take turns, so that whatever else the machine does hits all of them alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any, NamedTuple


class Timed(NamedTuple):
    """Median seconds of a contender, and what its last call returned."""

    seconds: float
    result: Any


def interleaved(
    contenders: Mapping[str, Callable[[], Any]], rounds: int, *, warm: bool = True
) -> dict[str, Timed]:
    """Call the contenders in turn, ``rounds`` times; ``warm`` adds a round that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    results = {}
    for _ in range(rounds + warm):
        for name, call in contenders.items():
            start = time.perf_counter()
            results[name] = call()
            seconds[name].append(time.perf_counter() - start)
    return {name: Timed(median(seconds[name][warm:]), results[name]) for name in contenders}

"""Interleaved timings, measurements in fresh processes, and process memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

# The threads of OpenBLAS occupy the cores for up to 0.1 s after a product, which slows down what
# runs next. Short calls are therefore repeated, and those before _SETTLED seconds are not timed.
_SETTLED, _REPEATED = 0.15, 0.3


class Timed(NamedTuple):
    """Median duration of a call in seconds, and its last return value."""

    seconds: float
    result: Any


def time_settled(call: Callable[[], Any]) -> Timed:
    """Time a call without the influence of earlier ones; repeat it if it is short."""
    calls: list[tuple[float, float]] = []
    begin = now = time.perf_counter()
    while not calls or now - begin < _REPEATED:
        start = now
        result = call()
        now = time.perf_counter()
        calls.append((start - begin, now - start))
    settled = [seconds for at, seconds in calls if at >= _SETTLED]
    return Timed(median(settled or [calls[-1][1]]), result)


def time_interleaved(
    contenders: Mapping[Any, Callable[[], Any]], rounds: int, *, warm: bool = True
) -> dict[Any, Timed]:
    """Time the contenders alternately, so that other load on the machine affects all of them.

    ``warm`` adds a warm-up round whose times are discarded.
    """
    seconds: dict[Any, list[float]] = {name: [] for name in contenders}
    results = {}
    for _ in range(rounds + warm):
        for name, call in contenders.items():
            taken, results[name] = time_settled(call)
            seconds[name].append(taken)
    return {name: Timed(median(seconds[name][warm:]), results[name]) for name in contenders}


def run_python(*arguments: str, environment: Mapping[str, str] | None = None) -> Any:
    """Run Python in a fresh process and return the JSON value that it prints last."""
    finished = subprocess.run(
        [sys.executable, *arguments],
        cwd=Path(__file__).parents[1],
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(finished.stdout.splitlines()[-1])


def process_memory(field: str) -> float:
    """Return ``VmRSS`` (current) or ``VmHWM`` (peak) of this process in megabytes."""
    status = Path("/proc/self/status")
    if not status.exists():  # on Linux, ru_maxrss would start from the peak of the parent
        import resource

        unit = 1e6 if sys.platform == "darwin" else 1e3
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    line = next(x for x in status.read_text().splitlines() if x.startswith(field))
    return int(line.split()[1]) * 1024 / 1e6

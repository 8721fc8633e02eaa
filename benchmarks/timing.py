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

# OpenBLAS threads keep spinning for up to 0.1 s after a product, which slows down what runs next.
_PAUSE = 0.15
_REPEATED = 0.15  # seconds for which short calls are repeated
METHOD = f"pauses of {_PAUSE} s"


class Timed(NamedTuple):
    """Median duration of a call in seconds, and its last return value."""

    seconds: float
    result: Any


def pause() -> None:
    """Wait until the threads of earlier calls have stopped."""
    time.sleep(_PAUSE)


def time_once(call: Callable[[], Any]) -> Timed:
    """Time one call after a pause."""
    pause()
    start = time.perf_counter()
    result = call()
    return Timed(time.perf_counter() - start, result)


def time_repeated(call: Callable[[], Any]) -> Timed:
    """Time a call after a pause; repeat it if it is short, and ignore the first time."""
    seconds, result = time_once(call)
    later: list[float] = []
    while seconds + sum(later) < _REPEATED:
        start = time.perf_counter()
        result = call()
        later.append(time.perf_counter() - start)
    return Timed(median(later or [seconds]), result)


def time_interleaved(
    contenders: Mapping[Any, Callable[[], Any]], rounds: int, *, warm: bool = True
) -> dict[Any, Timed]:
    """Time the contenders alternately, so that other load on the machine affects all of them.

    If ``warm`` is True, there is a warm-up round, and short calls are repeated. Otherwise, every
    call is timed.
    """
    seconds: dict[Any, list[float]] = {name: [] for name in contenders}
    results = {name: call() for name, call in contenders.items()} if warm else {}
    for _ in range(rounds):
        for name, call in contenders.items():
            taken, results[name] = time_repeated(call) if warm else time_once(call)
            seconds[name].append(taken)
    return {name: Timed(median(seconds[name]), results[name]) for name in contenders}


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

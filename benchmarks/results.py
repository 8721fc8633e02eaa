"""Benchmark result files: rows as JSON, with the command and the environment."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from experiments.results import atomic_write, describe_environment

from .rows import Row
from .timing import METHOD

FOLDER = Path(__file__).parent / "results"


def write(name: str, rows: Sequence[Row], folder: Path, arguments: Sequence[str]) -> None:
    """Write ``folder/name.json`` atomically."""
    content = {
        "benchmark": name,
        "command": " ".join(["python -m benchmarks", *arguments]),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "environment": describe_environment(),
        "timing": METHOD,
        "rows": [asdict(row) | {"met": row.met} for row in rows],
    }
    atomic_write(folder / f"{name}.json", f"{json.dumps(content, indent=2)}\n".encode())


class Store:
    """Store with one JSON file of measurements per data set, so that a run can be resumed.

    Parameters
    ----------
    benchmark : str
        Name of the benchmark and of its folder in ``results``.
    measure : callable
        Function that measures a data set and returns a JSON object.
    """

    def __init__(self, benchmark: str, measure: Callable[[str], dict[str, Any]]) -> None:
        self.benchmark, self._measure = benchmark, measure

    def path(self, name: str) -> Path:
        """Return the path of the file for a data set."""
        file = f"{name.partition(',')[0].replace(' ', '_')}.json"
        return FOLDER / self.benchmark / file

    def read(self, name: str) -> dict[str, Any] | None:
        """Return the stored measurements of a data set, or None if there are none."""
        path = self.path(name)
        return json.loads(path.read_text()) if path.exists() else None

    def measure(self, name: str) -> dict[str, Any]:
        """Measure a data set and store the result, with one list element per line."""
        start = time.perf_counter()
        found = self._measure(name) | {"timing": METHOD}
        fields = [f"{json.dumps(key)}: {_lines(value)}" for key, value in found.items()]
        content = "{\n" + ",\n".join(fields) + "\n}\n"
        atomic_write(self.path(name), content.encode())
        print(f"{self.benchmark}, {name}: {time.perf_counter() - start:.0f} s", flush=True)
        return json.loads(content)

    def get(self, name: str) -> dict[str, Any]:
        """Return the stored measurements, or measure the data set."""
        found = self.read(name)
        return self.measure(name) if found is None else found


def _lines(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n " + ",\n ".join(map(json.dumps, value)) + "\n]"
    return json.dumps(value)

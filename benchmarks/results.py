"""Benchmark result files: rows as JSON, with the command and the environment."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from experiments.results import atomic_write, describe_environment

from .rows import Row

FOLDER = Path(__file__).parent / "results"


def write(name: str, rows: Sequence[Row], folder: Path, arguments: Sequence[str]) -> None:
    """Write ``folder/name.json`` atomically."""
    content = {
        "benchmark": name,
        "command": " ".join(["python -m benchmarks", *arguments]),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "environment": describe_environment(),
        "rows": [asdict(row) | {"met": row.met} for row in rows],
    }
    atomic_write(folder / f"{name}.json", f"{json.dumps(content, indent=2)}\n".encode())

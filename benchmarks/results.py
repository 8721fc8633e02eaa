"""Rows as JSON, with what they depend on."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from .rows import Row

FOLDER = Path(__file__).parent / "results"
PACKAGES = ("rskpca", "numpy", "scipy", "scikit-learn", "numba")


def write(name: str, rows: Sequence[Row], folder: Path, arguments: Sequence[str]) -> Path:
    """Write ``folder/name.json``, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "benchmark": name,
        "command": " ".join(["python -m benchmarks", *arguments]),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "environment": environment(),
        "rows": [asdict(row) | {"met": row.met} for row in rows],
    }
    path = folder / f"{name}.json"
    unfinished = path.with_suffix(".tmp")
    unfinished.write_text(json.dumps(content, indent=2) + "\n")
    return unfinished.replace(path)


def environment() -> dict[str, object]:
    """Versions, and the processor."""
    versions = {name: version(name) for name in PACKAGES}
    return versions | {
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
        "cpu": _cpu_model(),
        "system": f"{sys.platform} {platform.machine()}",
    }


def _cpu_model() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())

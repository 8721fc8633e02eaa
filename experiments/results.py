"""Result files in JSON with settings and environment, atomic writes, and Markdown tables."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .experiment import SEED, Settings

PACKAGES = ("rskpca", "numpy", "scipy", "scikit-learn", "numba")


def atomic_write(path: Path, content: bytes) -> None:
    """Write a file completely or not at all, creating its folder if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.tmp")
    unfinished.write_bytes(content)
    unfinished.replace(path)


def write(path: Path, content: dict[str, Any]) -> None:
    """Write JSON with one line per dictionary entry."""
    atomic_write(path, f"{_dump(content)}\n".encode())


def read(path: Path, key: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """Return the content of a result file, or None if it is missing or has a different key."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is not valid JSON ({error}). Remove it and try again.") from error
    return content if key is None or content.get("key") == key else None


def load_or_compute(path: Path, key: dict[str, Any], compute: Callable[[], Any]) -> Any:
    """Return the numbers stored under this key, computing and storing them if necessary."""
    found = read(path, key)
    if found is None:
        found = {"key": key, "numbers": compute()}
        write(path, found)
    return found["numbers"]


def describe_run(
    name: str, settings: Settings, seconds: float, numbers: Any, missing: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the content of a result file.

    Missing data sets are part of the key, so that the next run recomputes the result.
    """
    return {
        "experiment": name,
        "command": settings.command,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 1),
        "environment": describe_environment(),
        "seed": SEED,
        "key": settings.key | ({"missing": list(missing)} if missing else {}),
        "numbers": numbers,
    }


def describe_environment() -> dict[str, object]:
    """Return package versions and the processor."""
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


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; each line ends with a newline."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |\n" for row in lines)


def _dump(value: Any, indent: str = "") -> str:
    """Return JSON with one line per dictionary entry and every list on a single line."""
    if isinstance(value, dict) and value:
        inner = indent + "  "
        lines = [f"{inner}{json.dumps(k)}: {_dump(v, inner)}" for k, v in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    return json.dumps(value, allow_nan=False)

"""Numbers as JSON, with what they depend on; whole files or none."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.results import environment

from .settings import SEED, Settings


def write(path: Path, content: dict[str, Any]) -> None:
    """Write the file, whole or not at all; one number list a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.tmp")
    unfinished.write_text(_compact(content) + "\n", encoding="utf-8")
    unfinished.replace(path)


def read(path: Path, key: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """What was written; None where nothing was, or with another key."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is no JSON ({error}); remove it, and run again.") from error
    return content if key is None or content.get("key") == key else None


def kept(path: Path, key: dict[str, Any], make: Callable[[], Any]) -> Any:
    """``make()``, or what it returned when it last ran with this key."""
    found = read(path, key)
    if found is None:
        found = {"key": key, "numbers": make()}
        write(path, found)
    return found["numbers"]


def finished(
    name: str, settings: Settings, seconds: float, numbers: Any, missing: Sequence[str] = ()
) -> dict[str, Any]:
    """The content of a result file; where data sets are missing the next run makes it anew."""
    return {
        "experiment": name,
        "command": settings.command,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 1),
        "environment": environment(),
        "seed": SEED,
        "key": settings.key | ({"missing": list(missing)} if missing else {}),
        "numbers": numbers,
    }


def _compact(value: Any, indent: str = "") -> str:
    """JSON with a line an entry; lists of plain values take one line."""
    if isinstance(value, dict) and value:
        inner = indent + "  "
        lines = [f"{inner}{json.dumps(k)}: {_compact(v, inner)}" for k, v in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    return json.dumps(value, allow_nan=False)

"""Atomic writes."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the name of a temporary file, which replaces ``path`` if no exception is raised.

    It is in the same directory and has the same suffix. Symbolic links are followed.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.stem}.{secrets.token_hex(8)}{target.suffix}")
    try:
        yield temporary
        _sync(temporary)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if os.name == "posix":
        _sync(target.parent)  # makes the new name durable


def _sync(path: Path) -> None:
    """Flush a file or directory to disk."""
    descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

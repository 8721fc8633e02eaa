"""Files that are whole or not there."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A name beside ``path`` for a new file, which takes its place unless something goes wrong.

    It ends as ``path`` does. A link is followed.
    """
    place = Path(os.path.realpath(path))
    beside = place.with_name(f".{place.stem}.{secrets.token_hex(8)}{place.suffix}")
    try:
        yield beside
        _sync(beside)
        os.replace(beside, place)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    if os.name == "posix":
        _sync(place.parent)  # the new name lasts through a loss of power too


def _sync(path: Path) -> None:
    """Have what was written reach the disk."""
    descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

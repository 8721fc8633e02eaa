"""Atomic file writes."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of a temporary file that replaces ``path`` if no exception is raised.

    The temporary file is created empty, in the same directory and with the same suffix. Symbolic
    links are followed. The permissions of an existing file are preserved, even during the write.
    Directories, devices and pipes are never replaced.
    """
    target = Path(os.path.realpath(path))
    mode = check_replaceable(target)
    temporary = target.with_name(f".{target.stem}.{secrets.token_hex(8)}{target.suffix}")
    try:
        _create(temporary, mode)
        yield temporary
        if mode is not None:
            temporary.chmod(mode)
        _sync(temporary)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if os.name == "posix":
        _sync(target.parent)  # makes the rename durable


def check_replaceable(path: str | os.PathLike[str]) -> int | None:
    """Return the permissions of the file to be replaced, or None if there is no such file.

    Raise an OSError if the path exists but is not a regular file.
    """
    if not os.path.exists(path):
        return None
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "Not a regular file; choose another name", str(path))
    return stat.S_IMODE(mode)


def _create(path: Path, mode: int | None) -> None:
    """Create an empty file, readable only by those who can read the file to be replaced."""
    mode = 0o666 if mode is None else mode | stat.S_IRUSR | stat.S_IWUSR
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))


def _sync(path: Path) -> None:
    """Flush a file or directory to disk."""
    descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

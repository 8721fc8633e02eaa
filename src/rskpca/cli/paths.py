"""Files that commands write: checked before any work."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path


def existing(path: Path, what: str) -> Path:
    """The path of an input; an error that names one that is nearly written so."""
    if not path.exists():
        folder = path.parent
        names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
        near = get_close_matches(path.name, names, n=1, cutoff=0.75)
        hint = f" Did you mean {str(folder / near[0])!r}?" if near else ""
        raise FileNotFoundError(f"there is no {what} {str(path)!r}.{hint}")
    if not os.access(path, os.R_OK):
        raise PermissionError(f"{str(path)!r} may not be read: it needs other rights.")
    return path


def writable(path: Path, inputs: Iterable[Path] = (), endings: Iterable[str] = ()) -> Path:
    """The path of an output that can be written, and is none of the inputs."""
    folder = path.parent
    if endings and path.suffix.lower() not in endings:
        raise ValueError(f"cannot write {str(path)!r}: it must end in {', '.join(endings)}.")
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {str(folder)!r} to write to; make it.")
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; name a file in it.")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{str(folder)!r} may not be written to: choose another folder.")
    if any(path.resolve() == other.resolve() for other in inputs):
        raise ValueError(f"{str(path)!r} is read too; name another file for the output.")
    return path


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Errors of the system while a file is written name the file."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        said = f"{os.strerror(error.errno)}; it was not written"
        raise OSError(error.errno, said, str(path)) from error


def size_in_words(path: Path) -> str:
    """Bytes of a file, in the unit that they are read in."""
    n_bytes = float(path.stat().st_size)
    for unit in ("bytes", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} GB"

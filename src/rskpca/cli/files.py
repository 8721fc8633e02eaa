"""Check input and output files before any work starts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from shlex import quote

from .._core import atomic
from .._format import join_words

PICTURES = (".png", ".svg", ".pdf")
PAGES = (".html", ".htm")
TABLES = (".npy", ".parquet", ".csv")


def check_input(path: Path | None) -> Path | None:
    """Return the path if it can be read, or raise an error that suggests a similar name."""
    if path is None:
        return None
    if not path.exists():
        names = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        similar = get_close_matches(path.name, names, n=1, cutoff=0.75)
        hint = f" Did you mean {str(path.parent / similar[0])!r}?" if similar else ""
        raise FileNotFoundError(f"no such file or folder: {str(path)!r}.{hint}")
    if not path.is_file() and not path.is_dir():
        raise ValueError(f"{str(path)!r} is not a regular file; copy its contents to a file.")
    if not os.access(path, os.R_OK):
        raise PermissionError(f"permission denied: {str(path)!r}.")
    return path


def check_output(
    path: Path, inputs: Iterable[Path | None] = (), endings: tuple[str, ...] = ()
) -> Path:
    """Return the path if a file can be written there and it is not one of the inputs."""
    folder = path.parent
    if endings and path.suffix.lower() not in endings:
        known = join_words(endings, "or")
        raise ValueError(f"cannot write {str(path)!r}: the name must end in {known}.")
    if not folder.is_dir():
        raise FileNotFoundError(f"no such folder: {str(folder)!r}. Create it first.")
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; pass a file name.")
    atomic.check_replaceable(path)
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"permission denied: cannot write to the folder {str(folder)!r}.")
    if any(other is not None and path.resolve() == other.resolve() for other in inputs):
        raise ValueError(f"{str(path)!r} is also an input; choose another name for the output.")
    return path


@contextmanager
def naming_errors(path: Path, written: Iterable[Path] = ()) -> Iterator[None]:
    """Add the file name and the files already written to system errors that lack a file name."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        others = "".join(f", but {str(other)!r} was" for other in written)
        reason = f"{os.strerror(error.errno)}; the file was not written{others}"
        raise OSError(error.errno, reason, str(path)) from error


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces ``path`` when it is complete."""
    with naming_errors(path), atomic.atomic_write(path) as temporary:
        yield temporary


def stem_of(data: Path) -> str:
    """Return the name of a data file without its ending, such as .csv or .csv.gz."""
    return Path(data.stem).stem if data.suffix.lower() in (".gz", ".zst") else data.stem


def shell_path(path: Path | str) -> str:
    """Quote a path for the shell, with ./ before a leading dash, which would start an option."""
    return quote(f"./{path}" if str(path).startswith("-") else str(path))

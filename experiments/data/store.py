"""Lookup of data sets: the user's folder, the user's cache, then the publisher."""

from __future__ import annotations

import hashlib
import os
import sys
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ..results import atomic_write
from .dataset import Dataset, Published, WrongDataError

FOLDER = "RSKPCA_DATA"
CACHE = "RSKPCA_CACHE"


class MissingDataError(FileNotFoundError):
    """Raised when a data set is not on this machine and cannot be downloaded."""


class IncompleteError(MissingDataError):
    """Raised when some data sets are missing; contains the results for the others.

    Parameters
    ----------
    missing : dict of str to str
        Error message for each missing data set.
    numbers : dict
        Results without the missing data sets.
    """

    def __init__(self, missing: Mapping[str, str], numbers: dict[str, Any]) -> None:
        super().__init__("\n".join(missing.values()))
        self.missing, self.numbers = list(missing), numbers


def find(dataset: Dataset, *, download: bool) -> Published:
    """Return the published values from the first location that has them, after checking them."""
    tried = []
    for path in candidate_paths(dataset.name):
        if path.is_file():
            return read_npz(dataset, path)
        tried.append(f"no {path}")
    if download:
        return _download(dataset, tried)
    raise _missing_error(dataset, tried)


def candidate_paths(name: str) -> list[Path]:
    """Return the files that may contain a data set, in order of preference."""
    folder = os.environ.get(FOLDER)
    return [Path(parent) / f"{name}.npz" for parent in (folder, cache_folder()) if parent]


def cache_folder() -> Path:
    """Return the folder in which downloads are cached."""
    given = os.environ.get(CACHE)
    if given:
        return Path(given)
    home = Path.home()
    default = {
        "darwin": home / "Library" / "Caches",
        "win32": Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")),
    }.get(sys.platform, home / ".cache")
    return Path(os.environ.get("XDG_CACHE_HOME") or default) / "rskpca"


def read_npz(dataset: Dataset, path: Path) -> Published:
    """Read an ``npz`` file; raise WrongDataError unless it contains the published values."""
    content = path.read_bytes()
    try:
        with np.load(BytesIO(content), allow_pickle=False) as arrays:
            data = dataset.convert(arrays["X"], arrays["y"])
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise WrongDataError(
            f"{path} cannot be read as arrays X and y ({error}). Remove it and get the data "
            f"from {dataset.page}."
        ) from error
    if hashlib.sha256(content).hexdigest() != dataset.file_sha256:
        dataset.check(data, str(path))
    return data


def _download(dataset: Dataset, tried: list[str]) -> Published:
    """Download from the first source that has the published values, and cache them."""
    for source in dataset.sources:
        try:
            data = dataset.convert(*source.fetch())
            dataset.check(data, source.where)
        except Exception as error:  # downloads and changed files can fail in many ways
            tried.append(f"{source.where}: {type(error).__name__}: {error}")
        else:
            _write_to_cache(dataset, data)
            return data
    raise _missing_error(dataset, tried)


def _write_to_cache(dataset: Dataset, data: Published) -> None:
    buffer = BytesIO()
    np.savez_compressed(buffer, X=data.X.astype(dataset.dtype), y=data.y.astype("uint8"))
    atomic_write(cache_folder() / f"{dataset.name}.npz", buffer.getvalue())


def _missing_error(dataset: Dataset, tried: list[str]) -> MissingDataError:
    return MissingDataError(
        f"{dataset.name} ({dataset.title}) was not found: {'; '.join(tried)}. Download it from "
        f"{dataset.page} and set {FOLDER} to the folder that contains {dataset.name}.npz with "
        "the published arrays X and y."
    )

"""Where data are looked for: the user's folder, the user's cache, then the publisher."""

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

from .dataset import Dataset, Published, WrongDataError

FOLDER = "RSKPCA_DATA"
CACHE = "RSKPCA_CACHE"


class MissingDataError(FileNotFoundError):
    """The data are nowhere to be found."""


class IncompleteError(MissingDataError):
    """Some data sets are missing; the numbers of the others are here.

    Parameters
    ----------
    missing : dict of str to str
        What is missing, and what was said about it.
    numbers : dict
        What was computed without.
    """

    def __init__(self, missing: Mapping[str, str], numbers: dict[str, Any]) -> None:
        super().__init__("\n".join(missing.values()))
        self.missing, self.numbers = list(missing), numbers


def find(dataset: Dataset, *, download: bool) -> Published:
    """The published values, checked, from the first place that has them."""
    tried = []
    for path in places(dataset.name):
        if path.is_file():
            return read(dataset, path)
        tried.append(f"no {path}")
    if download:
        return _downloaded(dataset, tried)
    raise _missing(dataset, tried)


def places(name: str) -> list[Path]:
    """The files that may hold a data set, in the order in which they are looked at."""
    folder = os.environ.get(FOLDER)
    return [Path(parent) / f"{name}.npz" for parent in (folder, cache()) if parent]


def cache() -> Path:
    """The folder that downloads are kept in."""
    given = os.environ.get(CACHE)
    if given:
        return Path(given)
    home = Path.home()
    usual = {
        "darwin": home / "Library" / "Caches",
        "win32": Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")),
    }.get(sys.platform, home / ".cache")
    return Path(os.environ.get("XDG_CACHE_HOME") or usual) / "rskpca"


def read(dataset: Dataset, path: Path) -> Published:
    """The arrays of an ``npz`` file; WrongDataError unless they are the published ones."""
    content = path.read_bytes()
    try:
        with np.load(BytesIO(content), allow_pickle=False) as arrays:
            data = dataset.published(arrays["X"], arrays["y"])
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise WrongDataError(
            f"{path} cannot be read as arrays X and y ({error}). Remove it, and get the data "
            f"from {dataset.page}."
        ) from error
    if hashlib.sha256(content).hexdigest() != dataset.file_sha256:
        dataset.check(data, str(path))
    return data


def _downloaded(dataset: Dataset, tried: list[str]) -> Published:
    """From the first source whose values are the published ones; kept in the cache."""
    for source in dataset.sources:
        try:
            data = dataset.published(*source.fetch())
            dataset.check(data, source.where)
        except Exception as error:  # whatever a network or a changed file can do
            tried.append(f"{source.where}: {type(error).__name__}: {error}")
        else:
            _keep(dataset, data)
            return data
    raise _missing(dataset, tried)


def _keep(dataset: Dataset, data: Published) -> None:
    """Write the file of the cache, whole or not at all."""
    path = cache() / f"{dataset.name}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".tmp")
    with unfinished.open("wb") as file:
        np.savez_compressed(file, X=data.X.astype(dataset.dtype), y=data.y.astype("uint8"))
    unfinished.replace(path)


def _missing(dataset: Dataset, tried: list[str]) -> MissingDataError:
    return MissingDataError(
        f"{dataset.name} ({dataset.title}) is missing: {'; '.join(tried)}. Get it from "
        f"{dataset.page}, and set {FOLDER} to the folder of {dataset.name}.npz, with arrays X "
        "and y as published."
    )

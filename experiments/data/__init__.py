"""The data sets of the experiments, one a file.

Each is looked for in the folder that ``RSKPCA_DATA`` names, then in the user's cache, and then
downloaded: from OpenML where it is there, else from the publisher. Whatever the file, the
values are compared with those of the published data before they are used.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import NamedTuple

import numpy as np

from .dataset import Dataset, Floats, Labels, Published, WrongDataError
from .store import IncompleteError, MissingDataError, find

NAMES = (
    "german", "pendigits", "usps", "yale",
    "mnist", "covtype", "skin", "optdigits", "magic", "yaleb_ext",
)  # fmt: skip

__all__ = [
    "NAMES",
    "Data",
    "IncompleteError",
    "MissingDataError",
    "WrongDataError",
    "describe",
    "load",
    "published",
]


class Data(NamedTuple):
    """Rows and classes as the experiments take them, and how they differ from the paper's."""

    X: Floats
    y: Labels
    name: str
    note: str


def load(name: str, *, download: bool = True) -> Data:
    """A data set as the experiments take it: in the paper's units and size where it is there."""
    dataset = describe(name)
    used = dataset.use(published(name, download=download))
    return Data(used.X.astype(np.float64, copy=False), used.y, name, dataset.note)


def published(name: str, *, download: bool = True) -> Published:
    """A data set as published."""
    return find(describe(name), download=download)


def describe(name: str) -> Dataset:
    """What is known of a data set."""
    if name not in NAMES:
        near = get_close_matches(name, NAMES, n=1)
        hint = f" Do you mean {near[0]!r}?" if near else ""
        raise ValueError(f"no data set {name!r}.{hint} There are {', '.join(NAMES)}.")
    dataset: Dataset = import_module(f".{name}", __name__).DATASET
    return dataset

"""Data sets for the experiments.

Each data set is read from the folder named by ``RSKPCA_DATA`` or from the user's cache. If it is
in neither, it is downloaded from OpenML or from its publisher. Its values are compared with the
published ones before they are used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..experiment import unknown_name
from .catalog import DATASETS
from .dataset import Dataset, Floats, Labels, Published, WrongDataError
from .store import IncompleteError, MissingDataError, find

__all__ = [
    "DATASETS",
    "Data",
    "IncompleteError",
    "MissingDataError",
    "WrongDataError",
    "get_dataset",
    "load",
    "load_published",
]


class Data(NamedTuple):
    """Rows and classes as the experiments use them, with a note on differences from the paper."""

    X: Floats
    y: Labels
    name: str
    note: str


def load(name: str, *, download: bool = True) -> Data:
    """Return a data set in the paper's units and size, as far as they are known."""
    dataset = get_dataset(name)
    X, y = dataset.prepare(load_published(name, download=download))
    return Data(X.astype(np.float64, copy=False), y, name, dataset.note)


def load_published(name: str, *, download: bool = True) -> Published:
    """Return a data set exactly as it was published."""
    return find(get_dataset(name), download=download)


def get_dataset(name: str) -> Dataset:
    """Return the description of a data set."""
    if name not in DATASETS:
        raise ValueError(unknown_name("data set", name, DATASETS))
    return DATASETS[name]

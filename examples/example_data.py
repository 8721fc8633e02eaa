"""Data of the examples: published sets where ``RSKPCA_DATA`` names their folder, else stand-ins.

``RSKPCA_QUICK=1`` makes every example small, for tests.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np


def rows(full: int, quick: int) -> int:
    """How many rows to take."""
    return quick if os.environ.get("RSKPCA_QUICK") == "1" else full


def published(name: str, stand_in):
    """X and y of a set, or what ``stand_in()`` makes, with a line that says so."""
    path = Path(os.environ.get("RSKPCA_DATA", "")) / f"{name}.npz"
    if not path.is_file():
        print(f"{name}.npz is not there (RSKPCA_DATA names the folder): other data stand in.")
        return stand_in()
    with np.load(path, allow_pickle=False) as arrays:
        return arrays["X"].astype(np.float64), arrays["y"]


def shuffled(X, y, n):
    """n rows at most, in a fixed random order."""
    order = np.random.default_rng(0).permutation(len(X))[:n]
    return X[order], y[order]

"""Load the data of the examples: published data sets from ``RSKPCA_DATA``, or a fallback.

``RSKPCA_QUICK=1`` makes every example small, for the tests.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np


def size(full: int, quick: int) -> int:
    """Return ``full``, or ``quick`` in the tests."""
    return quick if os.environ.get("RSKPCA_QUICK") == "1" else full


def load_data(name: str, fallback):
    """Return X and y of a published data set, or those of ``fallback()`` if it is missing."""
    path = Path(os.environ.get("RSKPCA_DATA", "")) / f"{name}.npz"
    if not path.is_file():
        print(f"{name}.npz not found (RSKPCA_DATA sets its folder); using other data instead.")
        return fallback()
    with np.load(path, allow_pickle=False) as arrays:
        return arrays["X"].astype(np.float64), arrays["y"]


def shuffle(X, y, n):
    """Return at most n rows in a fixed random order."""
    order = np.random.default_rng(0).permutation(len(X))[:n]
    return X[order], y[order]

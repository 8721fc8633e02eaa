"""Load the data for the examples: published data sets from ``RSKPCA_DATA``, or a fallback.

With ``RSKPCA_QUICK=1``, which the tests set, every example uses less data.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np


def size(full: int, quick: int) -> int:
    """Return ``quick`` if ``RSKPCA_QUICK=1`` is set, otherwise ``full``."""
    return quick if os.environ.get("RSKPCA_QUICK") == "1" else full


def load_data(name: str, fallback):
    """Return X and y from a published data set, or from ``fallback()`` if it is missing."""
    path = Path(os.environ.get("RSKPCA_DATA", "")) / f"{name}.npz"
    if not path.is_file():
        print(f"RSKPCA_DATA does not name a folder with {name}.npz; using other data instead.")
        return fallback()
    with np.load(path, allow_pickle=False) as arrays:
        return arrays["X"].astype(np.float64), arrays["y"]


def shuffle(X, y, n):
    """Return at most n rows in a fixed random order."""
    order = np.random.default_rng(0).permutation(len(X))[:n]
    return X[order], y[order]

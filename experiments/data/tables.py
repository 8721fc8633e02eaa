"""Data sets that are published as tables of numbers."""

from __future__ import annotations

from io import BytesIO

import numpy as np

from .sources import Table


def label_last(*parts: bytes, delimiter: str | None = None) -> Table:
    """Files one after the other, the class in the last column."""
    rows = _rows(parts, delimiter)
    return rows[:, :-1], rows[:, -1].astype(np.int64)


def label_first(*parts: bytes, delimiter: str | None = None) -> Table:
    """Files one after the other, the class in the first column."""
    rows = _rows(parts, delimiter)
    return rows[:, 1:], rows[:, 0].astype(np.int64)


def _rows(parts: tuple[bytes, ...], delimiter: str | None) -> np.ndarray:
    tables = [np.loadtxt(BytesIO(part), delimiter=delimiter, ndmin=2) for part in parts]
    return np.concatenate(tables)

"""Descriptions of data sets: their sources, and the checksums that identify them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .sources import Source

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


class WrongDataError(ValueError):
    """Raised for a file that does not contain the published data."""


class Published(NamedTuple):
    """Rows as published, their classes, and a mask of the rows in the test part."""

    X: NDArray[Any]
    y: Labels
    is_test: NDArray[np.bool_]


def _keep_all(data: Published) -> tuple[NDArray[Any], Labels]:
    return data.X, data.y


@dataclass(frozen=True)
class Dataset:
    """A published data set.

    ``file_sha256`` is the checksum of the usual ``name.npz``; ``content_sha256`` is the checksum
    of the values, independent of the file format (see :func:`hash_content`). ``prepare`` turns
    the published rows into the closest match to the paper's data, which ``note`` describes.
    """

    name: str
    title: str
    page: str
    shape: tuple[int, int]
    classes: Mapping[int, int]
    dtype: str
    file_sha256: str
    content_sha256: str
    sources: tuple[Source, ...]
    decimals: int = 0
    n_train: int | None = None
    any_order: bool = False
    prepare: Callable[[Published], tuple[NDArray[Any], Labels]] = _keep_all
    note: str = ""

    def convert(self, X: NDArray[Any], y: NDArray[Any]) -> Published:
        """Store integers in the smallest dtype, and decimals as float64 rounded as published."""
        values = np.round(np.asarray(X, np.float64), self.decimals) if self.decimals else X
        exact = values.astype(np.float64 if self.decimals else self.dtype, copy=False)
        if not np.array_equal(exact, values):
            raise WrongDataError(f"{self.name} contains values that {self.dtype} cannot represent.")
        first_test = len(exact) if self.n_train is None else self.n_train
        return Published(exact, np.asarray(y, np.int64), np.arange(len(exact)) >= first_test)

    def check(self, data: Published, where: str) -> None:
        """Raise WrongDataError unless these are the published values."""
        labels, counts = np.unique(data.y, return_counts=True)
        found = dict(zip(labels.tolist(), counts.tolist(), strict=True))
        for what, actual, expected in (
            ("shape", data.X.shape, self.shape),
            ("class counts", found, dict(self.classes)),
            ("sha256 of the values", hash_content(data, self), self.content_sha256),
        ):
            if actual != expected:
                raise WrongDataError(
                    f"{where} is not the published {self.name}: expected {what} {expected}, got "
                    f"{actual}. Remove it and get the data from {self.page}."
                )


def hash_content(data: Published, dataset: Dataset) -> str:
    """Return the sha256 of the values, scaled to integers, row by row with the class last.

    Rows are sorted first if their order differs between publishers.
    """
    scaled = np.rint(data.X * 10**dataset.decimals) if dataset.decimals else data.X
    table = np.column_stack([scaled.astype("<i4"), data.y.astype("<i4")])
    if dataset.any_order:
        table = table[np.lexsort(table.T[::-1])]
    return hashlib.sha256(np.ascontiguousarray(table).data).hexdigest()

"""What is known of a data set: where it comes from, and how to tell that it is the right one."""

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
    """The file is there, but it is not the published data."""


class Published(NamedTuple):
    """Rows as the publisher gives them, their classes, and which rows are of the test part."""

    X: NDArray[Any]
    y: Labels
    is_test: NDArray[np.bool_]


class Used(NamedTuple):
    """Rows and classes as the experiments take them."""

    X: NDArray[Any]
    y: Labels


def _all(data: Published) -> Used:
    return Used(data.X, data.y)


@dataclass(frozen=True)
class Dataset:
    """A published data set.

    ``file_sha256`` is that of the usual ``name.npz``. ``content_sha256`` is that of the values,
    whatever file they come in: see :func:`content`. ``use`` makes of the published rows what
    comes closest to the paper's, and ``note`` says what that is.
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
    use: Callable[[Published], Used] = _all
    note: str = ""

    def published(self, X: NDArray[Any], y: NDArray[Any]) -> Published:
        """Whole numbers in the smallest dtype, else the published decimals in float64."""
        values = np.round(np.asarray(X, np.float64), self.decimals) if self.decimals else X
        exact = values.astype(np.float64 if self.decimals else self.dtype, copy=False)
        if not np.array_equal(exact, values):
            raise WrongDataError(f"{self.name} has values that are no {self.dtype}.")
        first_test = len(exact) if self.n_train is None else self.n_train
        return Published(exact, np.asarray(y, np.int64), np.arange(len(exact)) >= first_test)

    def check(self, data: Published, where: str) -> None:
        """Raise WrongDataError unless these are the published values."""
        labels, counts = np.unique(data.y, return_counts=True)
        found = dict(zip(labels.tolist(), counts.tolist(), strict=True))
        for what, seen, wanted in (
            ("shape", data.X.shape, self.shape),
            ("rows of each class", found, dict(self.classes)),
            ("sha256 of the values", content(data, self), self.content_sha256),
        ):
            if seen != wanted:
                raise WrongDataError(
                    f"{where} is not the published {self.name}: {what} {seen}, not {wanted}. "
                    f"Remove it, and get the data from {self.page}."
                )


def content(data: Published, dataset: Dataset) -> str:
    """The sha256 of the values as whole numbers of the last decimal, row by row, classes last.

    Where the order of rows differs between publishers the rows are sorted first.
    """
    scaled = np.rint(data.X * 10**dataset.decimals) if dataset.decimals else data.X
    table = np.column_stack([scaled.astype("<i4"), data.y.astype("<i4")])
    if dataset.any_order:
        table = table[np.lexsort(table.T[::-1])]
    return hashlib.sha256(np.ascontiguousarray(table).data).hexdigest()

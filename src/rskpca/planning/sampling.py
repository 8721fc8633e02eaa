"""A few rows from all over an array or a file, which may be sorted."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.random import sample_without_replacement

from .. import _validation as check
from ..data import open_source

Array = NDArray[np.floating]

SHARE = 0.05
LEAST, MOST = 500, 20_000
TOO_FEW = 100


class Drawn(NamedTuple):
    """Rows of a sample, and how many there are in all."""

    rows: Array
    n_samples: int


def draw(data: Any, size: int | None, rng: np.random.RandomState) -> Drawn:
    """A random sample, without replacement, from the whole of an array, a file or a source."""
    if size is not None:
        check.positive_integer("sample", size)
        if size < TOO_FEW:
            raise ValueError(
                f"sample={size} rows are too few to tell more from; give at least {TOO_FEW}, or "
                "None for a twentieth of the rows."
            )
    source = open_source(data)
    if not source.again:
        raise ValueError(
            f"{source.name} can be read only once, and a fit must read it too; give a function "
            "that makes the iterator."
        )
    n_samples = source.counted()
    wanted = min(_size(n_samples, source.n_features) if size is None else size, n_samples)
    chosen = sample_without_replacement(n_samples, wanted, random_state=rng)
    rows = source.take(np.sort(chosen))
    return Drawn(check_array(rows, dtype=check.FLOATS, ensure_min_samples=2), n_samples)


def _size(n_samples: int, n_features: int) -> int:
    """A twentieth of the rows; fewer of many, so that covering them stays quick."""
    most = int(np.clip(np.sqrt(4e9 / max(n_features, 1)), 1000, MOST))
    return max(min(int(SHARE * n_samples), most), LEAST)

"""How many centers a cover keeps, over ell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels import RadialKernel
from .discovery import forecast

Array = NDArray[np.floating]

ELLS = (3.0, 3.5, 4.0, 4.5, 5.0)
_LEAST, _MOST = 1000, 8000


@dataclass(frozen=True, eq=False)
class Retention:
    """Centers over ell, seen or forecast.

    Attributes
    ----------
    n_samples : float
        n, the number of rows.
    ells : tuple of float
        Ascending.
    n_centers, low, high : ndarray of shape (n_ells,)
        m at each ell, and the interval that it is expected in; the three are equal where m was
        seen.
    ell : float or None
        The one that was chosen; None where none was.
    """

    n_samples: float
    ells: tuple[float, ...]
    n_centers: Array
    low: Array
    high: Array
    ell: float | None = None

    @property
    def chosen(self) -> float | None:
        """m at the ell that was chosen."""
        return None if self.ell is None else float(self.n_centers[self.ells.index(self.ell)])

    def at(self, ell: float) -> float:
        """About m at any ell, by a line through the logs.

        Parameters
        ----------
        ell : float
            Within the ells of the curve.

        Returns
        -------
        float
            A number of centers, not rounded.
        """
        logs = np.interp(np.log(ell), np.log(self.ells), np.log(self.n_centers))
        return float(np.exp(logs))


def enough_rows(n_features: int) -> int:
    """Rows that a curve of some points is forecast from in a few seconds.

    Parameters
    ----------
    n_features : int
        Of the data; the more, the longer the covers of the sample take.

    Returns
    -------
    int
        From 1,000 to 8,000.
    """
    return int(np.clip(np.sqrt(6.4e8 / n_features), _LEAST, _MOST))


def retention(
    sample: Array,
    kernel: RadialKernel,
    n_samples: float,
    ells: Sequence[float] = ELLS,
    *,
    ell: float | None = None,
    n_centers: int | None = None,
    seed: int = 0,
) -> Retention:
    """The retention curve from a sample of the rows.

    Parameters
    ----------
    sample : ndarray of shape (n_sampled, n_features)
        Rows, drawn at random.
    kernel : RadialKernel
        With a number for its bandwidth.
    n_samples : float
        n, the number of all rows.
    ells : sequence of float
        Where to look.
    ell : float, default=None
        The one that was chosen, which is added to the others.
    n_centers : int, default=None
        m at this ell where it is known, so that it need not be forecast.
    seed : int, default=0
        Of the orders that the sample is covered in; the same at each ell.

    Returns
    -------
    Retention
        A larger ell has no fewer centers.
    """
    asked = sorted({*ells} if ell is None else {*ells, ell})
    n = max(round(n_samples), len(sample))

    def at(ell_: float) -> Array:
        if n_centers is not None and ell_ == ell:
            return np.full(3, float(n_centers))
        return np.array(forecast(sample, kernel.scale / ell_, n, np.random.RandomState(seed)))

    columns = np.array([at(ell_) for ell_ in asked])
    if n_centers is not None and ell is not None:
        rising = _rising_through(columns, asked.index(ell))
    else:
        rising = _rising(columns)
    value, low, high = rising.T
    return Retention(n_samples, tuple(asked), value, low, high, ell)


def _rising(columns: Array) -> Array:
    """Columns that never fall: halfway from the largest so far to the smallest to come."""
    so_far = np.maximum.accumulate(columns)
    to_come = np.minimum.accumulate(columns[::-1])[::-1]
    return (so_far + to_come) / 2


def _rising_through(columns: Array, known: int) -> Array:
    """The same, where one line is known: none before is above it, and none after below."""
    bounded = np.concatenate(
        [
            np.minimum(columns[:known], columns[known]),
            columns[known:][:1],
            np.maximum(columns[known + 1 :], columns[known]),
        ]
    )
    return _rising(bounded)

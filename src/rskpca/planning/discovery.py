"""How many centers n rows will have, from the rows of a sample.

Centers are found as species are. With t rows seen the next one opens a center with a probability
u(t) that falls, and m(t) is the sum of it: the discovery curve. Cells whose probabilities
follow a gamma law, extended to infinitely many cells (Engen, 1974), give

    m(t) = a ((1 + t/tau)^s - 1) / s,

which saturates for s < 0, is Fisher's log series at s = 0, and grows as t^s, as Heaps' law and
that of Pitman and Yor, for s > 0. It is fitted to the log of the sample's curve, averaged over
orders of the rows: from a sixteenth of the rows on, from a hundredth on, and from a sixteenth on
with a = tau, so that u(0) = 1. A parabola in log t, which bends down faster, stands beside the
three. The last two tend to be too high and too low; the forecast is the median of the four.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.cover import Cover

Array = NDArray[np.floating]

_ROWS_IN_ALL = 12_000
_POINTS = 40


class Forecast(NamedTuple):
    """A number of centers, and an interval that it is expected in."""

    value: float
    low: float
    high: float


def forecast(sample: Array, radius: float, n_samples: int, rng: np.random.RandomState) -> Forecast:
    """How many centers ``n_samples`` rows like those of the sample will have.

    Parameters
    ----------
    sample : ndarray of shape (n_sampled, n_features)
        Rows, drawn at random.
    radius : float
        Of the cover.
    n_samples : int
        n, the number of all rows.
    rng : RandomState
        For the orders that the sample is covered in.

    Returns
    -------
    Forecast
        With an interval of twice the root of two variances of the log: between the four
        extrapolations, and between halves of the sample, whose variance is twice that of the
        whole.
    """
    wholes, splits = _curves(sample, radius, rng)
    if len(sample) >= n_samples:
        value = float(wholes[0][-1])
        return Forecast(value, value, value)
    guesses = _log_guesses(wholes + [second for _, second in splits], n_samples)
    halves = [[np.median(_log_guesses([h], n_samples)) for h in pair] for pair in splits[:6]]
    sampling = np.mean([(a - b) ** 2 for a, b in halves]) / 4
    center, spread = np.median(guesses), 2 * np.sqrt(sampling + guesses.var(ddof=1))
    found = float(np.mean([curve[-1] for curve in wholes]))
    value, low, high = np.clip(np.exp(center + spread * np.array([0, -1, 1])), found, n_samples)
    return Forecast(float(value), float(low), float(high))


def _curves(
    sample: Array, radius: float, rng: np.random.RandomState
) -> tuple[list[Array], list[tuple[Array, Array]]]:
    """Discovery curves of the sample in some orders, and of the two halves of each."""
    wholes, splits = [], []
    half = len(sample) // 2
    for order in _orders(len(sample), rng):
        curve = discovered(sample[order], radius)
        wholes.append(curve)
        splits.append((curve[:half], discovered(sample[order[half:]], radius)))
    return wholes, splits


def _orders(size: int, rng: np.random.RandomState) -> Iterator[NDArray[np.intp]]:
    n_orders = int(np.clip(_ROWS_IN_ALL // size, 6, 24))
    return (rng.permutation(size) for _ in range(n_orders))


def discovered(rows: Array, radius: float) -> Array:
    """The number of centers after each row."""
    if not radius:
        return np.arange(1.0, len(rows) + 1)
    labels, _ = Cover(radius, rows[:0]).extend(rows)
    return np.maximum.accumulate(labels) + 1.0


def _log_guesses(curves: list[Array], n_samples: int) -> Array:
    """Logs of four guesses at the number of centers of ``n_samples`` rows."""
    size = max(map(len, curves))
    t = np.unique(np.geomspace(max(size / 100, 2), size, _POINTS).astype(int))
    m = np.array([np.mean([c[i - 1] for c in curves if len(c) >= i]) for i in t])
    return np.log(continued(t, m, n_samples))


def continued(t: Array, m: Array, n_samples: int) -> Array:
    """Continue a discovery curve, m centers after t rows, by four rules.

    Parameters
    ----------
    t : ndarray of shape (n_points,)
        Numbers of rows, ascending, over a factor of a hundred or so.
    m : ndarray of shape (n_points,)
        Numbers of centers after them.
    n_samples : int
        n, the number of all rows.

    Returns
    -------
    ndarray of shape (4,)
        Guesses at the number of centers after n rows; their median is the forecast.
    """
    late = t >= t[-1] / 16
    return np.array(
        [
            _engen(t[late], m[late], n_samples),
            _engen(t, m, n_samples),
            _engen(t[late], m[late], n_samples, first_opens=True),
            _parabola(t[late], m[late], n_samples),
        ]
    )


def _engen(t: Array, m: Array, n_samples: int, *, first_opens: bool = False) -> float:
    """Least squares in log m: a grid over (log(1 - s), log tau), and finer ones about its best."""
    slopes: Array = np.linspace(np.log(1e-3), np.log(4.0), 30)
    scales: Array = np.linspace(-2, np.log(t[-1]) + 4, 30)
    for _ in range(9):
        slope, scale = (axis.ravel() for axis in np.meshgrid(slopes, scales))
        residuals = _log_growth(t[:, None], slope, scale) - np.log(m)[:, None]
        log_a = scale if first_opens else -residuals.mean(axis=0)
        best = np.argmin(np.square(residuals + log_a).sum(axis=0))
        slopes, scales = _about(slope[best], slopes), _about(scale[best], scales)
    ends = np.array([t[-1], n_samples], dtype=float)
    last, asked = _log_growth(ends, slope[best], scale[best])
    return float(m[-1] * np.exp(asked - last))


def _about(best: float, axis: Array) -> Array:
    """Half the steps: the best may lie along a valley, so the grid must be free to move."""
    reach = 2 * (axis[1] - axis[0])
    return np.linspace(best - reach, best + reach, 9)


def _log_growth(t: Array, slope: Array, scale: Array) -> Array:
    """log of ((1 + t/tau)^s - 1) / s, with slope = log(1 - s) and scale = log tau."""
    s = -np.expm1(np.maximum(slope, np.log(1e-4)))
    s = np.where(np.abs(s) < 1e-9, 1e-9, s)
    return np.log(np.expm1(s * np.log1p(t / np.exp(scale))) / s)


def _parabola(t: Array, m: Array, n_samples: int) -> float:
    """log m as a parabola in log t, which bends down, and is level from its top on."""
    bend, slope, _ = np.polyfit(np.log(t / t[-1]), np.log(m), 2)
    bend, slope = min(bend, 0.0), max(slope, 0.0)
    ahead = np.log(n_samples / t[-1])
    ahead = ahead if bend == 0 else min(ahead, -slope / (2 * bend))
    return float(m[-1] * np.exp(bend * ahead**2 + slope * ahead))

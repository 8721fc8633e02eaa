"""Predict the number of centers for all n rows from a sample.

Let m(t) be the number of centers after t rows in random order. As more rows are seen, fewer of them
become new centers, and the slope of log m over log t decays. The following law models this decay
as geometric:

    d log m / d log t = b (t/T)^(-c),    log m(t) = log m(T) + b (1 - (t/T)^(-c)) / c,

where T is the size of the sample. c = 0 is a power law; for c > 0, the number of centers approaches
m(T) exp(b/c). Both parameters are fitted by least squares to log m(t), averaged over several
permutations of the sample. The law was selected on magic, optdigits, usps, yaleb_ext, colors and
patches of images, and synthetic data, and tested on covtype, skin, pendigits and mnist
(``python -m benchmarks plan``). It fails on data that repeat the same rows with little noise: the
sample contains few of the repetitions, and the prediction is too high by a factor of about two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import AnyKernel, Kernel
from ._counting import open_cover

Array = NDArray[np.floating]

_MIN_ROWS, _MAX_ROWS = 1000, 8000
_KERNEL_ROWS = 2000  # for kernels that are not radial, whose values may be slow to evaluate
_COVERED_ROWS = 12_000  # total over all permutations; smaller samples are permuted more often
_MIN_ORDERS, _MAX_ORDERS = 6, 24
_POINTS = 40
# Only the rows after the first T/16 are fitted, as in 0.1.0. Factors from 8 to 32 are equally
# accurate on the data sets that were used to select the law.
_WINDOW = 16
# Raising the largest decay to 3 does not change the results.
_DECAYS: Array = np.linspace(1e-6, 2.0, 161)[:, None]
# Standard deviation of the error of the law itself, relative to the logarithm of the predicted
# growth. With this value, the interval contained the true number of centers in 97% of 760 trials on
# the data sets used for selection (excluding repeated rows, where the law fails) and in 179 of 180
# on the test sets.
_LAW_ERROR = 0.03


class Forecast(NamedTuple):
    """A predicted number of centers with its 95% interval."""

    value: float
    low: float
    high: float


def enough_rows(n_features: int) -> int:
    """Return the sample size, 1,000 to 8,000, that yields a curve within a few seconds."""
    return int(np.clip(np.sqrt(6.4e8 / n_features), _MIN_ROWS, _MAX_ROWS))


def forecast(sample: Array, radius: float, n_samples: int, rng: np.random.RandomState) -> Forecast:
    """Predict the number of centers, or count them if the sample contains all rows."""
    size = len(sample)
    if size >= n_samples:
        return Forecast(*[float(count_centers(sample, radius)[-1])] * 3)
    n_orders = int(np.clip(_COVERED_ROWS // size, _MIN_ORDERS, _MAX_ORDERS))
    orders = [rng.permutation(size) for _ in range(n_orders)]
    curves = [count_centers(sample[order], radius) for order in orders]
    curve = np.mean(curves, axis=0)
    value = _extrapolate_curve(curve, n_samples)
    half = size // 2
    halves = [
        (first[:half], count_centers(sample[order[half:]], radius))
        for first, order in zip(curves[:_MIN_ORDERS], orders, strict=False)
    ]
    variance = _sampling_variance(halves, n_samples)
    spread = 2 * np.sqrt(variance + (_LAW_ERROR * np.log(value / curve[-1])) ** 2)
    bounds = value * np.exp(spread * np.array([0, -1, 1]))
    return Forecast(*map(float, np.clip(bounds, curve[-1], n_samples)))


def count_centers(rows: Array, radius: float, kernel: AnyKernel | None = None) -> Array:
    """Return the number of centers after each row; distances are those of :func:`open_cover`."""
    labels, _ = open_cover(radius, rows[:0], kernel).extend(rows)
    return np.maximum.accumulate(labels) + 1.0


def extrapolate(t: Array, m: Array, n_samples: float) -> float:
    """Extrapolate the center counts ``m`` after ``t`` rows to ``n_samples`` by the growth law."""
    late = t >= t[-1] / _WINDOW
    growth = _unit_growth(np.log(t[late] / t[-1]), _DECAYS)
    growth -= growth.mean(axis=1, keepdims=True)
    logs = np.log(m[late]) - np.log(m[late]).mean()
    squares = np.maximum(np.square(growth).sum(axis=1), np.finfo(float).tiny)
    slopes = np.maximum(growth @ logs / squares, 0.0)
    residuals = np.square(logs - slopes[:, None] * growth).sum(axis=1)
    best = np.argmin(residuals)
    ahead = _unit_growth(np.log(n_samples / t[-1]), _DECAYS[best])
    return float(m[-1] * np.exp(slopes[best] * ahead.item()))


def _unit_growth(x: Array, decay: Array) -> Array:
    """Return (1 - exp(-c x)) / c, the logarithm of the growth for b = 1 and x = log(t/T)."""
    return -np.expm1(-decay * x) / decay


def _extrapolate_curve(curve: Array, n_samples: int) -> float:
    """Extrapolate a curve with one entry per row, to at most one center per row."""
    size = len(curve)
    t = np.unique(np.geomspace(max(size / _WINDOW, 1), size, _POINTS).astype(int))
    return min(extrapolate(t, curve[t - 1], n_samples), n_samples)


def _sampling_variance(halves: list[tuple[Array, Array]], n_samples: int) -> float:
    """Estimate the variance of a log-prediction from the curves of the two halves of the sample.

    Half the squared difference between the predictions from the two halves estimates the variance
    of a prediction from one half, which is twice the variance of a prediction from the whole
    sample.
    """
    ratios = [
        _extrapolate_curve(a, n_samples) / _extrapolate_curve(b, n_samples) for a, b in halves
    ]
    return float(np.mean(np.square(np.log(ratios))) / 4)


def roughly_forecast(
    X: Array, radius: float, rng: np.random.RandomState, kernel: AnyKernel | None = None
) -> float:
    """Quickly predict the number of centers for all rows, from one sample in one order."""
    n_rows = X.shape[0]
    size = min(enough_rows(X.shape[1]), n_rows)
    if isinstance(kernel, Kernel):
        size = min(size, _KERNEL_ROWS)
    sample = X[rng.permutation(n_rows)[:size]]
    return _extrapolate_curve(count_centers(sample, radius, kernel), n_rows)

"""Data sets for the benchmarks.

They are read from the folder named by ``RSKPCA_DATA`` or from the user's cache; nothing is
downloaded. A missing data set is replaced by data of the same shape, generated from scikit-learn's
digits or from random numbers, and the benchmark results note this. Unless stated otherwise,
each function returns the first n rows in a fixed random order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from experiments.data import MissingDataError, load_published

Floats = NDArray[np.float64]


class Data(NamedTuple):
    """Rows of a data set; ``stand_in`` is empty, or a note that they replace a missing data set."""

    X: Floats
    stand_in: str


class LabeledData(NamedTuple):
    """Training and test rows with their classes."""

    train: Floats
    train_labels: NDArray[np.int_]
    test: Floats
    test_labels: NDArray[np.int_]
    stand_in: str


def german(n: int) -> Data:
    """Return n of the 1,000 rows of german, with 24 features."""
    return _shuffle(*_load("german", lambda: _pooled_digits()[:1000]), n)


def pendigits(n: int) -> Data:
    """Return n rows of pendigits, with 16 features."""
    return _shuffle(*_load("pendigits", _pooled_digits), n)


def usps(n: int) -> Data:
    """Return n rows of usps, with 256 pixels in [0, 1]."""
    return _shuffle(*_load_usps(), n)


def yale(n: int) -> Data:
    """Return n of the 2,000 rows of yale, with 600 pixels in the units of the bandwidth."""
    rows, stand_in = _load("yale", lambda: 15.9 * _enlarged_digits(3))
    return _shuffle(rows, stand_in, n, scale=60 / 255)


def mnist(n: int) -> Data:
    """Return n rows of mnist, with 784 pixels in [0, 1]."""
    rows, stand_in = _load("mnist", lambda: 255 * _padded_digits())
    return _shuffle(rows, stand_in, n, scale=1 / 255)


def covtype(n: int) -> Data:
    """Return n rows of covtype, with its first ten columns."""
    rows, stand_in = _load("covtype", _random_covtype)
    return _shuffle(rows[:, :10], stand_in, n)


def skin(n: int) -> Data:
    """Return n rows of skin, with 3 integer features and many duplicate rows."""
    return _shuffle(*_load("skin", _random_colors), n)


def magic(n: int) -> Data:
    """Return n rows of magic, with 10 features."""
    return _shuffle(*_load("magic", _random_covtype), n)


def optdigits(n: int) -> Data:
    """Return n rows of optdigits, with 64 features."""
    return _shuffle(*_load("optdigits", lambda: _enlarged_digits(1)), n)


def yaleb_ext(n: int) -> Data:
    """Return n of the 2,414 rows of the Extended Yale Face Database B, with 1,024 pixels."""
    return _shuffle(*_load("yaleb_ext", _padded_digits), n)


# Data sets by the names that are used in the results.
BY_NAME: dict[str, Callable[[int], Data]] = {
    "german": german,
    "pendigits": pendigits,
    "usps": usps,
    "yale": yale,
    "mnist": mnist,
    "covtype, 10 columns": covtype,
    "skin": skin,
    "magic": magic,
    "optdigits": optdigits,
    "yaleb_ext": yaleb_ext,
}


def labeled_pendigits() -> LabeledData:
    """Return pendigits as published: 7,494 training rows, and 3,498 test rows by other writers."""
    try:
        X, y, test = load_published("pendigits", download=False)
    except MissingDataError:
        labels = load_digits().target
        rows, half = _pooled_digits(), len(labels) // 2
        return LabeledData(
            rows[:half], labels[:half], rows[half:], labels[half:], _stand_in("pendigits")
        )
    X = X.astype(np.float64)
    return LabeledData(X[~test], y[~test], X[test], y[test], "")


def noisy_pendigits(n: int) -> Data:
    """Return n resampled rows of pendigits with noise, with 16 features."""
    rows, stand_in = _load("pendigits", _pooled_digits)
    return Data(resample(rows, n, noise=3.0), stand_in)


def noisy_usps(n: int) -> Data:
    """Return n resampled rows of usps, with 256 pixels in [0, 1] plus noise."""
    rows, stand_in = _load_usps()
    return Data(resample(rows, n, noise=0.02), stand_in)


def cube(n: int) -> Data:
    """Sample n points uniformly from the unit cube in three dimensions."""
    return Data(np.random.default_rng(0).random((n, 3)), "")


def curved_sheet(n: int) -> Data:
    """Sample n points from a three-dimensional manifold in 16 dimensions."""
    rng = np.random.default_rng(0)
    parameters = rng.random((n, 3))
    return Data(np.sin(parameters @ rng.normal(size=(3, 16))), "")


def resample(rows: Floats, n: int, noise: float) -> Floats:
    """Draw n rows with replacement and add Gaussian noise."""
    rng = np.random.default_rng(0)
    chosen = rows[rng.integers(len(rows), size=n)]
    return chosen + rng.normal(0, noise, chosen.shape)


def _load(name: str, substitute: Callable[[], Floats]) -> Data:
    try:
        return Data(load_published(name, download=False).X.astype(np.float64), "")
    except MissingDataError:
        return Data(substitute(), _stand_in(name))


def _load_usps() -> Data:
    rows, stand_in = _load("usps", lambda: 2 * _enlarged_digits(2) - 1)
    return Data((rows + 1) / 2, stand_in)


def _stand_in(name: str) -> str:
    return f"{name} is missing and was replaced by other data"


def _shuffle(rows: Floats, stand_in: str, n: int, scale: float = 1.0) -> Data:
    order = np.random.default_rng(0).permutation(len(rows))[:n]
    return Data(rows[order] * scale, stand_in)


def _pooled_digits() -> Floats:
    """Return digits as 4 x 4 pixels in [0, 100]."""
    pixels = load_digits().images.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4))
    return pixels.reshape(-1, 16) * (100 / 16)


def _enlarged_digits(factor: int) -> Floats:
    """Return digits in [0, 1], with each pixel repeated ``factor`` x ``factor`` times."""
    pixels = np.kron(load_digits().images / 16, np.ones((1, factor, factor)))
    return pixels.reshape(len(pixels), -1)


def _padded_digits() -> Floats:
    """Return digits as 28 x 28 pixels in [0, 1], with noise."""
    pixels = _enlarged_digits(3).reshape(-1, 24, 24)
    padded = np.pad(pixels, ((0, 0), (2, 2), (2, 2)))
    return resample(padded.reshape(-1, 784), 10_000, noise=0.1)


def _random_colors() -> Floats:
    rng = np.random.default_rng(0)
    brightness = rng.uniform(0, 255, (245_057, 1))
    return np.clip(brightness + rng.normal(0, 25, (245_057, 3)), 0, 255).round()


def _random_covtype() -> Floats:
    """Return ten columns, a few of which account for most of the variance."""
    rng = np.random.default_rng(0)
    return rng.gamma(2.0, 1.0, (581_012, 10)) * np.array(
        [200, 80, 5, 150, 40, 1000, 20, 15, 30, 900]
    )

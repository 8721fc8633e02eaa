"""The data of the benchmarks.

Sets come from the folder that ``RSKPCA_DATA`` names or from the user's cache; nothing is
downloaded. Where one is missing something of the same shape stands in, made from
scikit-learn's digits or from random numbers, and the rows say so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from experiments.data import MissingDataError, published

Floats = NDArray[np.float64]


class Data(NamedTuple):
    """Rows, and what to say where they are not those of the named set."""

    X: Floats
    stand_in: str


class Labelled(NamedTuple):
    """Rows to fit and rows to test, with their classes, and what to say of other data."""

    train: Floats
    train_labels: NDArray[np.int_]
    test: Floats
    test_labels: NDArray[np.int_]
    stand_in: str


def written_digits() -> Labelled:
    """Pendigits as published: 7,494 rows to fit, 3,498 by other writers to test."""
    try:
        X, y, test = published("pendigits", download=False)
    except MissingDataError:
        labels = load_digits().target
        rows, half = _pooled_digits(), len(labels) // 2
        stand_in = "pendigits is missing, other data stand in"
        return Labelled(rows[:half], labels[:half], rows[half:], labels[half:], stand_in)
    X = X.astype(np.float64)
    return Labelled(X[~test], y[~test], X[test], y[test], "")


def pen_strokes(n: int) -> Data:
    """Pendigits with noise: n x 16."""
    rows, stand_in = _published("pendigits", _pooled_digits)
    return Data(resampled(rows, n, noise=3.0), stand_in)


def colours(n: int) -> Data:
    """Skin, shuffled: n x 3, whole numbers, with many repeats."""
    return _shuffled(*_published("skin", _random_colours), n)


def postal_digits(n: int) -> Data:
    """Usps in [0, 1] with noise: n x 256."""
    rows, stand_in = _published("usps", lambda: 2 * _enlarged_digits(2) - 1)
    return Data(resampled((rows + 1) / 2, n, noise=0.02), stand_in)


def strokes(n: int) -> Data:
    """Pendigits, shuffled: n x 16."""
    return _shuffled(*_published("pendigits", _pooled_digits), n)


def telescope(n: int) -> Data:
    """Magic, shuffled: n x 10."""
    return _shuffled(*_published("magic", _random_forest_cover), n)


def credit(n: int) -> Data:
    """German, shuffled: 1,000 x 24."""
    return _shuffled(*_published("german", lambda: _pooled_digits()[:1000]), n)


def post(n: int) -> Data:
    """Usps in [0, 1], shuffled: n x 256."""
    rows, stand_in = _published("usps", lambda: 2 * _enlarged_digits(2) - 1)
    return _shuffled((rows + 1) / 2, stand_in, n)


def faces(n: int) -> Data:
    """Yale in grey levels as the paper's bandwidth takes them, shuffled: 2,000 x 600."""
    rows, stand_in = _published("yale", lambda: 15.9 * _enlarged_digits(3))
    return _shuffled(rows, stand_in, n, scale=60 / 255)


def images(n: int) -> Data:
    """Mnist in [0, 1], shuffled: n x 784."""
    rows, stand_in = _published("mnist", lambda: 255 * _padded_digits())
    return _shuffled(rows, stand_in, n, scale=1 / 255)


def forest(n: int) -> Data:
    """The first ten columns of covtype, shuffled: n x 10."""
    rows, stand_in = _published("covtype", _random_forest_cover)
    return _shuffled(rows[:, :10], stand_in, n)


def lit_faces(n: int) -> Data:
    """Extended Yale B, shuffled: 2,414 x 1,024."""
    return _shuffled(*_published("yaleb_ext", _padded_digits), n)


def scanned_digits(n: int) -> Data:
    """Optdigits, shuffled: n x 64."""
    return _shuffled(*_published("optdigits", lambda: _enlarged_digits(1)), n)


def cube(n: int) -> Data:
    """Uniform in the unit cube: n x 3."""
    return Data(np.random.default_rng(0).random((n, 3)), "")


def curved_sheet(n: int) -> Data:
    """Three parameters bent into 16 dimensions: n x 16."""
    rng = np.random.default_rng(0)
    parameters = rng.random((n, 3))
    return Data(np.sin(parameters @ rng.normal(size=(3, 16))), "")


def _published(name: str, substitute: Callable[[], Floats]) -> Data:
    try:
        return Data(published(name, download=False).X.astype(np.float64), "")
    except MissingDataError:
        return Data(substitute(), f"{name} is missing, other data stand in")


def _shuffled(rows: Floats, stand_in: str, n: int, scale: float = 1.0) -> Data:
    order = np.random.default_rng(0).permutation(len(rows))[:n]
    return Data(rows[order] * scale, stand_in)


def resampled(rows: Floats, n: int, noise: float) -> Floats:
    """n rows drawn with repetition, with Gaussian noise."""
    rng = np.random.default_rng(0)
    chosen = rows[rng.integers(len(rows), size=n)]
    return chosen + rng.normal(0, noise, chosen.shape)


def _pooled_digits() -> Floats:
    """Digits as 4 x 4 pixels in [0, 100]."""
    pixels = load_digits().images.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4))
    return pixels.reshape(-1, 16) * (100 / 16)


def _enlarged_digits(factor: int) -> Floats:
    """Digits in [0, 1], each pixel ``factor`` x ``factor`` pixels."""
    pixels = np.kron(load_digits().images / 16, np.ones((1, factor, factor)))
    return pixels.reshape(len(pixels), -1)


def _padded_digits() -> Floats:
    """Digits as 28 x 28 pixels in [0, 1], with noise."""
    pixels = _enlarged_digits(3).reshape(-1, 24, 24)
    padded = np.pad(pixels, ((0, 0), (2, 2), (2, 2)))
    return resampled(padded.reshape(-1, 784), 10_000, noise=0.1)


def _random_colours() -> Floats:
    rng = np.random.default_rng(0)
    brightness = rng.uniform(0, 255, (245_057, 1))
    return np.clip(brightness + rng.normal(0, 25, (245_057, 3)), 0, 255).round()


def _random_forest_cover() -> Floats:
    """Ten columns, a few of which hold most of the spread."""
    rng = np.random.default_rng(0)
    return rng.gamma(2.0, 1.0, (581_012, 10)) * np.array(
        [200, 80, 5, 150, 40, 1000, 20, 15, 30, 900]
    )

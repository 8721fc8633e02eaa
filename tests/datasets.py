"""Synthetic and real data sets for the tests.

The real data sets in ``BUNDLED`` are included in scikit-learn. The others are used by the
experiments; a test that requires one is skipped if it has not been downloaded.
"""

from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, make_swiss_roll
from sklearn.preprocessing import scale

from experiments.data import MissingDataError, load_published

_cached_load = cache(load_published)

BUNDLED = {
    "digits": lambda: load_digits().data,
    "breast cancer": lambda: scale(load_breast_cancer().data),
    "diabetes": lambda: scale(load_diabetes().data),
}


def load(name: str, step: int = 1) -> np.ndarray:
    """Return every ``step``-th row of a data set as float64; skip the test if it is missing."""
    if name in BUNDLED:
        return BUNDLED[name]()[::step]
    return _load_or_skip(name).X[::step].astype(np.float64)


def _load_or_skip(name: str):
    try:
        return _cached_load(name, download=False)
    except MissingDataError as error:
        pytest.skip(str(error))


def pendigits_test_part(step: int = 1) -> np.ndarray:
    """Return rows of the test set, which the paper most likely used."""
    X, _, is_test = _load_or_skip("pendigits")
    return X[is_test][::step].astype(np.float64)


def blobs(n: int, d: int, seed: int = 0, dtype=np.float64) -> np.ndarray:
    """Sample from a mixture of four Gaussians."""
    rng = np.random.default_rng(seed)
    means = rng.normal(scale=3.0, size=(4, d))
    return (means[rng.integers(4, size=n)] + rng.normal(size=(n, d))).astype(dtype)


def swiss_roll(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return points on a swiss roll, of shape (n, 3), and their arc lengths along it."""
    X, t = make_swiss_roll(n, random_state=seed)
    return X, (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2  # arc length of the spiral r = t


def uneven_circle(n: int, seed: int = 0) -> np.ndarray:
    """Sample angles with a density that is 55 times higher at 0 than at pi."""
    return np.random.default_rng(seed).vonmises(0.0, 2.0, size=n)


def on_circle(angles: np.ndarray) -> np.ndarray:
    """Return the points of the unit circle at these angles."""
    return np.column_stack([np.cos(angles), np.sin(angles)])

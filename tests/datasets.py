"""The data of the tests; those of the experiments where they are on this machine."""

from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_swiss_roll

from experiments.data import MissingDataError, published

_published = cache(published)


def load(name: str, step: int = 1) -> np.ndarray:
    """Every ``step``-th row of a dataset in float64; skips the test where it is missing."""
    if name == "digits":
        return load_digits().data[::step]
    return _present(name).X[::step].astype(np.float64)


def _present(name: str):
    try:
        return _published(name, download=False)
    except MissingDataError as error:
        pytest.skip(str(error))


def pendigits_test_part(step: int = 1) -> np.ndarray:
    """The part that the paper most likely used."""
    X, _, is_test = _present("pendigits")
    return X[is_test][::step].astype(np.float64)


def blobs(n: int, d: int, seed: int = 0, dtype=np.float64) -> np.ndarray:
    """Points in a few Gaussian clumps."""
    rng = np.random.default_rng(seed)
    middles = rng.normal(scale=3.0, size=(4, d))
    return (middles[rng.integers(4, size=n)] + rng.normal(size=(n, d))).astype(dtype)


def swiss_roll(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points of a rolled sheet, n x 3, and how far along it each one lies."""
    X, t = make_swiss_roll(n, random_state=seed)
    return X, (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2  # the length of r = t, from 0


def uneven_circle(n: int, seed: int = 0) -> np.ndarray:
    """Angles, 55 times as dense at 0 as at pi."""
    return np.random.default_rng(seed).vonmises(0.0, 2.0, size=n)


def on_circle(angles: np.ndarray) -> np.ndarray:
    return np.column_stack([np.cos(angles), np.sin(angles)])

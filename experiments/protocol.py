"""Experimental protocol of section 6: data, splits, values of ell, sizes, timings and errors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.model_selection import KFold

from rskpca import Gaussian, ReducedSetKernelPCA

from . import contenders
from .data import Data, IncompleteError, MissingDataError, load
from .data.dataset import Floats
from .experiment import SEED, Settings

ELLS = tuple(round(3 + i / 10, 1) for i in range(21))
QUICK_ELLS = (3.0, 4.0, 5.0)
QUICK_ROWS = 300
FOLDS = 10

Rows = list[dict[str, Any]]
Indices = NDArray[np.intp]


class Setup(NamedTuple):
    """A column of Table 1: the bandwidth sigma and the rank k."""

    bandwidth: float
    rank: int

    @property
    def kernel(self) -> Gaussian:
        """Gaussian kernel with this bandwidth."""
        return Gaussian(self.bandwidth)


TABLE1 = {
    "german": Setup(30.0, 5),
    "pendigits": Setup(120.0, 5),
    "usps": Setup(18.0, 15),
    "yale": Setup(17.0, 10),
}


class Split(NamedTuple):
    """Indices of the training rows and of the test rows."""

    train: Indices
    test: Indices


@cache
def dataset(name: str, quick: bool) -> Data:
    """Return a data set; a quick run uses few rows, and digits if the data set is missing."""
    if not quick:
        return load(name)
    try:
        data = load(name, download=False)
    except MissingDataError:
        data = _scaled_digits(name)
    few = np.random.default_rng(SEED).permutation(len(data.X))[:QUICK_ROWS]
    return data._replace(X=data.X[few], y=data.y[few])


def compute_available(
    names: Iterable[str], quick: bool, compute: Callable[[list[str]], dict[str, Any]]
) -> dict[str, Any]:
    """Apply ``compute`` to the available data sets; raise IncompleteError if any is missing."""
    available, missing = [], {}
    for name in names:
        try:
            dataset(name, quick)
            available.append(name)
        except MissingDataError as error:
            missing[name] = str(error)
    if not available:
        raise MissingDataError("\n".join(missing.values()))
    numbers = compute(available)
    if missing:
        raise IncompleteError(missing, numbers)
    return numbers


def _scaled_digits(name: str) -> Data:
    """Return scikit-learn's digits, scaled so that the bandwidth is twice their spread."""
    X, y = load_digits(return_X_y=True)
    spread = np.sqrt(X.var(axis=0).sum())
    scaled = X * (TABLE1[name].bandwidth / (2 * spread))
    return Data(scaled, y, name, f"{name} is missing and was replaced by scikit-learn's digits")


def ells(settings: Settings, every: int = 1) -> tuple[float, ...]:
    """Return every ``every``-th value of ell; a quick run always uses three values."""
    return QUICK_ELLS if settings.quick else ELLS[::every]


def random_split(n: int, run: int) -> Split:
    """Return a random 80% for training, in random order, and the other 20% for testing."""
    order = np.random.default_rng([SEED, run]).permutation(n)
    cut = round(0.8 * n)
    return Split(order[:cut], order[cut:])


def fold(n: int, run: int) -> Split:
    """Return one of ten folds for testing and the others, in random order, for training."""
    parts = KFold(FOLDS, shuffle=True, random_state=SEED).split(np.empty(n))
    train, test = list(parts)[run]
    return Split(np.random.default_rng([SEED, run]).permutation(train), test)


class Timed(NamedTuple):
    """Return value of a call, and its duration in seconds."""

    value: Any
    seconds: float


def time_once(call: Callable[..., Any], *arguments: Any) -> Timed:
    """Call a function once and time it."""
    start = time.perf_counter()
    value = call(*arguments)
    return Timed(value, time.perf_counter() - start)


def time_median(call: Callable[..., Any], *arguments: Any) -> Timed:
    """Call a function up to five times, for about 0.2 s, and return the median duration."""
    calls = [time_once(call, *arguments)]
    while len(calls) < 5 and sum(each.seconds for each in calls) < 0.2:
        calls.append(time_once(call, *arguments))
    return Timed(calls[0].value, float(np.median([each.seconds for each in calls])))


def aligned_error(expected: Floats, embedding: Floats) -> float:
    """Return min over A of ||O - O~ A||_F, the error after least-squares alignment."""
    A = np.linalg.lstsq(embedding, expected, rcond=None)[0]
    return float(np.linalg.norm(expected - embedding @ A))


def eigenvalue_error(expected: Floats, found: Floats) -> float:
    """Return the norm of the difference, with missing eigenvalues counted as zero."""
    padded = np.zeros(len(expected))
    padded[: len(found)] = found
    return float(np.linalg.norm(expected - padded))


class Reference(NamedTuple):
    """Kernel PCA of a whole data set: coordinates of all rows and operator eigenvalues."""

    embedding: Floats
    eigenvalues: Floats


@cache
def reference(name: str, quick: bool, *, center: bool = False) -> Reference:
    """Return exact kernel PCA, the reference for all errors; centered for centered methods."""
    X, setup = dataset(name, quick).X, TABLE1[name]
    model = ReducedSetKernelPCA(setup.rank, kernel=setup.kernel, ell=np.inf, center=center).fit(X)
    return Reference(model.transform(X), contenders.eigenvalues(model, len(X)))


def mean_sizes(rows: Rows) -> dict[float, int]:
    """Return the mean number of shadow centers at each ell, which is m for the other methods."""
    found: dict[float, list[int]] = {}
    for row in rows:
        if row["method"] == "shadow":
            found.setdefault(row["ell"], []).append(row["m"])
    return {ell: round(float(np.mean(ms))) for ell, ms in found.items()}

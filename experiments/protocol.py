"""Section 6 as the paper has it: data, splits, ell, sizes, and what is timed."""

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
from .settings import SEED, Settings

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
        """The Gaussian with that bandwidth."""
        return Gaussian(self.bandwidth)


TABLE1 = {
    "german": Setup(30.0, 5),
    "pendigits": Setup(120.0, 5),
    "usps": Setup(18.0, 15),
    "yale": Setup(17.0, 10),
}


class Split(NamedTuple):
    """Rows to fit and rows to test."""

    train: Indices
    test: Indices


@cache
def dataset(name: str, quick: bool) -> Data:
    """A data set; a quick run takes few rows, of digits where the set is missing."""
    if not quick:
        return load(name)
    try:
        data = load(name, download=False)
    except MissingDataError:
        data = _stand_in(name)
    few = np.random.default_rng(SEED).permutation(len(data.X))[:QUICK_ROWS]
    return data._replace(X=data.X[few], y=data.y[few])


def of_those_there(
    names: Iterable[str], quick: bool, compute: Callable[[list[str]], dict[str, Any]]
) -> dict[str, Any]:
    """``compute`` of the data sets that are there; IncompleteError where others are missing."""
    there, missing = [], {}
    for name in names:
        try:
            dataset(name, quick)
            there.append(name)
        except MissingDataError as error:
            missing[name] = str(error)
    if not there:
        raise MissingDataError("\n".join(missing.values()))
    numbers = compute(there)
    if missing:
        raise IncompleteError(missing, numbers)
    return numbers


def _stand_in(name: str) -> Data:
    """Digits, in units that make the bandwidth twice their spread."""
    X, y = load_digits(return_X_y=True)
    spread = np.sqrt(X.var(axis=0).sum())
    scaled = X * (TABLE1[name].bandwidth / (2 * spread))
    return Data(scaled, y, name, f"{name} is missing; scikit-learn's digits stand in")


def ells(settings: Settings, every: int = 1) -> tuple[float, ...]:
    """The grid of ell, or every so manyth value of it."""
    return QUICK_ELLS if settings.quick else ELLS[::every]


def halves(n: int, run: int) -> Split:
    """A random 80% to fit, in random order, and the other 20% to test."""
    order = np.random.default_rng([SEED, run]).permutation(n)
    cut = round(0.8 * n)
    return Split(order[:cut], order[cut:])


def fold(n: int, run: int) -> Split:
    """One of ten parts to test, the others, in random order, to fit."""
    parts = KFold(FOLDS, shuffle=True, random_state=SEED).split(np.empty(n))
    train, test = list(parts)[run]
    return Split(np.random.default_rng([SEED, run]).permutation(train), test)


class Timed(NamedTuple):
    """What a call returned, and its seconds."""

    value: Any
    seconds: float


def timed(call: Callable[..., Any], *arguments: Any) -> Timed:
    """Call it, and look at the clock."""
    start = time.perf_counter()
    value = call(*arguments)
    return Timed(value, time.perf_counter() - start)


def often_timed(call: Callable[..., Any], *arguments: Any) -> Timed:
    """The median of five calls, or as many as fit into a fifth of a second."""
    seen = [timed(call, *arguments)]
    while len(seen) < 5 and sum(each.seconds for each in seen) < 0.2:
        seen.append(timed(call, *arguments))
    return Timed(seen[0].value, float(np.median([each.seconds for each in seen])))


def aligned_error(wanted: Floats, seen: Floats) -> float:
    """min over A of ||O - O~ A||_F: the embeddings aligned by least squares (section 6)."""
    A = np.linalg.lstsq(seen, wanted, rcond=None)[0]
    return float(np.linalg.norm(wanted - seen @ A))


def eigenvalue_error(wanted: Floats, seen: Floats) -> float:
    """The norm of the difference; what a method does not find counts as zero."""
    found = np.zeros(len(wanted))
    found[: len(seen)] = seen
    return float(np.linalg.norm(wanted - found))


class Reference(NamedTuple):
    """Kernel PCA of the whole data set: coordinates of all rows, eigenvalues of the operator."""

    embedding: Floats
    eigenvalues: Floats


@cache
def reference(name: str, quick: bool, *, center: bool = False) -> Reference:
    """The answer that all errors are distances to; centered for methods that center."""
    X, setup = dataset(name, quick).X, TABLE1[name]
    model = ReducedSetKernelPCA(setup.rank, kernel=setup.kernel, ell=np.inf, center=center).fit(X)
    return Reference(model.transform(X), contenders.eigenvalues(model, len(X)))


def mean_sizes(rows: Rows) -> dict[float, int]:
    """For each ell the mean number of centers of the shadow method: m of the others."""
    found: dict[float, list[int]] = {}
    for row in rows:
        if row["method"] == "shadow":
            found.setdefault(row["ell"], []).append(row["m"])
    return {ell: round(float(np.mean(ms))) for ell, ms in found.items()}

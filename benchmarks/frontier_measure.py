"""Error, fit time and transform time of every setting on one data set, as a plain dictionary."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from rskpca import Gaussian, ReducedSetKernelPCA, ShadowDensity
from rskpca._core.parallel import allowed_threads
from rskpca.baselines.methods import METHODS, embedding_error, n_points

from . import datasets, results
from .datasets import Data, Floats
from .frontier_settings import ELLS, R, Setting, settings

N_TIMED = 5_000  # rows of a timed transform
N_HELD_OUT = 20_000
N_SAMPLE = 20_000
ROUNDS = 3
LONG = 20.0  # seconds after which a fit is not repeated
SHORT = 0.05  # seconds that a round spends on a fit at least


class Case(NamedTuple):
    """n rows, of which four fifths are fitted; ``bandwidth`` None is the median.

    ``sampled``: too many for exact kernel PCA, which is then made from samples only.
    """

    data: Callable[[int], Data]
    n: int
    bandwidth: float | None = None
    sampled: bool = False


CASES: dict[str, Case] = {
    "german": Case(datasets.credit, 1_000, 30.0),
    "pendigits": Case(datasets.strokes, 10_992, 120.0),
    "usps": Case(datasets.post, 9_298, 18.0),
    "yale": Case(datasets.faces, 2_000, 17.0),
    "covtype-16k": Case(datasets.forest, 20_000),
    "covtype": Case(datasets.forest, 581_012, sampled=True),
    "skin": Case(datasets.colours, 245_057, sampled=True),
}
N_QUICK = 400


def measured(name: str, quick: bool) -> dict[str, Any]:
    """All that is known about one data set."""
    case = CASES[name]
    X, stand_in = case.data(N_QUICK if quick else case.n)
    train, test = np.split(X, [len(X) * 4 // 5])
    test = test[:N_HELD_OUT]
    kernel = Gaussian(case.bandwidth or "median").resolve(train, None, 0)
    centers = {ell: _n_centers(kernel, ell, train) for ell in ELLS}
    exact, known = (_sampled if case.sampled else _exact)(kernel, train, test)
    points = _points(settings(kernel, len(train), centers), train, test, exact, quick)
    return {
        "data": name,
        "shape": list(train.shape),
        "bandwidth": kernel.scale,
        "centers": {f"{ell:g}": m for ell, m in centers.items()},
        "reference": known,
        "points": points,
        "threads": allowed_threads(),
        "stand_in": stand_in,
        "environment": results.environment(),
    }


def _n_centers(kernel: Gaussian, ell: float, X: Floats) -> int:
    return ShadowDensity(kernel, ell=ell).fit(X).reduced_set_.n_centers


def _exact(kernel: Gaussian, train: Floats, test: Floats) -> tuple[Floats, dict[str, Any]]:
    """Exact kernel PCA."""
    exact = METHODS["kpca"].make(R, kernel).fit(train).transform(test)
    return exact, {"method": "exact", "uncertainty": 0.0}


def _sampled(kernel: Gaussian, train: Floats, test: Floats) -> tuple[Floats, dict[str, Any]]:
    """Kernel PCA of all rows by Rayleigh-Ritz on the centers at ell 5, and how well that is known.

    ``uncertainty`` is its difference from the same at ell 4, and so above its error.
    ``sampling`` are the errors of two disjoint samples' kernel PCA, Rayleigh-Ritz at ell 6:
    exact kernel PCA of so few rows would hide every error below those.
    """
    fine, coarse = (_ritz(kernel, ell, train).transform(test) for ell in (5.0, 4.0))
    size = min(N_SAMPLE, len(train) // 2)
    samples = [
        _ritz(kernel, 6.0, train[start : start + size]).transform(test) for start in (0, size)
    ]
    return fine, {
        "method": "Ritz, ell 5",
        "uncertainty": embedding_error(fine, coarse),
        "sampling": [embedding_error(fine, sample) for sample in samples],
        "disagreement": embedding_error(*samples),
    }


def _ritz(kernel: Gaussian, ell: float, X: Floats) -> Any:
    return ReducedSetKernelPCA(R, kernel=kernel, ell=ell, refine="nystrom").fit(X)


class _Record:
    """Times and errors of one setting, as they come in."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.fits: list[float] = []
        self.transforms: list[float] = []
        self.errors: list[float] = []
        self.n_basis: int | None = None

    @property
    def done(self) -> bool:
        """Whether one more round would take too long."""
        return bool(self.fits) and self.fits[0] > LONG

    def add(self, seed: int, train: Floats, test: Floats, exact: Floats) -> None:
        model = _timed(lambda: self.setting.make(seed).fit(train), self.fits)
        rows = np.resize(test, (min(N_TIMED, 10 * len(test)), test.shape[1]))
        _timed(lambda: model.transform(rows), self.transforms, per=len(rows) / 1000)
        if self.setting.random or not self.errors:
            self.errors.append(embedding_error(exact, model.transform(test)))
        self.n_basis = n_points(model)

    def summary(self) -> dict[str, Any]:
        return {
            "family": self.setting.family,
            "size": self.setting.size,
            "n_basis": self.n_basis,
            "fit": median(self.fits),
            "transform": median(self.transforms),
            "error": median(self.errors),
            "errors": self.errors,
            "timed": len(self.fits),
        }


def _points(
    chosen: Sequence[Setting], train: Floats, test: Floats, exact: Floats, quick: bool
) -> list[dict[str, Any]]:
    """Settings take turns; each round has its own seed."""
    for setting in {s.family: s for s in reversed(chosen)}.values():  # the smallest of each
        setting.make(0).fit(train[:500]).transform(test[:10])
    records = [_Record(setting) for setting in chosen]
    for seed in range(1 if quick else ROUNDS):
        for record in records:
            if not record.done:
                record.add(seed, train, test, exact)
    return [record.summary() for record in records]


def _timed(call: Callable[[], Any], seconds: list[float], per: float = 1.0) -> Any:
    """What a call returns; its times, divided by ``per``, are added, several where it is short."""
    spent = 0.0
    for _ in range(10):
        start = time.perf_counter()
        result = call()
        taken = time.perf_counter() - start
        seconds.append(taken / per)
        spent += taken
        if spent > SHORT:
            break
    return result

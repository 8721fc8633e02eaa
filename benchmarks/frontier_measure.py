"""Measurements of the error, fit time and transform time of every setting on one data set."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from experiments.results import describe_environment
from rskpca import Gaussian, KernelPCA, NystromKernelPCA, ReducedSetKernelPCA, ShadowDensity
from rskpca._core.parallel import allowed_threads
from rskpca.baselines.methods import METHODS, embedding_error, n_points
from rskpca.baselines.methods import Setting as Options

from . import datasets
from .datasets import Data, Floats
from .timing import pause

R = 5
ELLS = (3.0, 4.0, 5.0)
BASIS_SIZES = (25, 50, 100, 200, 400)
LANDMARKS = (25, 50, 75, 100, 150, 200, 300, 400, 500, 600, 800, 1_000, 1_300, 1_600)
MAX_ERRORS = (0.1, 0.03, 0.01, 0.003, 0.001)
MAX_LANDMARKS = 2_000
MAX_VALUES = 2e8  # kernel values between rows and landmarks; more would take minutes
MAX_EXACT = 16_000  # rows up to which exact kernel PCA is feasible
REFERENCE_LANDMARKS = 5_000, 2_500  # for data that do not compress
OURS = ("KernelPCA", "paper", "two scales", "refined", "means", "Nystrom", "exact")
PEERS = ("sklearn KernelPCA", "Nystroem + PCA", "Fourier + PCA")

N_TIMED = 5_000  # number of rows in a timed transform
N_HELD_OUT = 20_000
N_SAMPLE = 20_000
N_QUICK = 400
ROUNDS = 3
LONG = 20.0  # seconds; a longer fit is not repeated
SHORT = 0.05  # seconds; shorter calls are repeated within a round


class Case(NamedTuple):
    """A data set with n rows, four fifths of which are used for training.

    If ``bandwidth`` is None, the median distance is used. ``sampled`` marks data sets that are too
    large for exact kernel PCA, and ``compresses`` those whose covers are much smaller.
    """

    data: Callable[[int], Data]
    n: int
    bandwidth: float | None = None
    sampled: bool = False
    compresses: bool = True


CASES: dict[str, Case] = {
    "german": Case(datasets.german, 1_000, 30.0),
    "pendigits": Case(datasets.pendigits, 10_992, 120.0),
    "usps": Case(datasets.usps, 9_298, 18.0),
    "yale": Case(datasets.yale, 2_000, 17.0),
    "covtype-16k": Case(datasets.covtype, 20_000),
    "covtype": Case(datasets.covtype, 581_012, sampled=True),
    "skin": Case(datasets.skin, 245_057, sampled=True),
    "mnist": Case(datasets.mnist, 70_000, sampled=True, compresses=False),
}


def measure_case(name: str, quick: bool) -> dict[str, Any]:
    """Return the points of all settings on a data set, with the reference and environment."""
    case = CASES[name]
    X, stand_in = case.data(N_QUICK if quick else case.n)
    train, test = np.split(X, [len(X) * 4 // 5])
    test = test[:N_HELD_OUT]
    kernel = Gaussian(case.bandwidth or "median").resolve(train, None, 0)
    ells = ELLS if case.compresses else ()
    centers = {ell: _count_centers(kernel, ell, train) for ell in ells}
    fit_reference = _fit_ritz_reference if case.compresses else _fit_landmark_reference
    embedding, reference = (fit_reference if case.sampled else _fit_exact)(kernel, train, test)
    points = _measure(make_settings(kernel, len(train), centers), train, test, embedding, quick)
    return {
        "data": name,
        "shape": list(train.shape),
        "bandwidth": kernel.scale,
        "centers": {f"{ell:g}": m for ell, m in centers.items()},
        "reference": reference,
        "points": points,
        "threads": allowed_threads(),
        "stand_in": stand_in,
        "environment": describe_environment(),
    }


def _count_centers(kernel: Gaussian, ell: float, X: Floats) -> int:
    return ShadowDensity(kernel, ell=ell).fit(X).reduced_set_.n_centers


def _fit_exact(kernel: Gaussian, train: Floats, test: Floats) -> tuple[Floats, dict[str, Any]]:
    exact = METHODS["kpca"].make(R, kernel).fit(train).transform(test)
    return exact, {"method": "exact", "uncertainty": 0.0}


def _fit_ritz_reference(
    kernel: Gaussian, train: Floats, test: Floats
) -> tuple[Floats, dict[str, Any]]:
    """Return the embedding by Rayleigh-Ritz on the centers at ell = 5, and its accuracy.

    ``uncertainty`` is the difference from the same method at ell = 4, which exceeds the error.
    ``sampling`` contains the errors of kernel PCA on two disjoint samples (by Rayleigh-Ritz at
    ell = 6). If exact kernel PCA of a sample were the reference, errors smaller than these could
    not be resolved.
    """
    fine, coarse = (_fit_ritz(kernel, ell, train).transform(test) for ell in (5.0, 4.0))
    size = min(N_SAMPLE, len(train) // 2)
    samples = [
        _fit_ritz(kernel, 6.0, train[start : start + size]).transform(test) for start in (0, size)
    ]
    return fine, {
        "method": "Ritz, ell 5",
        "uncertainty": embedding_error(fine, coarse),
        "sampling": [embedding_error(fine, sample) for sample in samples],
        "disagreement": embedding_error(*samples),
    }


def _fit_landmark_reference(
    kernel: Gaussian, train: Floats, test: Floats
) -> tuple[Floats, dict[str, Any]]:
    """Return the embedding by Rayleigh-Ritz on many uniform landmarks, and its accuracy."""
    sizes = [min(size, len(train) // 2) for size in REFERENCE_LANDMARKS]
    fine, coarse = (
        NystromKernelPCA(R, kernel=kernel, landmarks=size).fit(train).transform(test)
        for size in sizes
    )
    uncertainty = embedding_error(fine, coarse)
    return fine, {"method": f"Ritz, {sizes[0]:,} landmarks", "uncertainty": uncertainty}


def _fit_ritz(kernel: Gaussian, ell: float, X: Floats) -> Any:
    return ReducedSetKernelPCA(R, kernel=kernel, ell=ell, refine="nystrom").fit(X)


@dataclass(frozen=True)
class Setting:
    """A method and its size; ``build(seed)`` returns an unfitted estimator.

    If ``method`` names a registered method, ``options`` is its fastest setting.
    """

    family: str
    size: str
    build: Callable[[int], Any]
    random: bool = True
    method: str = ""
    options: Options = field(default_factory=dict)

    def make(self, seed: int) -> Any:
        """Return an unfitted estimator."""
        return self.build(seed).set_params(**self.options)

    def at_its_fastest(self, train: Floats, rounds: int) -> Setting:
        """Return this setting with the fastest solver and number of threads on these rows."""

        def fit(options: Options) -> Any:
            return replace(self, options=options).make(0).fit(train)

        if not self.method:
            return self
        return replace(self, options=METHODS[self.method].fastest(len(train), fit, rounds))

    @property
    def one_thread(self) -> Options:
        """The options for a transform in one thread, which can be faster than with more."""
        return {name: None for name, n in self.options.items() if name.endswith("n_jobs") and n}


def make_settings(kernel: Gaussian, n_rows: int, centers: dict[float, int]) -> list[Setting]:
    """Return all settings for n rows with ``centers[ell]`` shadow centers.

    If there are too many rows for exact kernel PCA, the refined model at ell = 5 is the reference
    and is therefore not included.
    """
    most = min(MAX_LANDMARKS, n_rows, int(MAX_VALUES / n_rows))
    sizes = sorted({m for m in (*LANDMARKS, *centers.values()) if m <= most})
    few = [m for m in sizes if m in BASIS_SIZES]
    return [
        *_automatic_settings(kernel),
        *_shadow_settings(kernel, centers),
        *_refined_settings(kernel, centers, n_rows),
        *_sized_settings("means", "nystrom-means", kernel, few),
        *_sized_settings("Nystrom", "nystrom-landmarks", kernel, sizes),
        *_exact_settings(kernel, n_rows),
        *_sized_settings("Nystroem + PCA", "sklearn-nystroem", kernel, sizes),
        *_sized_settings("Fourier + PCA", "fourier", kernel, [2 * m for m in few if m <= 200]),
    ]


def _automatic_settings(kernel: Gaussian) -> Iterator[Setting]:
    for limit in MAX_ERRORS:

        def make(seed: int, limit: float = limit) -> Any:
            return KernelPCA(R, kernel=kernel, max_error=limit, random_state=seed)

        yield Setting("KernelPCA", f"max_error {100 * limit:g}%", make)


def _shadow_settings(kernel: Gaussian, centers: dict[float, int]) -> Iterator[Setting]:
    for ell in centers:
        yield _deterministic("paper", f"ell {ell:g}", kernel=kernel, ell=ell)
        yield _deterministic("two scales", f"ell {ell:g}", kernel=kernel, ell=ell, basis="auto")


def _refined_settings(
    kernel: Gaussian, centers: dict[float, int], n_rows: int
) -> Iterator[Setting]:
    refined = partial(_deterministic, "refined", kernel=kernel, refine="nystrom")
    for ell in (ell for ell in centers if ell < max(ELLS) or n_rows <= MAX_EXACT):
        if centers[ell] <= MAX_LANDMARKS:
            yield refined(f"ell {ell:g}", ell=ell)
        yield refined(f"ell {ell:g}, auto", ell=ell, basis="auto")
    for m in BASIS_SIZES:
        if centers and m < centers[3.0]:
            yield refined(f"ell 3, {m}", ell=3.0, basis=m)


def _deterministic(family: str, size: str, *, kernel: Gaussian, **options: Any) -> Setting:
    def make(seed: int) -> Any:
        return ReducedSetKernelPCA(R, kernel=kernel, **options)

    return Setting(family, size, make, random=False)


def _sized_settings(family: str, key: str, kernel: Gaussian, sizes: list[int]) -> Iterator[Setting]:
    for m in sizes:
        yield Setting(family, str(m), partial(_make, key, kernel, m), method=key)


def _exact_settings(kernel: Gaussian, n_rows: int) -> Iterator[Setting]:
    if n_rows <= MAX_EXACT:
        own = partial(KernelPCA, R, kernel=kernel, eigen_solver="dense", max_memory=np.inf)
        yield Setting("exact", "", lambda seed: own(), random=False)
        exact = partial(_make, "sklearn-kpca", kernel, None)
        yield Setting("sklearn KernelPCA", "", exact, random=False, method="sklearn-kpca")


def _make(key: str, kernel: Gaussian, size: int | None, seed: int) -> Any:
    return METHODS[key].make(R, kernel, size, random_state=seed)


class _Record:
    """Times and errors of one setting."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.fits: list[float] = []
        self.transforms: list[float] = []
        self.single_transforms: list[float] = []
        self.errors: list[float] = []
        self.n_basis: int | None = None

    @property
    def done(self) -> bool:
        """True if another round would take too long."""
        return bool(self.fits) and self.fits[0] > LONG

    def add(self, seed: int, train: Floats, test: Floats, exact: Floats) -> None:
        model = _time(lambda: self.setting.make(seed).fit(train), self.fits)
        rows = np.resize(test, (min(N_TIMED, 10 * len(test)), test.shape[1]))
        _time(lambda: model.transform(rows), self.transforms, per=len(rows) / 1000)
        if self.setting.one_thread:
            single = model.set_params(**self.setting.one_thread)
            _time(lambda: single.transform(rows), self.single_transforms, per=len(rows) / 1000)
        if self.setting.random or not self.errors:
            self.errors.append(embedding_error(exact, model.transform(test)))
        self.n_basis = n_points(model)

    def summary(self) -> dict[str, Any]:
        return {
            "family": self.setting.family,
            "size": self.setting.size,
            "n_basis": self.n_basis,
            "fit": median(self.fits),
            "transform": min(map(median, filter(None, (self.transforms, self.single_transforms)))),
            "error": median(self.errors),
            "errors": self.errors,
            "timed": len(self.fits),
            "options": self.setting.options,
        }


def _measure(
    settings: Sequence[Setting], train: Floats, test: Floats, exact: Floats, quick: bool
) -> list[dict[str, Any]]:
    """Measure the settings alternately, with a different seed in each round."""
    for setting in {s.family: s for s in reversed(settings)}.values():  # warm up each family
        setting.make(0).fit(train[:500]).transform(test[:10])
    tries = 1 if quick else 2
    records = [_Record(setting.at_its_fastest(train, tries)) for setting in settings]
    for seed in range(1 if quick else ROUNDS):
        for record in records:
            if not record.done:
                record.add(seed, train, test, exact)
    return [record.summary() for record in records]


def _time(call: Callable[[], Any], seconds: list[float], per: float = 1.0) -> Any:
    """Return the result of a call, and append its times divided by ``per`` to ``seconds``."""
    spent = 0.0
    pause()
    for _ in range(10):
        start = time.perf_counter()
        result = call()
        taken = time.perf_counter() - start
        seconds.append(taken / per)
        spent += taken
        if spent > SHORT:
            break
    return result

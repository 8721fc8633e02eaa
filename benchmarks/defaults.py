"""Default parameters on data that do not compress: time, memory and reported error.

Each fit runs in a fresh process. Memory is counted from the point at which rskpca and the data have
been loaded. The time includes the error estimate, but not compilation.
``python -m benchmarks.defaults ESTIMATOR DATA`` measures one fit.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs, make_sparse_spd_matrix

from . import datasets
from .datasets import Data, Floats
from .rows import Row, Wanted
from .timing import process_memory, run_python

SECONDS, MEGABYTES = 60, 2_000
SHARE_QUICK = 0.01  # share of the rows in a quick run
N_WARM = 300  # rows in a first fit that loads the compiled loops


def run(quick: bool) -> list[Row]:
    share, names = (SHARE_QUICK, QUICK) if quick else (1.0, tuple(SETS))
    return [row for name in names for row in _measure(name, SETS[name](share))]


def _measure(name: str, data: Data) -> Iterator[Row]:
    X, stand_in = data
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "X.npy"
        np.save(file, X)
        for estimator in ESTIMATORS if name != NOVELTY else [DETECTOR]:
            found = run_python("-m", __name__, estimator, str(file))
            case = f"{estimator}, {name} {len(X):,} x {X.shape[1]}"
            seconds, memory = Wanted("<", SECONDS), Wanted("<", MEGABYTES)
            said = {"note": found["said"], "stand_in": stand_in}
            yield Row(case, found["seconds"], "s", seconds, **said)
            yield Row(case, found["memory"], "MB", memory, stand_in=stand_in)


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


DETECTOR = "KernelPCANovelty"
ESTIMATORS = (
    "KernelPCA", "ReducedSetKernelPCA", "NystromKernelPCA", "DiffusionMaps", "LaplacianEigenmaps",
    "NormalizedCut", DETECTOR,
)  # fmt: skip


def _fit(estimator: Any, X: Floats) -> str:
    """Fit an estimator; return its method and error summary, or the message of a ValueError."""
    try:
        model = estimator.fit(X)
    except ValueError as error:
        return f"{type(error).__name__}: {error}"
    return f"{getattr(model, 'method_', '')} {model.certificate_.summary}".strip()


def _main(name: str, file: str) -> None:
    warnings.simplefilter("ignore")
    make, X = _estimators()[name], np.load(file)
    _fit(make(), X[:N_WARM])
    before, start = process_memory("VmRSS"), time.perf_counter()
    said = _fit(make(), X)
    seconds = time.perf_counter() - start
    found = {"seconds": seconds, "memory": process_memory("VmHWM") - before, "said": said}
    print(json.dumps(found))


if __name__ == "__main__":
    _main(*sys.argv[1:])

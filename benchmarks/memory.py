"""Peak memory of a fit and of a transform in a fresh process, not counting the data.

Memory is counted from the point at which numba, rskpca and the data have been loaded, with the
compiled loops in numba's cache. ``python -m benchmarks.memory METHOD MODEL DATA`` measures it.
"""

from __future__ import annotations

import json
import pickle
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, clone

from . import datasets
from .datasets import Floats
from .fit import N_QUICK, N, fit_reduced
from .rows import Row, Wanted
from .timing import process_memory, run_python


def run(quick: bool) -> list[Row]:
    X, stand_in = datasets.covtype(N_QUICK if quick else N)
    model = fit_reduced(X)
    model.transform(X[:2])  # fills numba's cache
    case = f"{len(X):,} x {X.shape[1]}, m {model.n_centers_:,}"
    peaks = {
        "fit": measure_peak("fit", clone(model), X),
        "transform": measure_peak("transform", model, X),
    }
    size = {"data": X.nbytes / 1e6}
    return [
        Row(f"{method}, {case}", peak, "MB", Wanted("<", 300), size, "MB", stand_in=stand_in)
        for method, peak in peaks.items()
    ]


def measure_peak(method: str, model: BaseEstimator, X: Floats) -> float:
    """Return the peak memory of ``model.method(X)`` in megabytes."""
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "model.pickle", Path(folder) / "X.npy"
        files[0].write_bytes(pickle.dumps(model))
        np.save(files[1], X)
        return run_python("-m", __name__, method, *map(str, files))


def _main(method: str, model_file: str, data_file: str) -> None:
    import numba  # noqa: F401

    model, X = pickle.loads(Path(model_file).read_bytes()), np.load(data_file)
    before = process_memory("VmRSS")
    getattr(model, method)(X)
    print(json.dumps(process_memory("VmHWM") - before))


if __name__ == "__main__":
    _main(*sys.argv[1:])

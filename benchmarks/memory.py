"""Peak memory of a fit and of a transform in a fresh process, over that of the data.

Counted from after numba, rskpca and the data are loaded, with the compiled loops in numba's
cache. ``python -m benchmarks.memory VERB MODEL DATA`` is that process.
"""

from __future__ import annotations

import json
import pickle
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, clone

from rskpca.cli.memory import megabytes

from . import datasets
from .children import in_fresh_process
from .datasets import Floats
from .fit import N_QUICK, N, fitted
from .rows import Row, Wanted


def run(quick: bool) -> list[Row]:
    X, stand_in = datasets.forest(N_QUICK if quick else N)
    model = fitted(X)
    model.transform(X[:2])  # now all of it is in numba's cache
    case = f"{len(X):,} x {X.shape[1]}, m {model.n_centers_:,}"
    peaks = {"fit": peak("fit", clone(model), X), "transform": peak("transform", model, X)}
    size = {"data": X.nbytes / 1e6}
    return [
        Row(f"{verb}, {case}", peak, "MB", Wanted("<", 300), size, "MB", stand_in=stand_in)
        for verb, peak in peaks.items()
    ]


def peak(verb: str, model: BaseEstimator, X: Floats) -> float:
    """Megabytes that ``model.verb(X)`` takes at most."""
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "model.pickle", Path(folder) / "X.npy"
        files[0].write_bytes(pickle.dumps(model))
        np.save(files[1], X)
        return in_fresh_process("-m", __name__, verb, *map(str, files))


def _child(verb: str, model_file: str, data_file: str) -> None:
    import numba  # noqa: F401

    model, X = pickle.loads(Path(model_file).read_bytes()), np.load(data_file)
    before = megabytes("VmRSS")
    getattr(model, verb)(X)
    print(json.dumps(megabytes("VmHWM") - before))


if __name__ == "__main__":
    _child(*sys.argv[1:])

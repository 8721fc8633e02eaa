"""Sparse rows like those from TF-IDF: memory, time, and the difference from dense rows.

Peak memory is that of a process that generates the rows, fits and transforms them, including the
interpreter and the data. ``python -m benchmarks.sparse KERNEL LANDMARKS QUICK`` measures it.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import normalize

from rskpca import Gaussian, NystromKernelPCA
from rskpca.kernels import sklearn_kernel

from .rows import Row, Wanted
from .timing import process_memory, run_python

SHAPE, SHAPE_QUICK = (100_000, 50_000), (600, 2_000)
COMPARED = (2_000, 5_000)  # shape of the data that are also processed in dense form
NONZEROS = 100
TOPICS = 20
KERNELS = {"rbf": Gaussian(1.0), "cosine": sklearn_kernel("cosine", n_features=SHAPE[1])}
LANDMARKS = "uniform", "means"


def run(quick: bool) -> list[Row]:
    return [row for k in KERNELS for rule in LANDMARKS for row in _measure(k, rule, quick)]


def _measure(kernel: str, landmarks: str, quick: bool) -> list[Row]:
    """Return the memory and the times, and the difference from the dense computation."""
    peak, fit, transform = run_python("-m", __name__, kernel, landmarks, str(int(quick)))
    n, d = SHAPE_QUICK if quick else SHAPE
    case = f"{kernel}, {landmarks}: {n:,} x {d:,}"
    seconds = {"fit": fit, "transform": transform}
    difference = compare(kernel, landmarks, generate(*(SHAPE_QUICK if quick else COMPARED)))
    return [
        Row(f"memory, {case}", peak, "MB", Wanted("<", 2_000), seconds, "s"),
        Row(f"difference, {kernel}, {landmarks}", difference, "", Wanted("<", 1e-8)),
    ]


def generate(n: int, d: int) -> Any:
    """Return rows with about 100 words each, most of them from one of a few topics."""
    rng = np.random.default_rng(0)
    rank = np.minimum(rng.pareto(1.1, size=(n, NONZEROS)) * d / 500, d - 1).astype(np.int64)
    shift = rng.integers(TOPICS, size=n)[:, None] * (rng.random((n, NONZEROS)) < 0.7)
    columns = (rank + shift * (d // TOPICS)) % d
    weights = np.log1p(rank + 1.0)  # rare words count more
    ends = np.arange(0, n * NONZEROS + 1, NONZEROS)
    rows = sparse.csr_array((weights.ravel(), columns.ravel(), ends), shape=(n, d))
    rows.sum_duplicates()
    return sparse.csr_array(normalize(rows))


def new_model(kernel: str, landmarks: str) -> NystromKernelPCA:
    return NystromKernelPCA(10, kernel=KERNELS[kernel], landmarks=landmarks, n_centers=200)


def compare(kernel: str, landmarks: str, X: Any) -> float:
    """Return the largest difference between sparse and dense rows, with the same landmarks.

    Dense rows are embedded with all features, in float64.
    """
    model = new_model(kernel, landmarks).fit(X)
    shared = model.shared_landmarks_
    dense = clone(model).set_params(landmarks=shared, n_centers=None).fit(X.toarray()).model_
    evaluated = replace(dense.evaluated, subspace=None)
    Z, exact = model.transform(X), replace(dense, evaluated=evaluated).embed(X.toarray())
    signs = np.sign((Z * exact).sum(axis=0))
    return float(np.abs(signs * Z - exact).max() / np.abs(exact).max())


def _main(kernel: str, landmarks: str, quick: str) -> None:
    X = generate(*(SHAPE_QUICK if int(quick) else SHAPE))
    start = time.perf_counter()
    model = new_model(kernel, landmarks).fit(X)
    fitted = time.perf_counter()
    model.transform(X)
    times = fitted - start, time.perf_counter() - fitted
    print(json.dumps([process_memory("VmHWM"), *times]))


if __name__ == "__main__":
    _main(*sys.argv[1:])

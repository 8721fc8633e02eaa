"""Speed of ONNX graphs compared with ``transform``, for all rows at once and in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from rskpca import ReducedSetKernelPCA
from rskpca.baselines import UniformDensity
from rskpca.onnx import to_onnx

from .rows import Row
from .timing import time_interleaved

N_CENTERS, BATCH = 800, 500
BANDWIDTHS = {3: 1.0, 64: 12.0}  # by number of features


def run(quick: bool) -> list[Row]:
    n = 2_000 if quick else 10_000
    cases = product(("gaussian", "laplacian"), BANDWIDTHS, (np.float32, np.float64))
    with threadpool_limits(1):
        return [row for case in cases for row in _compare(n, *case, rounds=1 if quick else 9)]


def _compare(n: int, kernel: str, d: int, dtype: Any, *, rounds: int) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    X, new = (rng.normal(size=(size, d)).astype(dtype) for size in (5_000, n))
    density = UniformDensity(N_CENTERS)
    model = ReducedSetKernelPCA(5, kernel=kernel, bandwidth=BANDWIDTHS[d], density=density).fit(X)
    run_graph = _load_graph(model, dtype)
    contenders = {
        "transform": lambda: model.transform(new),
        "onnxruntime": lambda: run_graph(new),
        "in batches": lambda: [run_graph(new[i : i + BATCH]) for i in range(0, n, BATCH)],
    }
    timed = time_interleaved(contenders, rounds)
    Z = timed["transform"].result
    difference = np.abs(Z - timed["onnxruntime"].result).max() / np.abs(Z).max()
    for name in ("onnxruntime", "in batches"):
        parts = {part: timed[part].seconds for part in ("transform", name)}
        case = f"{kernel}, {n:,} x {d}, m {N_CENTERS}, {np.dtype(dtype)}, {name}"
        note = f"largest difference {difference:.0e}, relative to the largest value"
        yield Row(case, parts[name] / parts["transform"], "x", parts=parts, note=note)


def _load_graph(model: Any, dtype: Any) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return a function that evaluates the ONNX graph of a model in one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    graph = to_onnx(model, dtype=dtype).SerializeToString()
    session = onnxruntime.InferenceSession(graph, options)

    def evaluate(X: NDArray[Any]) -> NDArray[Any]:
        return session.run(["transform"], {"X": X})[0]  # type: ignore[no-any-return]

    return evaluate

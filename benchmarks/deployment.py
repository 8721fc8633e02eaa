"""ONNX graphs in onnxruntime against ``transform``, for rows at once and in batches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from rskpca import ReducedSetKernelPCA
from rskpca.baselines import UniformDensity
from rskpca.onnx import to_onnx

from .rows import Row
from .timing import interleaved

N_CENTERS, BATCH = 800, 500
BANDWIDTHS = {3: 1.0, 64: 12.0}  # by the number of features


def run(quick: bool) -> list[Row]:
    n = 2_000 if quick else 10_000
    cases = product(("gaussian", "laplacian"), BANDWIDTHS, (np.float32, np.float64))
    with threadpool_limits(1):
        return [row for case in cases for row in _rows(n, *case, rounds=1 if quick else 9)]


def _rows(n: int, kernel: str, d: int, dtype: Any, *, rounds: int) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    X, new = (rng.normal(size=(size, d)).astype(dtype) for size in (5_000, n))
    density = UniformDensity(N_CENTERS)
    model = ReducedSetKernelPCA(5, kernel=kernel, bandwidth=BANDWIDTHS[d], density=density).fit(X)
    run = _session(model, dtype)
    contenders = {
        "transform": lambda: model.transform(new),
        "onnxruntime": lambda: run(new),
        "in batches": lambda: [run(new[i : i + BATCH]) for i in range(0, n, BATCH)],
    }
    timed = interleaved(contenders, rounds)
    Z = timed["transform"].result
    difference = np.abs(Z - timed["onnxruntime"].result).max() / np.abs(Z).max()
    for name in ("onnxruntime", "in batches"):
        parts = {part: timed[part].seconds for part in ("transform", name)}
        case = f"{kernel}, {n:,} x {d}, m {N_CENTERS}, {np.dtype(dtype)}, {name}"
        note = f"largest difference {difference:.0e} of the largest value"
        yield Row(case, parts[name] / parts["transform"], "x", parts=parts, note=note)


def _session(model: Any, dtype: Any) -> Any:
    """What a graph says of rows, in one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    graph = to_onnx(model, dtype=dtype).SerializeToString()
    session = onnxruntime.InferenceSession(graph, options)

    def answer(X: NDArray[Any]) -> NDArray[Any]:
        return session.run(["transform"], {"X": X})[0]  # type: ignore[no-any-return]

    return answer

"""What a first call costs: compiling, loading what was compiled, and the import.

``python -m benchmarks.start N_FEATURES`` is the process of a first call.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from statistics import median

import numpy as np

from .children import in_fresh_process
from .rows import Row, Wanted

IMPORTS = {"scikit-learn": "sklearn.decomposition, sklearn.utils.validation", "rskpca": "rskpca"}


def run(quick: bool) -> list[Row]:
    rows = [row for d in ((16,) if quick else (16, 256)) for row in _first_call(d)]
    return [*rows, _import(2 if quick else 5)]


def _first_call(n_features: int) -> list[Row]:
    """With an empty cache, and then with the one that this left."""
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = (
            in_fresh_process(
                "-m", __name__, str(n_features), environment={"NUMBA_CACHE_DIR": folder}
            )
            for _ in range(2)
        )
    case = f"first fit and transform, 1,000 x {n_features}"
    return [
        Row(f"{case}, nothing compiled", cold, "s", Wanted("<", 15)),
        Row(f"{case}, compiled before", warm, "s"),
    ]


def _import(rounds: int) -> Row:
    """``import rskpca`` over what scikit-learn imports for its own KernelPCA."""
    seconds: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for _ in range(rounds):
        for name, modules in IMPORTS.items():
            seconds[name].append(_seconds_to_import(modules))
    parts = {name: median(values) for name, values in seconds.items()}
    over = parts["rskpca"] - parts["scikit-learn"]
    return Row("import, over scikit-learn's", over, "s", Wanted("<", 0.3), parts)


def _seconds_to_import(modules: str) -> float:
    code = f"import time; t = time.perf_counter(); import {modules}; print(time.perf_counter() - t)"
    return in_fresh_process("-c", code)


def _child(n_features: int) -> None:
    from rskpca import ReducedSetKernelPCA

    X = np.random.default_rng(0).normal(size=(1000, n_features))
    start = time.perf_counter()
    ReducedSetKernelPCA(5).fit(X).transform(X)
    print(json.dumps(time.perf_counter() - start))


if __name__ == "__main__":
    _child(int(sys.argv[1]))

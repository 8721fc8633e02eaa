"""Import time, time of the first call with and without cached compiled code, and of commands.

``python -m benchmarks.start N_FEATURES`` times the first call in a fresh process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from statistics import median

import numpy as np

from .rows import Row, Wanted
from .timing import run_python, time_interleaved

COMMANDS = ("--version", "--help")
IMPORTS = {"scikit-learn": "sklearn.decomposition, sklearn.utils.validation", "rskpca": "rskpca"}


def run(quick: bool) -> list[Row]:
    rows = [row for d in ((16,) if quick else (16, 256)) for row in _measure_first_call(d)]
    return [*rows, _measure_import(2 if quick else 5), *_measure_commands(2 if quick else 9)]


def _measure_first_call(n_features: int) -> list[Row]:
    """Time the first call of a process with an empty cache, and then with the filled cache."""
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = (
            run_python("-m", __name__, str(n_features), environment={"NUMBA_CACHE_DIR": folder})
            for _ in range(2)
        )
    case = f"first fit and transform, 1,000 x {n_features}"
    return [
        Row(f"{case}, empty cache", cold, "s", Wanted("<", 15)),
        Row(f"{case}, filled cache", warm, "s"),
    ]


def _measure_import(rounds: int) -> Row:
    """Return the import time of rskpca in excess of that of scikit-learn's KernelPCA."""
    seconds: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for _ in range(rounds):
        for name, modules in IMPORTS.items():
            seconds[name].append(_seconds_to_import(modules))
    parts = {name: median(values) for name, values in seconds.items()}
    extra = parts["rskpca"] - parts["scikit-learn"]
    return Row("import, beyond scikit-learn", extra, "s", Wanted("<", 0.3), parts)


def _seconds_to_import(modules: str) -> float:
    code = f"import time; t = time.perf_counter(); import {modules}; print(time.perf_counter() - t)"
    return run_python("-c", code)


def _measure_commands(rounds: int) -> Iterator[Row]:
    """Time commands that only print text, with and without the bytecode of all modules."""
    warm = time_interleaved({option: partial(_command, option) for option in COMMANDS}, rounds)
    for option in COMMANDS:
        case = f"rskpca {option}"
        yield Row(f"{case}, warm", warm[option].seconds, "s", Wanted("<", 0.3))
        with tempfile.TemporaryDirectory() as folder:
            cold = {"cold": partial(_command, option, {"PYTHONPYCACHEPREFIX": folder})}
            seconds = time_interleaved(cold, 1, warm=False)["cold"].seconds
        yield Row(f"{case}, without bytecode", seconds, "s")


def _command(option: str, environment: dict[str, str] | None = None) -> None:
    """Run the command line in a fresh process."""
    subprocess.run(
        [sys.executable, "-m", "rskpca.cli", option],
        env={**os.environ, **(environment or {})},
        stdout=subprocess.DEVNULL,
        check=True,
    )


def _main(n_features: int) -> None:
    from rskpca import ReducedSetKernelPCA

    X = np.random.default_rng(0).normal(size=(1000, n_features))
    start = time.perf_counter()
    ReducedSetKernelPCA(5).fit(X).transform(X)
    print(json.dumps(time.perf_counter() - start))


if __name__ == "__main__":
    _main(int(sys.argv[1]))

"""Try an installation without extras: fit, save, load, and ask for what needs an extra.

Run it with ``python -I`` in a clean environment, so that only the installed package is found.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np

import rskpca
from rskpca import DiffusionMaps, ReducedSetKernelPCA, ShadowDensity, load, plan, save

X = np.random.default_rng(0).normal(size=(500, 3))


def check_models(folder: Path) -> None:
    """Check that models can be fitted, saved and loaded, with equal results."""
    model = ReducedSetKernelPCA(2).fit(X)
    save(model, folder / "model.rskpca")
    np.testing.assert_array_equal(load(folder / "model.rskpca").transform(X), model.transform(X))
    assert model.certificate_.n_centers == model.n_centers_
    assert DiffusionMaps(2).fit_transform(X).shape == (500, 2)
    assert ShadowDensity().fit(X).reduced_set_.weights.sum() == 500
    assert str(plan(X))


def functions_with_extras(folder: Path) -> dict[str, Callable[[], object]]:
    """Return one call per extra that requires it."""
    from rskpca.onnx import to_onnx
    from rskpca.plotting import EmbeddingDisplay
    from rskpca.report import write
    from rskpca.scaling import fit

    model = ReducedSetKernelPCA(2).fit(X)
    return {
        "onnx": lambda: to_onnx(model),
        "plot": lambda: EmbeddingDisplay.from_estimator(model, X),
        "report": lambda: write(model, X, folder / "report.html"),
        "parquet": lambda: fit(ReducedSetKernelPCA(2), folder / "rows.parquet"),
        "files": lambda: fit(ReducedSetKernelPCA(2), folder / "rows.h5"),
    }


def check_extra(extra: str, call: Callable[[], object]) -> None:
    """Check that a call without its extra raises an error that names the extra."""
    message = "no error"
    try:
        call()
    except ImportError as error:
        message = str(error)
    assert re.search(rf"\[\w*,?{extra}\]", message), f"{extra} is not named: {message}"


def check_command_line() -> None:
    """Check that the command names its extra."""
    run = subprocess.run([sys.executable, "-m", "rskpca.cli"], capture_output=True, text=True)
    assert run.returncode != 0
    assert "[cli]" in run.stderr, run.stderr


def main() -> None:
    """Run all checks."""
    assert rskpca.__version__ == version("rskpca")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rows.parquet").write_bytes(b"PAR1")
        (folder / "rows.h5").write_bytes(b"\x89HDF")
        check_models(folder)
        for extra, call in functions_with_extras(folder).items():
            check_extra(extra, call)
    check_command_line()
    print(f"rskpca {rskpca.__version__} in {Path(rskpca.__file__).parent} works.")


if __name__ == "__main__":
    main()

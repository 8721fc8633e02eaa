"""Test an installation without extras: fit, save, load, and call functions that need extras.

Run it with ``python -I`` in a clean environment, so that only the installed package is found.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib.metadata import metadata, version
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


def functions_with_extras(folder: Path) -> list[tuple[str, Callable[[], object]]]:
    """Return pairs of an extra and a call that needs it, for each kind of public function."""
    from rskpca import plotting
    from rskpca.data import open_source
    from rskpca.onnx import to_onnx
    from rskpca.report import write
    from rskpca.scaling import dask, transform

    model = ReducedSetKernelPCA(2).fit(X)
    endings_of = {
        "excel": ("xlsx",), "parquet": ("csv", "parquet", "feather"), "files": ("h5", "zarr"),
    }  # fmt: skip
    return [
        ("onnx", lambda: to_onnx(model)),
        ("report", lambda: write(model, X, folder / "report.html")),
        ("dask", lambda: dask.fit(ReducedSetKernelPCA(2), X)),
        ("dask", lambda: dask.transform(model, X)),
        ("plot", model.plot),
        ("plot", lambda: plan(X).plot()),
        ("plot", lambda: plotting.CertificateDisplay.from_estimator(model, X)),
        ("plot", lambda: plotting.DensityDisplay.from_estimator(model, X, features=(0, 1))),
        ("plot", lambda: plotting.EmbeddingDisplay.from_estimator(model, X)),
        ("plot", lambda: plotting.RetentionDisplay.from_estimator(model, X)),
        ("plot", lambda: plotting.SpectrumDisplay.from_estimator(model)),
        ("parquet", lambda: transform(model, X, folder / "coordinates.csv")),
        ("parquet", lambda: transform(model, X, folder / "coordinates.parquet")),
        *(
            (extra, partial(open_source, folder / f"rows.{ending}"))
            for extra, endings in endings_of.items()
            for ending in endings
        ),
    ]


def check_extra(extra: str, call: Callable[[], object]) -> None:
    """Check that a call without its extra raises an error that names the extra."""
    message = "no error"
    try:
        call()
    except ImportError as error:
        message = str(error)
    assert re.search(rf"\[\w*,?{extra}\]", message), f"{extra} is not named: {message}"


def check_project_page() -> None:
    """Check that the links in the description work outside the repository."""
    links = re.findall(r"\]\(([^)]+)\)", str(metadata("rskpca").get_payload()))
    assert links, "the description has no links"
    assert all(re.match("https?://|#", link) for link in links), links


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
        for ending in ("csv", "feather", "h5", "parquet", "xlsx"):
            (folder / f"rows.{ending}").write_text("1,2\n3,4\n")
        (folder / "rows.zarr").mkdir()
        check_models(folder)
        for extra, call in functions_with_extras(folder):
            check_extra(extra, call)
    check_command_line()
    check_project_page()
    print(f"rskpca {rskpca.__version__} in {Path(rskpca.__file__).parent} works.")


if __name__ == "__main__":
    main()

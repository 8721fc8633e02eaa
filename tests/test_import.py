"""Test that importing the package is fast."""

import subprocess
import sys

import pytest

import rskpca


def modules_imported_by(statement: str) -> set[str]:
    code = f"{statement}; import sys; print(*sorted(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in run.stdout.split()}


def test_importing_the_package_loads_no_heavy_modules():
    """scikit-learn itself imports pandas, and hence pyarrow, if they are installed."""
    ours, theirs = (
        modules_imported_by("import rskpca"),
        modules_imported_by("import sklearn.utils.validation"),
    )
    assert not ours & {"numba", "llvmlite", "dask", "matplotlib", "onnx"}
    assert not (ours - theirs) & {"pyarrow", "pandas", "polars"}


@pytest.mark.parametrize("name", rskpca.__all__)
def test_every_public_name_exists_and_has_a_docstring(name):
    assert len(getattr(rskpca, name).__doc__) > 40


def test_dir_lists_only_public_names():
    assert dir(rskpca) == sorted([*rskpca.__all__, "__version__"])


def test_the_version_matches_the_installed_version():
    from importlib.metadata import version

    assert rskpca.__version__ == version("rskpca")


def test_loops_are_compiled_without_a_cache_if_none_can_be_written():
    """Many containers have a read-only installation and no home directory."""
    code = """
import numpy as np
from numba.core.dispatcher import Dispatcher
def refuse(self):
    raise RuntimeError("cannot cache function: no locator available")
Dispatcher.enable_caching = refuse
from rskpca._core import compiled, compiled_cover, compiled_sample
X = np.array([[0.0, 0.0], [3.0, 4.0]])
assert compiled.squared_distance(X, 0, X, 1) == 25.0
"""
    subprocess.run([sys.executable, "-c", code], check=True)

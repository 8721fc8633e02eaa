"""Importing the package is light."""

import subprocess
import sys

import pytest

import rskpca


def imported_by(statement: str) -> set[str]:
    code = f"{statement}; import sys; print(*sorted(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in run.stdout.split()}


def test_import_brings_in_nothing_heavy():
    """scikit-learn itself imports pandas, and so pyarrow, where they are installed."""
    ours, theirs = imported_by("import rskpca"), imported_by("import sklearn.utils.validation")
    assert not ours & {"numba", "llvmlite", "dask", "matplotlib", "onnx"}
    assert not (ours - theirs) & {"pyarrow", "pandas", "polars"}


def test_import_runs_no_compiled_module():
    code = "import rskpca, sys; sys.exit('rskpca._core.compiled' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", rskpca.__all__)
def test_every_public_name_is_there_and_told_about(name):
    assert len(getattr(rskpca, name).__doc__) > 40


def test_the_version_is_the_one_installed():
    from importlib.metadata import version

    assert rskpca.__version__ == version("rskpca")


def test_it_works_where_nothing_can_be_cached():
    """A read-only installation without a home folder, as in many containers."""
    code = """
import numpy as np
from numba.core.dispatcher import Dispatcher
def refuse(self):
    raise RuntimeError("cannot cache function: no locator available")
Dispatcher.enable_caching = refuse
from rskpca import ReducedSetKernelPCA
X = np.random.default_rng(0).normal(size=(100, 3))
assert ReducedSetKernelPCA(2).fit_transform(X).shape == (100, 2)
"""
    subprocess.run([sys.executable, "-c", code], check=True)

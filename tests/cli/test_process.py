"""The program as a process: signals, files that cannot grow, pipes and terminals."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from rskpca import ReducedSetKernelPCA, save

from .cases import ROWS

PROGRAM = [sys.executable, "-m", "rskpca.cli"]


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A table that takes some seconds to embed, and a model of it."""
    folder = tmp_path_factory.mktemp("large")
    save(ReducedSetKernelPCA(2, ell=20.0).fit(ROWS), folder / "m.rskpca")
    np.save(folder / "large.npy", np.resize(ROWS, (3_000_000, 4)))
    return folder


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"]
)
def test_an_interruption_leaves_nothing_half_written(large, number, code):
    before = sorted(large.iterdir())
    command = [*PROGRAM, "transform", "m.rskpca", "large.npy", "-o", "z.npy"]
    with subprocess.Popen(command, cwd=large, stderr=subprocess.PIPE, text=True) as process:
        end = time.monotonic() + 60
        while sorted(large.iterdir()) == before and time.monotonic() < end:
            time.sleep(0.01)
        assert sorted(large.iterdir()) != before  # it is writing
        process.send_signal(number)
        assert process.wait(30) == code
        errors = process.stderr.read()
    assert sorted(large.iterdir()) == before
    if number == signal.SIGINT:
        assert errors == "interrupted: nothing half-written is left.\n"


@pytest.mark.skipif(os.name == "nt", reason="limits are those of POSIX")
def test_a_file_that_cannot_grow(large):
    before = sorted(large.iterdir())
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (10**6, 10**6)); "
        "from rskpca.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "transform", "m.rskpca", "large.npy", "-o", "z.npy"]
    done = subprocess.run(command, cwd=large, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "error: 'z.npy': file too large; 'z.npy' was not written.\n"
    assert sorted(large.iterdir()) == before


def test_what_is_missing_is_named():
    code = "import sys; sys.modules['typer'] = None; from rskpca.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == 'error: the command line needs typer: pip install "rskpca[cli]".\n'


def test_the_command_imports_nothing_heavy():
    code = (
        "import rskpca.cli.app, sys; "
        "print({'matplotlib', 'plotly', 'numba', 'dask'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"

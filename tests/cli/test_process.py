"""The program as a process: signals, files that cannot grow, pipes and terminals."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from rskpca import ReducedSetKernelPCA, save
from rskpca.cli import main

from .cases import ROWS

PROGRAM = [sys.executable, "-m", "rskpca.cli"]


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A table that takes some seconds to embed, and a model of it."""
    folder = tmp_path_factory.mktemp("large")
    save(ReducedSetKernelPCA(2, ell=20.0).fit(ROWS), folder / "m.rskpca")
    np.save(folder / "large.npy", np.resize(ROWS, (2_000_000, 4)))
    return folder


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_an_interruption_leaves_nothing_half_written(large):
    """Two at a time, one interrupted and one terminated, each in the midst of its writing."""
    before = sorted(large.iterdir())
    command = [*PROGRAM, "transform", "m.rskpca", "large.npy", "-o"]
    ends = {"i.npy": (signal.SIGINT, 130), "t.npy": (signal.SIGTERM, 143)}
    started = {
        out: subprocess.Popen([*command, out], cwd=large, stderr=subprocess.PIPE, text=True)
        for out in ends
    }
    for out, process in started.items():
        with process:
            assert _appears(large, f".{Path(out).stem}.*")
            process.send_signal(ends[out][0])
            errors = process.communicate(timeout=30)[1]
            assert process.returncode == ends[out][1]
        if out == "i.npy":
            assert errors == "interrupted: nothing half-written is left.\n"
    assert sorted(large.iterdir()) == before


def _appears(folder, pattern):
    """Whether a file of this name is there within a minute."""
    end = time.monotonic() + 60
    while not list(folder.glob(pattern)) and time.monotonic() < end:
        time.sleep(0.01)
    return bool(list(folder.glob(pattern)))


@pytest.mark.skipif(os.name == "nt", reason="limits are those of POSIX")
def test_a_file_that_cannot_grow(tmp_path):
    save(ReducedSetKernelPCA(2).fit(ROWS), tmp_path / "m.rskpca")
    np.save(tmp_path / "large.npy", np.resize(ROWS, (200_000, 4)))
    before = sorted(tmp_path.iterdir())
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (10**6, 10**6)); "
        "from rskpca.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "transform", "m.rskpca", "large.npy", "-o", "z.npy"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "error: 'z.npy': file too large; 'z.npy' was not written.\n"
    assert sorted(tmp_path.iterdir()) == before


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 'error: the command line needs typer: pip install "rskpca[cli]".'


def test_an_interruption_while_it_is_loaded(monkeypatch):
    class Impatient:
        def find_spec(self, name, path, target=None):
            if name == "rskpca.cli.app":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "rskpca.cli.app", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Impatient(), *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130


def test_the_command_imports_nothing_heavy():
    code = (
        "import rskpca.cli.app, sys; "
        "print({'matplotlib', 'plotly', 'numba', 'dask'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"

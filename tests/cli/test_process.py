"""Test the program in its own process: signals, file size limits and imports."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from rskpca import ReducedSetKernelPCA, save
from rskpca._core import atomic
from rskpca.cli import main

from .cases import FEATURES, FRAME, ROWS, output_of, run

PROGRAM = [sys.executable, "-m", "rskpca.cli"]
# Shells ignore SIGINT in background jobs, and Python inherits this setting.
INTERRUPTIBLE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from rskpca.cli import main
main()
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Write a model and a table that takes a second or more to embed."""
    folder = tmp_path_factory.mktemp("large")
    save(ReducedSetKernelPCA(2, ell=20.0).fit(ROWS), folder / "m.rskpca")
    np.save(folder / "large.npy", np.resize(ROWS, (6_000_000, 4)))
    return folder


@pytest.mark.skipif(os.name == "nt", reason="requires POSIX signals")
def test_an_interrupted_transform_leaves_no_files(large):
    before = sorted(large.iterdir())
    arguments = ["transform", "m.rskpca", "large.npy", "-o", "z.csv"]
    command = [sys.executable, "-c", INTERRUPTIBLE, *arguments]
    with subprocess.Popen(command, cwd=large, stderr=subprocess.PIPE, text=True) as process:
        end = time.monotonic() + 120
        while sorted(large.iterdir()) == before and time.monotonic() < end:
            time.sleep(0.01)
        assert sorted(large.iterdir()) != before  # the output is being written
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=120)[1]
    assert process.returncode == 130, errors
    assert sorted(large.iterdir()) == before
    assert errors == "interrupted: unfinished files were removed.\n"


@pytest.mark.skipif(os.name == "nt", reason="requires POSIX signals")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"]
)
@pytest.mark.parametrize(
    "arguments",
    [
        "fit rows.npy",
        "fit rows.npy --checkpoint note",
        "transform m.rskpca rows.npy -o z.csv",
        "report m.rskpca rows.npy",
    ],
)
def test_a_signal_before_the_rename_leaves_no_files(folder, monkeypatch, arguments, number, code):
    """The signal arrives when the temporary file is complete but not yet renamed."""
    output_of("fit", "rows.npy", "-o", "m.rskpca")
    before = sorted(folder.rglob("*"))
    monkeypatch.setattr(atomic, "_sync", lambda path: signal.raise_signal(number))
    monkeypatch.setattr(sys, "argv", ["rskpca", *arguments.split()])
    handled = signal.getsignal(signal.SIGTERM)
    # Shells ignore SIGINT in background jobs, and Python inherits this setting.
    interrupted = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        signal.signal(signal.SIGTERM, handled)
        signal.signal(signal.SIGINT, interrupted)
    assert ended.value.code == code
    assert sorted(folder.rglob("*")) == before


@pytest.mark.skipif(os.name == "nt", reason="requires POSIX resource limits")
def test_a_file_size_limit_is_reported(tmp_path):
    save(ReducedSetKernelPCA(2).fit(ROWS), tmp_path / "m.rskpca")
    np.save(tmp_path / "large.npy", np.resize(ROWS, (200_000, 4)))
    before = sorted(tmp_path.iterdir())
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (10**6, 10**6)); "
        "from rskpca.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "transform", "m.rskpca", "large.npy", "-o", "z.npy"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr == "error: 'z.npy': file too large; 'z.npy' was not written.\n"
    assert sorted(tmp_path.iterdir()) == before


def test_a_missing_package_is_reported_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == (
        'error: the command line requires typer: pip install ".[cli]" in a checkout of rskpca.'
    )


def test_an_interrupt_during_import_exits_quietly(monkeypatch):
    class InterruptingFinder:
        def find_spec(self, name, path, target=None):
            if name == "rskpca.cli.app":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "rskpca.cli.app", raising=False)
    monkeypatch.setattr(sys, "meta_path", [InterruptingFinder(), *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130


@pytest.mark.parametrize(
    "arguments", [["--help"], ["fit", "--help"], ["--version"], ["fit", "no-such-file.csv"]]
)
def test_help_and_missing_files_import_no_slow_library(arguments):
    allowed = {"pydantic"} if "no-such-file.csv" in arguments else set()  # typer needs it to parse
    code = (
        "import sys\nfrom rskpca.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "slow = {'numpy', 'scipy', 'sklearn', 'numba', 'plotly', 'pydantic', 'rich.markdown'}\n"
        f"print((slow & set(sys.modules)) - {allowed})"
    )
    command = [sys.executable, "-c", code, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout.endswith("set()\n")


@pytest.mark.parametrize(
    "name", ["\x1b[31mred\x1b[0m", "a\u202eb", "\x07bell", "\x9b31m", "a\nerror: forged", "a\tb"]
)
def test_names_in_data_and_model_files_cannot_control_the_terminal(folder, name):
    frame = FRAME[FEATURES].rename(columns={"x 1": name})
    frame.to_csv("names.csv", index=False)
    for arguments in (
        ("fit", "names.csv"),
        ("plan", "names.csv"),
        ("inspect", "names.rskpca"),
        ("fit", "names.csv", "-c", "x"),
        ("transform", "names.rskpca", "rows.npy", "--id", name),
    ):
        printed = run(*arguments).output
        assert all(c.isprintable() or c == "\n" for c in printed)
        assert not any(
            line.lstrip("│ ").startswith("error: forged") for line in printed.split("\n")
        )
    assert ascii(name)[1:-1] in run("inspect", "names.rskpca").stdout

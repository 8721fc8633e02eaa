"""Test that an unusable cache of compiled code costs time, but raises no errors."""

import os
import shutil
import subprocess
import sys

import pytest

SCRIPT = """
import numpy as np
from rskpca._core.compiled import scale_rows
rows, norms = np.empty((3, 2)), np.empty(3)
scale_rows(np.ones((3, 2)), np.zeros(2), 2.0, rows, norms)
print(rows.sum())
"""


def run(folder, script=SCRIPT, **variables):
    """Run the script with its own cache; return its warnings."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), **variables}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "12.0\n"
    return done.stderr


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Return a cache that contains the compiled code."""
    folder = tmp_path_factory.mktemp("cache")
    assert run(folder) == ""
    return folder


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", [b"", b"noise", None], ids=["empty", "noise", "truncated"])
def test_damaged_cache_files_are_reported_once_and_replaced_or_ignored(
    filled, tmp_path, ending, damage
):
    shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
    files = list(tmp_path.rglob(f"*{ending}"))
    assert files
    for file in files:
        content = file.read_bytes()
        file.write_bytes(content[: len(content) // 2] if damage is None else damage)
    assert run(tmp_path).count("cannot be cached") <= 1


def test_a_full_disk_is_reported_once(tmp_path):
    full = "import errno, numba.core.caching as caching\n" + (
        "def fail(self, name, data): raise OSError(errno.ENOSPC, 'No space left on device')\n"
        "caching.IndexDataCacheFile._save_data = fail\n"
    )
    message = run(tmp_path, full + SCRIPT)
    assert message.count("compiled code cannot be cached") == 1
    assert "No space left on device" in message
    assert "NUMBA_CACHE_DIR" in message


def test_a_cache_that_cannot_be_written_is_reported(tmp_path):
    blocked = "import numba.core.caching as caching\n" + (
        "def fail(self): raise OSError('read-only')\n"
        "caching._CacheLocator.ensure_cache_path = fail\n"
    )
    assert "no cache directory is writable" in run(tmp_path, blocked + SCRIPT)

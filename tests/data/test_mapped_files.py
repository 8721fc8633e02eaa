"""Test that memory-mapped files do not fill the memory of the process."""

import sys
from pathlib import Path

import numpy as np
import pytest

from rskpca.data import open_source

MEGABYTE = 2**20


def resident_pages_of_files():
    """Return the size of the file pages that are mapped into this process, in bytes."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("RssFile:")[1].split()[0])


@pytest.mark.skipif(sys.platform != "linux", reason="requires /proc/self/status")
@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_pages_of_a_mapped_file_are_released_while_it_is_read(tmp_path, suffix):
    X = np.random.default_rng(0).random((16_000, 1_024), dtype=np.float32)  # 62.5 MB
    path = tmp_path / f"X.{suffix}"
    np.save(path, X) if suffix == "npy" else np.savez(path, X)
    source, sizes, total = open_source(path, block_rows=1_000), [resident_pages_of_files()], 0.0
    for block in source.blocks():
        total += block.rows.sum(dtype=np.float64)
        sizes.append(resident_pages_of_files())
    assert total == pytest.approx(X.sum(dtype=np.float64))
    assert max(sizes) - sizes[0] < 20 * MEGABYTE
    rows = np.sort(np.random.default_rng(1).integers(0, len(X), 8_000))
    np.testing.assert_array_equal(source.take(rows), X[rows])
    assert resident_pages_of_files() - sizes[0] < 20 * MEGABYTE

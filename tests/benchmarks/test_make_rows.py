"""Test that generators return the requested number of rows, and always the same rows."""

import numpy as np
import pytest

from benchmarks.make_rows import make_chunks, make_embeddings, write
from rskpca.data import open_source


@pytest.mark.parametrize(("stop", "start"), [(120_000, 0), (30_000, 0), (60_000, 45_000)])
def test_chunks_contain_the_requested_rows(stop, start):
    rows = np.concatenate(list(make_chunks(150_000)))
    np.testing.assert_array_equal(np.concatenate(list(make_chunks(stop, start))), rows[start:stop])


def test_a_folder_contains_the_requested_number_of_rows(tmp_path):
    assert open_source(write(tmp_path / "rows", 30_000)).n_rows == 30_000


def test_embeddings_are_reproducible_unit_vectors():
    rows = make_embeddings(50, 32)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-6)
    np.testing.assert_array_equal(rows, make_embeddings(50, 32))

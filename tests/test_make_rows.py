"""Tests of the rows for benchmarks: their number is exact, and they are reproducible."""

import numpy as np
import pytest

from benchmarks.make_rows import spans, write
from rskpca.data import open_source


@pytest.mark.parametrize(("n_rows", "start"), [(120_000, 0), (30_000, 0), (60_000, 45_000)])
def test_spans_start_and_stop_at_the_requested_rows(n_rows, start):
    expected = np.concatenate(list(spans(150_000)))
    np.testing.assert_array_equal(
        np.concatenate(list(spans(n_rows, start))), expected[start:n_rows]
    )


def test_a_folder_holds_the_requested_number_of_rows(tmp_path):
    assert open_source(write(tmp_path / "rows", 30_000)).n_rows == 30_000

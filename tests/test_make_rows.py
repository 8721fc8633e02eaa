"""The rows of the benchmarks are as many as were asked for, and always the same."""

import numpy as np
import pytest

from benchmarks.make_rows import spans, write
from rskpca.data import open_source


@pytest.mark.parametrize(("n_rows", "start"), [(120_000, 0), (30_000, 0), (60_000, 45_000)])
def test_spans_are_cut_where_they_are_asked_to(n_rows, start):
    whole = np.concatenate(list(spans(150_000)))
    np.testing.assert_array_equal(np.concatenate(list(spans(n_rows, start))), whole[start:n_rows])


def test_a_folder_holds_as_many_rows_as_were_asked_for(tmp_path):
    assert open_source(write(tmp_path / "rows", 30_000)).n_rows == 30_000

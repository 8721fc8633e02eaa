"""Test that skip_missing yields exactly the complete rows of a table."""

import numpy as np
import pandas as pd
import pytest

from rskpca.data import open_source

from .cases import KINDS, NAMES, make_input, table

X = table()
WITH_GAPS = X.copy()
WITH_GAPS[[0, 333, 334, 998], [2, 0, 1, 1]] = [np.nan, np.inf, -np.inf, np.nan]
COMPLETE = X[np.isfinite(WITH_GAPS).all(axis=1)]


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_contain_only_the_complete_rows(tmp_path, kind):
    source = open_source(make_input(kind, tmp_path, WITH_GAPS), block_rows=100, skip_missing=True)
    assert source.n_rows is None
    blocks, expected = list(source.blocks()), list(open_source(COMPLETE, block_rows=100).blocks())
    assert [block.start for block in blocks] == [block.start for block in expected]
    for block, complete in zip(blocks, expected, strict=True):
        np.testing.assert_array_equal(block.rows, complete.rows)
    assert (source.n_rows, source.n_skipped) == (996, 4)


@pytest.mark.parametrize("start", [1, 332, 995])
def test_reading_can_start_at_any_complete_row(tmp_path, start):
    data = make_input("folder of parquet", tmp_path, WITH_GAPS)
    source = open_source(data, block_rows=70, skip_missing=True)
    rows = np.concatenate([block.rows for block in source.blocks(start)])
    np.testing.assert_array_equal(rows, COMPLETE[start:])
    np.testing.assert_array_equal(source.take([0, start, 995]), COMPLETE[[0, start, 995]])
    with pytest.raises(IndexError, match="it has 996 rows"):
        source.take([996])


def test_counting_checks_all_features_and_the_weights():
    frame = pd.DataFrame(WITH_GAPS, columns=NAMES).assign(w=1.0, name="x")
    frame.loc[5, "w"], frame.loc[6, "name"] = np.nan, None
    source = open_source(frame, weight="w", ids="name", skip_missing=True)
    assert source.counted() == 995
    assert source.n_skipped == 5
    assert len(source.weights()) == 995


def test_skipped_rows_can_be_included_as_marked_rows():
    frame = pd.DataFrame(WITH_GAPS, columns=NAMES).assign(id=np.arange(1000))
    source = open_source(frame, ids="id", block_rows=100, skip_missing=True)
    blocks = list(source.with_skipped().blocks())
    empty = np.flatnonzero(np.isnan(WITH_GAPS).any(axis=1) | np.isinf(WITH_GAPS).any(axis=1))
    marked = [b.start + np.flatnonzero(b.empty) for b in blocks if b.empty is not None]
    np.testing.assert_array_equal(np.concatenate(marked), empty)
    np.testing.assert_array_equal(np.concatenate([b.ids["id"] for b in blocks]), frame["id"])
    assert all(np.isfinite(block.rows).all() for block in blocks)
    assert (source.n_rows, source.n_skipped) == (996, 4)


def test_skipping_all_rows_raises_an_error():
    source = open_source(np.full((5, 2), np.nan), skip_missing=True)
    with pytest.raises(ValueError, match="is empty: all rows have missing values"):
        next(source.blocks())


def test_skipping_changes_the_fingerprint():
    fingerprints = {open_source(X, skip_missing=skip).fingerprint() for skip in (False, True)}
    assert len(fingerprints) == 2
    assert open_source(X).n_skipped == 0


def test_rows_are_skipped_only_on_request():
    with pytest.raises(ValueError, match=r"impute it, drop the row, or pass skip_missing=True"):
        list(open_source(WITH_GAPS).blocks())
    with pytest.raises((TypeError, ValueError), match="skip_missing must be"):
        open_source(WITH_GAPS, skip_missing="yes")
    with pytest.raises(ValueError, match="the source is already open"):
        open_source(open_source(X), skip_missing=True)


def test_a_full_pass_counts_the_rows_in_a_csv_file(tmp_path):
    source = open_source(make_input("csv", tmp_path, X))
    assert source.n_rows is None
    for _ in source.blocks(start=10):
        pass
    assert source.n_rows == 1000

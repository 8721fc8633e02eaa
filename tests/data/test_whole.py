"""Rows with missing numbers that are skipped: what is left is a table of its own."""

import numpy as np
import pandas as pd
import pytest

from rskpca.data import open_source

from .cases import KINDS, NAMES, made, table

X = table()
SPOILT = X.copy()
SPOILT[[0, 333, 334, 998], [2, 0, 1, 1]] = [np.nan, np.inf, -np.inf, np.nan]
LEFT = X[np.isfinite(SPOILT).all(axis=1)]


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_are_those_of_the_rows_that_are_left(tmp_path, kind):
    source = open_source(made(kind, tmp_path, SPOILT), block_rows=100, skip_missing=True)
    assert source.n_rows is None
    blocks, expected = list(source.blocks()), list(open_source(LEFT, block_rows=100).blocks())
    assert [block.start for block in blocks] == [block.start for block in expected]
    for block, whole in zip(blocks, expected, strict=True):
        np.testing.assert_array_equal(block.rows, whole.rows)
    assert (source.n_rows, source.n_skipped) == (996, 4)


@pytest.mark.parametrize("start", [1, 332, 995])
def test_any_row_can_be_started_from_and_taken(tmp_path, start):
    data = made("folder of parquet", tmp_path, SPOILT)
    source = open_source(data, block_rows=70, skip_missing=True)
    rows = np.concatenate([block.rows for block in source.blocks(start)])
    np.testing.assert_array_equal(rows, LEFT[start:])
    np.testing.assert_array_equal(source.take([0, start, 995]), LEFT[[0, start, 995]])
    with pytest.raises(IndexError, match="it has 996 rows"):
        source.take([996])


def test_counting_looks_at_all_features_and_the_weight():
    frame = pd.DataFrame(SPOILT, columns=NAMES).assign(w=1.0, name="x")
    frame.loc[5, "w"], frame.loc[6, "name"] = np.nan, None
    source = open_source(frame, weight="w", ids="name", skip_missing=True)
    assert source.counted() == 995
    assert source.n_skipped == 5
    assert len(source.weights()) == 995


def test_all_rows_are_there_too_and_marked():
    frame = pd.DataFrame(SPOILT, columns=NAMES).assign(id=np.arange(1000))
    source = open_source(frame, ids="id", block_rows=100, skip_missing=True)
    blocks = list(source.with_skipped().blocks())
    empty = np.flatnonzero(np.isnan(SPOILT).any(axis=1) | np.isinf(SPOILT).any(axis=1))
    marked = [b.start + np.flatnonzero(b.empty) for b in blocks if b.empty is not None]
    np.testing.assert_array_equal(np.concatenate(marked), empty)
    np.testing.assert_array_equal(np.concatenate([b.ids["id"] for b in blocks]), frame["id"])
    assert all(np.isfinite(block.rows).all() for block in blocks)
    assert (source.n_rows, source.n_skipped) == (996, 4)


def test_nothing_is_left(tmp_path):
    source = open_source(np.full((5, 2), np.nan), skip_missing=True)
    with pytest.raises(ValueError, match="it has no rows but those that were skipped"):
        next(source.blocks())


def test_it_is_another_source_than_the_table():
    told = {open_source(X, skip_missing=skip).fingerprint() for skip in (False, True)}
    assert len(told) == 2
    assert open_source(X).n_skipped == 0


def test_it_must_be_asked_for():
    with pytest.raises(ValueError, match=r"fill it, drop the row, or give skip_missing=True"):
        list(open_source(SPOILT).blocks())
    with pytest.raises((TypeError, ValueError), match="skip_missing must be"):
        open_source(SPOILT, skip_missing="yes")
    with pytest.raises(ValueError, match="the source is open already"):
        open_source(open_source(X), skip_missing=True)


def test_rows_that_were_read_are_not_counted_again(tmp_path):
    """A text file tells how many rows it has when it was read to its end."""
    source = open_source(made("csv", tmp_path, X))
    assert source.n_rows is None
    for _ in source.blocks(start=10):
        pass
    assert source.n_rows == 1000

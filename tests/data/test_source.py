"""Test that a Source yields the same blocks for every kind of input."""

import os
import time
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr

from rskpca.data import open_source

from .cases import FILES, KINDS, NAMES, make_input, table

X = table()
ONCE = [kind for kind in KINDS if kind.startswith("iterator")]
UNNAMED = {"csv without names", "array", "list", "list of arrays", "folder of npy"}


def joined(blocks):
    return np.concatenate([block.rows for block in blocks])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("block_rows", [1000, 64, 7])
def test_blocks_contain_the_rows_of_the_array(tmp_path, kind, block_rows):
    source = open_source(make_input(kind, tmp_path, X), block_rows=block_rows)
    blocks = list(source.blocks())
    np.testing.assert_array_equal(joined(blocks), X)
    assert {len(block.rows) for block in blocks[:-1]} <= {block_rows}
    assert [block.start for block in blocks] == list(range(0, len(X), block_rows))
    assert all(block.rows.dtype == np.float64 for block in blocks)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", [1, 129, 999, 1000])
def test_reading_can_start_at_any_row(tmp_path, kind, start):
    source = open_source(make_input(kind, tmp_path, X), block_rows=100)
    rows = [block.rows for block in source.blocks(start)]
    np.testing.assert_array_equal(np.concatenate([X[:0], *rows]), X[start:])


@pytest.mark.parametrize("kind", sorted(set(KINDS) - set(ONCE)))
def test_a_source_can_be_read_repeatedly(tmp_path, kind):
    source = open_source(make_input(kind, tmp_path, X))
    assert source.again
    for _ in range(2):
        np.testing.assert_array_equal(joined(source.blocks()), X)


@pytest.mark.parametrize("kind", ONCE)
def test_an_iterator_can_be_read_only_once(tmp_path, kind):
    source = open_source(make_input(kind, tmp_path, X))
    assert not source.again
    list(source.blocks())
    with pytest.raises(
        ValueError, match=r"exhausted.* pass a function that returns a new iterator"
    ):
        list(source.blocks())


@pytest.mark.parametrize("kind", sorted(set(KINDS) - set(ONCE)))
def test_rows_can_be_selected_by_number(tmp_path, kind):
    source = open_source(make_input(kind, tmp_path, X), block_rows=100)
    wanted = [0, 5, 5, 99, 100, 642, 999]
    np.testing.assert_array_equal(source.take(wanted), X[wanted])


def test_selected_rows_include_weights_and_ids(tmp_path):
    frame = pd.DataFrame({"a": X[:, 0], "n": np.arange(1000), "w": 2.0})
    frame.to_csv(tmp_path / "data.csv", index=False)
    block = open_source(tmp_path / "data.csv", ids="n", weight="w").take_block([3, 500])
    np.testing.assert_array_equal(block.rows[:, 0], X[[3, 500], 0])
    np.testing.assert_array_equal(block.ids["n"], ["3", "500"])
    np.testing.assert_array_equal(block.weights, [2.0, 2.0])


@pytest.mark.parametrize("kind", sorted(set(KINDS) - set(ONCE)))
def test_progress_is_reported_while_reading(tmp_path, kind):
    source = open_source(make_input(kind, tmp_path, X), block_rows=100)
    for read in (source.counted, lambda: list(source.blocks()), lambda: source.take([10, 999])):
        seen = [0]
        source.watch = seen.append
        read()
        assert seen == sorted(seen)
        assert seen[-1] == 1000 or seen == [0]  # a known number of rows is not counted again
    assert len(seen) > 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_shape_and_feature_names_are_available(tmp_path, kind):
    source = open_source(make_input(kind, tmp_path, X))
    assert source.n_features == 3
    assert source.n_rows in (1000, None)
    if source.again:
        assert source.counted() == source.n_rows == 1000
    named = kind not in UNNAMED and not any(w in kind for w in ("np", "hdf5", "zarr", "arrays"))
    assert source.feature_names == (NAMES if named else None)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"list"}))
def test_float32_data_remain_float32(tmp_path, kind):
    single = X.astype(np.float32)
    source = open_source(make_input(kind, tmp_path, single))
    assert source.dtype == (np.float64 if "csv" in kind else np.float32)
    np.testing.assert_array_equal(joined(source.blocks()).astype(np.float32), single)


@pytest.mark.parametrize("kind", KINDS)
def test_integers_are_converted_to_float64(tmp_path, kind):
    integers = np.arange(3000).reshape(1000, 3)
    rows = joined(open_source(make_input(kind, tmp_path, integers)).blocks())
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(rows, integers)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_non_finite_value_is_reported_with_its_location(tmp_path, kind, bad):
    invalid = X.copy()
    invalid[777, 1] = bad
    kind_of_value = "is (missing|NaN)" if np.isnan(bad) else "is infinite"
    source = open_source(make_input(kind, tmp_path, invalid), block_rows=100)
    blocks = source.blocks()
    for _ in range(7):
        next(blocks)
    with pytest.raises(ValueError, match=rf"column ('b'|1), of .* {kind_of_value}") as error:
        next(blocks)
    place = {"folder": "part-3", "iterator": "block", "list of": "block 5", "function": "block 5",
             "csv without names": "line 778", "csv": "line 779"}  # fmt: skip
    expected = next((word for kind_, word in place.items() if kind.startswith(kind_)), "row 777")
    assert expected in str(error.value)
    if kind in FILES:
        assert str(tmp_path) in str(error.value)


@pytest.mark.parametrize("cell", ["", "NA", "nan"])
def test_a_missing_cell_is_reported_with_its_line(tmp_path, cell):
    path = tmp_path / "data.csv"
    path.write_text(f'\n"a\n(m)",b,c\n\n1,2,"x\ny"\n3,{cell},z\n{cell},4,z\n')
    with pytest.raises(ValueError, match=r"line 7, column 'b', of '.*data\.csv' is missing \(2 of"):
        list(open_source(path, exclude="c").blocks())


def test_errors_give_the_row_number_within_a_file(tmp_path):
    invalid = X.copy()
    invalid[777, 1] = np.nan
    source = open_source(make_input("folder of parquet", tmp_path, invalid), block_rows=600)
    with pytest.raises(ValueError, match=r"row 27 \(numbered from 0\).*part-3\.parquet'"):
        list(source.blocks())


def test_finite_values_whose_sum_overflows_are_accepted():
    huge = np.full((10, 2), 1e308)
    np.testing.assert_array_equal(joined(open_source(huge).blocks()), huge)


def test_blocks_contain_about_two_million_values():
    assert open_source(np.zeros((10, 16))).block_rows == 2**17
    assert open_source(np.zeros((10, 10**6), dtype=np.float32)).block_rows == 256


@pytest.mark.parametrize("block_rows", [0, -1, 2.5, "all"])
def test_an_invalid_block_size_raises_an_error(block_rows):
    with pytest.raises(ValueError, match="block_rows must be an integer of at least 1"):
        open_source(X, block_rows=block_rows)


@pytest.mark.parametrize("kind", KINDS)
def test_fingerprints_of_different_tables_differ(tmp_path, kind):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    same = make_input(kind, tmp_path / "one", X)
    source = open_source(same)
    first = source.fingerprint()
    if kind not in ONCE:
        assert open_source(same).fingerprint() == first
        columns = [0, 1] if source.feature_names is None else ["a", "b"]
        assert open_source(same, columns=columns).fingerprint() != first
    changed = X.copy()
    changed[0] += 1
    assert open_source(make_input(kind, tmp_path / "two", changed[:-1])).fingerprint() != first


def test_parquet_row_groups_are_not_loaded_as_a_whole(tmp_path):
    columns = dict(zip("abcd", np.random.default_rng(0).normal(size=(4, 500_000)), strict=True))
    path = tmp_path / "data.parquet"
    pq.write_table(
        pa.table(columns), path, row_group_size=500_000, use_dictionary=False, data_page_size=2**14
    )
    before = pa.total_allocated_bytes()
    blocks = open_source(path, block_rows=1000).blocks()
    next(blocks)
    assert pa.total_allocated_bytes() - before < path.stat().st_size / 10
    blocks.close()


def _datasets(path):
    if path.suffix == ".npz":
        np.savez(path, a=X, b=X + 100)
    elif path.suffix == ".h5":
        with h5py.File(path, "w") as file:
            file["a"], file["b"] = X, X + 100
    else:
        group = zarr.open_group(str(path), mode="w")
        group.create_array("a", data=X)
        group.create_array("b", data=X + 100)
    return path


@pytest.mark.parametrize("ending", ["npz", "h5", "zarr"])
def test_fingerprints_of_arrays_in_one_file_differ(tmp_path, ending):
    path = _datasets(tmp_path / f"data.{ending}")
    one, other = (open_source(path, dataset=name).fingerprint() for name in ("a", "b"))
    assert one != other
    np.savez_compressed(tmp_path / "small.npz", a=X, b=X + 100)
    one, other = (
        open_source(tmp_path / "small.npz", dataset=name).fingerprint() for name in ("a", "b")
    )
    assert one != other


def test_changing_a_zarr_chunk_changes_the_fingerprint(tmp_path):
    array = zarr.create_array(str(tmp_path / "data.zarr"), data=X, chunks=(10, 3))
    before = open_source(tmp_path / "data.zarr").fingerprint()
    array[1:3] += 1.0  # not among the evenly spaced rows that are sampled
    assert open_source(tmp_path / "data.zarr").fingerprint() != before


def _open_files(folder):
    """Return the files still open after up to one second; pyarrow closes files in a thread."""
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        links = [os.path.realpath(entry) for entry in Path("/proc/self/fd").iterdir()]
        found = [link for link in links if link.startswith(str(folder))]
        if not found:
            break
        time.sleep(0.01)
    return found


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="requires /proc/self/fd")
@pytest.mark.parametrize("kind", sorted(FILES))
def test_files_are_closed_after_reading(tmp_path, kind):
    source = open_source(make_input(kind, tmp_path, X), block_rows=100)
    assert _open_files(tmp_path) == []
    list(source.blocks(start=150))
    source.take([3, 500])
    assert _open_files(tmp_path) == []


@pytest.mark.parametrize("kind", sorted(set(KINDS) - set(ONCE)))
def test_a_row_out_of_range_raises_an_error(tmp_path, kind):
    source = open_source(make_input(kind, tmp_path, X), block_rows=100)
    with pytest.raises(IndexError, match="has no row 1,000; it has 1,000 rows, numbered from 0"):
        source.take([5, 1000])
    with pytest.raises(IndexError, match="has no row -1"):
        source.take([-1, 5])
    with pytest.raises(ValueError, match="rows must be in ascending order; sort them"):
        source.take([5, 3])


def test_fingerprints_depend_on_the_columns():
    prints = {open_source(X, columns=c).fingerprint() for c in ([0, 1], [1, 0], [0, 1, 2], None)}
    assert len(prints) == 3


def test_an_open_source_accepts_no_options():
    source = open_source(X)
    assert open_source(source) is source
    with pytest.raises(ValueError, match="already open"):
        open_source(source, columns=[0])

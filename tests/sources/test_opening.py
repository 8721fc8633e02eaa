"""What cannot be opened says why."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rskpca.sources import open_source

X = np.arange(20.0).reshape(10, 2)


def rows(source):
    return np.concatenate([block.rows for block in source.blocks()])


@pytest.mark.parametrize("name", ["data.txt", "data", "data.npy.gz"])
def test_an_unknown_ending_is_named(tmp_path, name):
    with pytest.raises(ValueError, match=rf"cannot read '{name}'.*\.npy, \.npz, \.csv, \.parquet"):
        open_source(tmp_path / name)


@pytest.mark.parametrize("ending", ["npy", "csv", "parquet", "zarr"])
def test_a_missing_file_is_named(tmp_path, ending):
    with pytest.raises(FileNotFoundError, match=rf"there is no file .*nothing\.{ending}"):
        open_source(str(tmp_path / f"nothing.{ending}"))


@pytest.mark.parametrize("ending", ["npy", "npz", "csv", "parquet", "arrow", "feather", "h5"])
def test_an_empty_file_is_named(tmp_path, ending):
    path = tmp_path / f"data.{ending}"
    path.touch()
    with pytest.raises(ValueError, match=rf"data\.{ending}' is empty: it has no bytes"):
        open_source(path)


@pytest.mark.parametrize("ending", ["npy", "npz", "parquet", "arrow", "h5", "zarr"])
def test_a_file_of_another_kind_is_named(tmp_path, ending):
    path = tmp_path / f"data.{ending}"
    path.write_bytes(b"these are not the bytes of such a file at all")
    with pytest.raises(ValueError, match=rf"cannot read '.*data\.{ending}' as a"):
        open_source(path)


def test_a_file_without_rows_is_named(tmp_path):
    np.save(tmp_path / "data.npy", X[:0])
    np.savez(tmp_path / "data.npz", X=X[:0])
    pd.DataFrame(X[:0], columns=["a", "b"]).to_parquet(tmp_path / "data.parquet")
    for ending in ("npy", "npz", "parquet"):
        with pytest.raises(ValueError, match=rf"data\.{ending}' is empty: it has no rows"):
            open_source(tmp_path / f"data.{ending}")
    (tmp_path / "data.csv").write_text("a,b\n")
    with pytest.raises(ValueError, match=r"data\.csv' is empty: it has no rows"):
        list(open_source(tmp_path / "data.csv").blocks())


@pytest.mark.parametrize("empty", [[], iter([]), list], ids=["list", "iterator", "function"])
def test_nothing_is_refused(empty):
    with pytest.raises(ValueError, match=r"is empty|two dimensions"):
        open_source(empty)


def test_an_empty_folder_is_named(tmp_path):
    (tmp_path / "notes.txt").touch()
    (tmp_path / "_SUCCESS").touch()
    with pytest.raises(ValueError, match="holds no file that ends in"):
        open_source(tmp_path)


def test_a_folder_of_several_kinds_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", X)
    (tmp_path / "b.csv").write_text("1,2\n")
    with pytest.raises(ValueError, match=r"several kinds, \.csv, \.npy; keep one"):
        open_source(tmp_path)


def test_parts_are_read_in_the_order_of_their_names(tmp_path):
    for i in (2, 0, 1):
        np.save(tmp_path / f"{i}.npy", X + 100 * i)
    (tmp_path / ".hidden.npy").touch()
    np.testing.assert_array_equal(
        rows(open_source(tmp_path)), np.concatenate([X, X + 100, X + 200])
    )


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"a": [1.0]}, r"1\.parquet' has 1 columns, but .*0\.parquet' has 2"),
        ({"a": [1.0], "c": [2.0]}, r"1\.parquet' has a column 'c' where .* has 'b'"),
        ({"a": [1.0], "b": ["x"]}, r"column 'b' of .*1\.parquet' is kept as text"),
    ],
)
def test_parts_of_other_columns_are_named(tmp_path, second, message):
    pd.DataFrame({"a": [1.0], "b": [2.0]}).to_parquet(tmp_path / "0.parquet")
    pd.DataFrame(second).to_parquet(tmp_path / "1.parquet")
    with pytest.raises(ValueError, match=message):
        open_source(tmp_path)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (X[:, :1], "block 1 of the iterator has 1 columns, but block 0 has 2"),
        (X.astype(np.float32), "column 0 of block 1 of the iterator is kept as float32"),
        (pd.DataFrame(X, columns=["a", "b"]), "block 1 of the iterator has a column 'a'"),
        (X[0], r"block 1 of the iterator has shape \(2,\)"),
        (X.astype(complex), "block 1 of the iterator holds complex numbers"),
    ],
)
def test_blocks_that_differ_are_named(second, message):
    source = open_source(iter([X, second]))
    with pytest.raises(ValueError, match=message):
        list(source.blocks())


def test_several_arrays_need_a_name(tmp_path):
    np.savez(tmp_path / "data.npz", a=X, b=X + 1)
    with pytest.raises(ValueError, match=r"data\.npz' holds a, b; name one of them with dataset="):
        open_source(tmp_path / "data.npz")
    with pytest.raises(ValueError, match="holds a, b, but no 'c'"):
        open_source(tmp_path / "data.npz", dataset="c")
    np.testing.assert_array_equal(rows(open_source(tmp_path / "data.npz", dataset="b")), X + 1)


def test_a_compressed_array_in_column_order_is_refused_with_the_fix(tmp_path):
    np.savez_compressed(tmp_path / "data.npz", X=np.asfortranarray(X))
    with pytest.raises(ValueError, match=r"column order.*np\.savez, or its np\.ascontiguousarray"):
        open_source(tmp_path / "data.npz")


def test_tables_of_text(tmp_path):
    path = tmp_path / "data.csv"
    np.savetxt(path, X, delimiter=";", header="a;b", comments="")
    np.testing.assert_array_equal(rows(open_source(path, delimiter=";")), X)
    path.write_text("1,2\n3,4\n5,6\n")
    np.testing.assert_array_equal(rows(open_source(path)), [[1, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(rows(open_source(path, header=True)), [[3, 4], [5, 6]])
    path.write_text("\n\na,b\n1,2\n\n3.5,4\n")
    np.testing.assert_array_equal(rows(open_source(path)), [[1, 2], [3.5, 4]])


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_told_from_the_first_line(tmp_path, delimiter):
    path = tmp_path / "data.csv"
    path.write_text(f'a{delimiter}"of 1,2,3;4;5||||| kinds"\n1{delimiter}2.5\n', encoding="utf-8")
    source = open_source(path)
    assert source.feature_names == ("a", "of 1,2,3;4;5||||| kinds")
    np.testing.assert_array_equal(rows(source), [[1, 2.5]])


def test_a_decimal_comma(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("1,5;2,25;3,5\n4;5,5;6\n")
    source = open_source(path, decimal=",")
    np.testing.assert_array_equal(rows(source), [[1.5, 2.25, 3.5], [4, 5.5, 6]])


def test_bad_lines_are_named(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("1,2\n3,4\n5\n6,7\n")
    with pytest.raises(ValueError, match=r"cannot read .*data\.csv': .*Row #3: Expected 2 columns"):
        list(open_source(path).blocks())
    path.write_text("1,2\n3,\n6,7\n")
    with pytest.raises(ValueError, match=r"row 1 of .*data\.csv'.*column 1: holds NaN"):
        list(open_source(path).blocks())


def test_words_in_the_middle_of_a_table_of_text_are_named(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b\n" + "1,2\n" * 1_200_000 + "3,tree\n")
    with pytest.raises(ValueError, match=r"cannot read .*data\.csv': .*'tree'"):
        list(open_source(path).blocks())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dataset": "X"}, r"a \.npy file takes no option, not dataset"),
        ({"sep": ";"}, r"a \.npy file takes no option, not sep"),
    ],
)
def test_options_that_nobody_reads_are_refused(tmp_path, options, message):
    np.save(tmp_path / "data.npy", X)
    with pytest.raises(TypeError, match=message):
        open_source(tmp_path / "data.npy", **options)
    with pytest.raises(TypeError, match="only files take this option"):
        open_source(X, **options)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (X[:, 0], r"the array has shape \(10,\).*two dimensions"),
        (X.astype(complex), "the array holds complex numbers"),
        (np.array([["a", "b"]]), "the array has dtype .*holds no numbers"),
        (np.array([[None, 1]]), "the array has dtype object"),
    ],
)
def test_bad_arrays_are_refused(data, message):
    with pytest.raises(ValueError, match=message):
        open_source(data)


def test_sparse_data_are_refused_with_the_fix():
    with pytest.raises(TypeError, match=r"sparse; give X\.toarray\(\)"):
        open_source(sparse.csr_matrix(X))


@pytest.mark.parametrize(
    ("package", "ending", "extra"),
    [
        ("pyarrow", "parquet", "parquet"),
        ("pyarrow", "csv", "parquet"),
        ("pyarrow", "feather", "parquet"),
        ("h5py", "h5", "files"),
        ("zarr", "zarr", "files"),
    ],
)
def test_a_missing_package_is_named(tmp_path, monkeypatch, package, ending, extra):
    (tmp_path / f"data.{ending}").write_text("1,2\n3,4\n")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf'{package}: pip install "rskpca\[{extra}\]"'):
        open_source(tmp_path / f"data.{ending}")

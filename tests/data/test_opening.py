"""Test which inputs open_source accepts, and the errors for those it rejects."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rskpca.data import open_source

X = np.arange(20.0).reshape(10, 2)


def rows(source):
    return np.concatenate([block.rows for block in source.blocks()])


@pytest.mark.parametrize("name", ["data.txt", "data", "data.npy.gz"])
def test_an_unknown_file_extension_raises_an_error(tmp_path, name):
    with pytest.raises(ValueError, match=rf"cannot read '{name}'.*\.npy, \.npz, \.csv, \.csv\.gz"):
        open_source(tmp_path / name)


@pytest.mark.parametrize("ending", ["npy", "csv", "parquet", "zarr"])
def test_a_missing_file_raises_an_error(tmp_path, ending):
    with pytest.raises(FileNotFoundError, match=rf"no such file: .*nothing\.{ending}"):
        open_source(str(tmp_path / f"nothing.{ending}"))


@pytest.mark.parametrize("ending", ["npy", "npz", "csv", "parquet", "arrow", "feather", "h5"])
def test_an_empty_file_raises_an_error(tmp_path, ending):
    path = tmp_path / f"data.{ending}"
    path.touch()
    with pytest.raises(ValueError, match=rf"data\.{ending}' is empty\."):
        open_source(path)


@pytest.mark.parametrize("ending", ["npy", "npz", "parquet", "arrow", "h5", "zarr"])
def test_a_file_with_the_wrong_format_raises_an_error(tmp_path, ending):
    path = tmp_path / f"data.{ending}"
    path.write_bytes(b"not the bytes of a file of this kind, whichever it is")
    with pytest.raises(ValueError, match=rf"cannot read '.*data\.{ending}' as a"):
        open_source(path)


def test_a_file_without_rows_raises_an_error(tmp_path):
    np.save(tmp_path / "data.npy", X[:0])
    np.savez(tmp_path / "data.npz", X=X[:0])
    pd.DataFrame(X[:0], columns=["a", "b"]).to_parquet(tmp_path / "data.parquet")
    for ending in ("npy", "npz", "parquet"):
        with pytest.raises(ValueError, match=rf"data\.{ending}' is empty: it has no rows"):
            open_source(tmp_path / f"data.{ending}")
    (tmp_path / "data.csv").write_text("a,b\n")
    with pytest.raises(ValueError, match=r"data\.csv' is empty: it has no rows"):
        list(open_source(tmp_path / "data.csv").blocks())
    with pytest.raises(ValueError, match=r"data\.csv' is empty: it has no rows"):
        open_source(tmp_path / "data.csv").counted()


@pytest.mark.parametrize("empty", [[], iter([]), list], ids=["list", "iterator", "function"])
def test_an_empty_input_raises_an_error(empty):
    with pytest.raises(ValueError, match=r"is empty|two dimensions"):
        open_source(empty)


def test_a_folder_without_readable_files_raises_an_error(tmp_path):
    (tmp_path / "notes.txt").touch()
    (tmp_path / "_SUCCESS").touch()
    with pytest.raises(ValueError, match="contains no file with a name that ends in"):
        open_source(tmp_path)


@pytest.mark.parametrize("name", ["1.npy.gz", "2.csv.part", "notes.txt", "folder"])
def test_an_unreadable_file_in_a_folder_raises_an_error(tmp_path, name):
    (tmp_path / "0.csv").write_text("1,2\n3,4\n")
    if name == "folder":
        (tmp_path / name).mkdir()
    else:
        (tmp_path / name).touch()
    with pytest.raises(ValueError, match=rf"contains '{name}', which cannot be read; move it"):
        open_source(tmp_path)


@pytest.mark.parametrize("ending", ["parquet", "csv", "npy"])
def test_a_folder_name_can_end_in_a_file_extension(tmp_path, ending):
    folder = tmp_path / f"rows.{ending}"
    folder.mkdir()
    frame, part = pd.DataFrame(X, columns=["a", "b"]), folder / f"part-0.{ending}"
    if ending == "npy":
        np.save(part, X)
    elif ending == "csv":
        frame.to_csv(part, index=False)
    else:
        frame.to_parquet(part)
    np.testing.assert_array_equal(rows(open_source(folder)), X)


def test_a_folder_with_mixed_file_types_raises_an_error(tmp_path):
    np.save(tmp_path / "a.npy", X)
    (tmp_path / "b.csv").write_text("1,2\n")
    with pytest.raises(ValueError, match=r"several types, \.csv, \.npy; keep only one"):
        open_source(tmp_path)


def test_files_in_a_folder_are_read_in_order_of_name(tmp_path):
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
        ({"a": [1.0], "b": ["x"]}, r"column 'b' contains text values in .*1\.parquet'"),
    ],
)
def test_files_with_different_columns_raise_an_error(tmp_path, second, message):
    pd.DataFrame({"a": [1.0], "b": [2.0]}).to_parquet(tmp_path / "0.parquet")
    pd.DataFrame(second).to_parquet(tmp_path / "1.parquet")
    with pytest.raises(ValueError, match=message):
        open_source(tmp_path)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (X[:, :1], "block 1 of the iterator has 1 columns, but block 0 has 2"),
        (X.astype(np.float32), "column 0 contains float32 values in block 1"),
        (pd.DataFrame(X, columns=["a", "b"]), "block 1 of the iterator has a column 'a'"),
        (X[0], r"block 1 of the iterator has shape \(2,\)"),
        (X.astype(complex), "block 1 of the iterator contains complex numbers"),
    ],
)
def test_blocks_with_different_columns_raise_an_error(second, message):
    source = open_source(iter([X, second]))
    with pytest.raises(ValueError, match=message):
        list(source.blocks())


def test_files_may_differ_in_columns_that_are_not_features(tmp_path):
    (tmp_path / "0.csv").write_text("name,a,b\n" + "tree,1,2\n" * 2)
    (tmp_path / "1.csv").write_text("name,a,b\n")
    (tmp_path / "2.csv").write_text("name,a,b\n" + ",3,4\n")
    (tmp_path / "3.csv").write_text("name,a,b\n" + "17,5,6\n")
    expected = [[1, 2], [1, 2], [3, 4], [5, 6]]
    np.testing.assert_array_equal(rows(open_source(tmp_path, columns=["a", "b"])), expected)
    source = open_source(tmp_path, ids="name")
    np.testing.assert_array_equal(rows(source), expected)
    names = np.concatenate([block.ids["name"] for block in source.blocks()])
    np.testing.assert_array_equal(names, ["tree", "tree", "", "17"])
    with pytest.raises(ValueError, match=r"columns 'name' of .* are not numeric"):
        open_source(tmp_path)


def test_an_empty_file_takes_its_column_types_from_the_others(tmp_path):
    (tmp_path / "0.csv").write_text("a,b,name\n")
    (tmp_path / "1.csv").write_text("a,b,name\n1,2,tree\n")
    with pytest.raises(ValueError, match=r"columns 'name' of .* are not numeric"):
        open_source(tmp_path)
    np.testing.assert_array_equal(rows(open_source(tmp_path, exclude="name")), [[1, 2]])


def test_a_feature_without_values_in_one_file_is_reported_with_its_location(tmp_path):
    pd.DataFrame({"a": [1.0], "b": [2.0]}).to_parquet(tmp_path / "0.parquet")
    pd.DataFrame({"a": [1.0], "b": [None]}).to_parquet(tmp_path / "1.parquet")
    with pytest.raises(ValueError, match=r"row 0 .*column 'b', of '.*1\.parquet' is missing"):
        rows(open_source(tmp_path))


def test_dtypes_are_promoted_across_all_files(tmp_path):
    for i, dtype in enumerate([np.int8, np.int32]):
        frame = pd.DataFrame({"a": np.float32([1.5]), "b": np.array([7], dtype=dtype)})
        frame.to_parquet(tmp_path / f"{i}.parquet")
    assert open_source(tmp_path).dtype == np.float64
    assert open_source(tmp_path / "0.parquet").dtype == np.float32


class _WrappedIterator:
    def __init__(self, items):
        self.items = iter(items)

    def __iter__(self):
        return self.items


def test_a_wrapped_iterator_can_be_read_only_once():
    source = open_source(_WrappedIterator(np.array_split(X, 3)))
    assert not source.again
    np.testing.assert_array_equal(rows(source), X)
    with pytest.raises(ValueError, match="exhausted"):
        rows(source)


@pytest.mark.parametrize(
    "make",
    [
        lambda: iter(np.array_split(X, 3)),
        lambda: (part for part in np.array_split(X, 3)),
        lambda: iter([X[:5], X[:5], X[:5]]),
        lambda: iter([X]),
    ],
    ids=["iterator", "generator", "equal blocks", "one block"],
)
def test_a_function_that_returns_the_same_iterator_raises_an_error(make):
    items = make()
    source = open_source(lambda: items)
    with pytest.raises(ValueError, match="returned an iterator that was already used"):
        rows(source)


def test_a_function_that_wraps_one_iterator_raises_an_error():
    items = iter(np.array_split(X, 3))
    source = open_source(lambda: map(np.negative, items))
    with pytest.raises(ValueError, match="returned an iterator that was already used"):
        rows(source)


def test_one_of_several_arrays_can_be_selected_by_name(tmp_path):
    np.savez(tmp_path / "data.npz", a=X, b=X + 1)
    with pytest.raises(
        ValueError, match=r"npz' contains a, b; choose one, for example with dataset='a'"
    ):
        open_source(tmp_path / "data.npz")
    with pytest.raises(ValueError, match="contains a, b, but not 'c'"):
        open_source(tmp_path / "data.npz", dataset="c")
    np.testing.assert_array_equal(rows(open_source(tmp_path / "data.npz", dataset="b")), X + 1)


def test_a_compressed_column_major_array_raises_an_error_with_a_suggested_fix(tmp_path):
    np.savez_compressed(tmp_path / "data.npz", X=np.asfortranarray(X))
    with pytest.raises(
        ValueError, match=r"column-major order.*np\.savez, or .*np\.ascontiguousarray"
    ):
        open_source(tmp_path / "data.npz")


def test_csv_files_with_and_without_a_header_are_read(tmp_path):
    path = tmp_path / "data.csv"
    np.savetxt(path, X, delimiter=";", header="a;b", comments="")
    np.testing.assert_array_equal(rows(open_source(path, delimiter=";")), X)
    path.write_text("1,2\n3,4\n5,6\n")
    np.testing.assert_array_equal(rows(open_source(path)), [[1, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(rows(open_source(path, header=True)), [[3, 4], [5, 6]])
    path.write_text("\n\na,b\n1,2\n\n3.5,4\n")
    np.testing.assert_array_equal(rows(open_source(path)), [[1, 2], [3.5, 4]])


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_detected_from_the_first_line(tmp_path, delimiter):
    path = tmp_path / "data.csv"
    path.write_text(f'a{delimiter}"any of 1,2,3;4;5|||||"\n1{delimiter}2.5\n', encoding="utf-8")
    source = open_source(path)
    assert source.feature_names == ("a", "any of 1,2,3;4;5|||||")
    np.testing.assert_array_equal(rows(source), [[1, 2.5]])


def test_numbers_with_a_decimal_comma_are_read(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("1,5;2,25;3,5\n4;5,5;6\n")
    source = open_source(path, decimal=",")
    np.testing.assert_array_equal(rows(source), [[1.5, 2.25, 3.5], [4, 5.5, 6]])


def test_invalid_lines_are_reported_with_their_location(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("1,2\n3,4\n5\n6,7\n")
    with pytest.raises(ValueError, match=r"cannot read .*data\.csv': .*Row #3: Expected 2 columns"):
        list(open_source(path).blocks())
    path.write_text("1,2\n3,\n6,7\n")
    with pytest.raises(ValueError, match=r"line 2, column 1, of .*data\.csv' is missing"):
        list(open_source(path).blocks())


def test_an_encoding_other_than_utf_8_raises_an_error(tmp_path):
    (tmp_path / "data.csv").write_bytes("gr\u00f6\u00dfe,b\n1,2\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"data\.csv' is not encoded in UTF-8 .*iconv"):
        open_source(tmp_path / "data.csv")


def test_a_damaged_archive_raises_an_error(tmp_path):
    noise = np.random.default_rng(0).normal(size=(3000, 3))
    np.savez_compressed(tmp_path / "data.npz", X=noise)
    content = bytearray((tmp_path / "data.npz").read_bytes())
    content[5000] ^= 255
    (tmp_path / "data.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"data\.npz' is corrupted"):
        rows(open_source(tmp_path / "data.npz"))


def test_multi_line_csv_cells_are_read(tmp_path):
    path, lines = tmp_path / "data.csv", "\n".join(["a line"] * 200)
    path.write_text("a,b,id\n" + "".join(f'{i},{i},"{lines} {i}"\n' for i in range(7000)))
    assert path.stat().st_size > 2 * 2**22  # spans more than two parser blocks
    found = [name for block in open_source(path, ids="id").blocks() for name in block.ids["id"]]
    assert found == [f"{lines} {i}" for i in range(7000)]
    assert len(rows(open_source(path, columns=["a", "b"]))) == 7000


def test_text_in_a_late_block_of_a_csv_file_raises_an_error(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b\n" + "1,2\n" * 1_200_000 + "3,tree\n")
    with pytest.raises(ValueError, match=r"cannot read .*data\.csv': .*'tree'"):
        list(open_source(path).blocks())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dataset": "X"}, r"a \.npy file has no options, got dataset"),
        ({"sep": ";"}, r"a \.npy file has no options, got sep"),
    ],
)
def test_unknown_options_raise_an_error(tmp_path, options, message):
    np.save(tmp_path / "data.npy", X)
    with pytest.raises(ValueError, match=message):
        open_source(tmp_path / "data.npy", **options)
    with pytest.raises(TypeError, match="can be used only with files"):
        open_source(X, **options)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (X[:, 0], r"the array has shape \(10,\).*two dimensions"),
        (X.astype(complex), "the array contains complex numbers"),
        (np.array([["a", "b"]]), "the array has dtype .*not numeric"),
        (np.array([[None, 1]]), "the array has dtype object"),
    ],
)
def test_invalid_arrays_raise_an_error(data, message):
    with pytest.raises(ValueError, match=message):
        open_source(data)


def test_columns_may_share_names_with_table_attributes():
    frame = pd.DataFrame({"num_rows": [1.0, 2.0], "schema": [3.0, 4.0]})
    np.testing.assert_array_equal(rows(open_source(frame)), [[1, 3], [2, 4]])


def test_sparse_pandas_columns_are_read():
    frame = pd.DataFrame({"a": pd.arrays.SparseArray([1.0, 0.0, 2.0]), "b": [1.0, 2.0, 3.0]})
    np.testing.assert_array_equal(rows(open_source(frame)), [[1, 1], [0, 2], [2, 3]])


def test_sparse_matrices_raise_an_error_with_a_suggested_fix():
    with pytest.raises(TypeError, match=r"sparse; pass X\.toarray\(\)"):
        open_source(sparse.csr_matrix(X))


@pytest.mark.parametrize(
    ("package", "ending", "extra"),
    [
        ("pyarrow", "parquet", "parquet"),
        ("pyarrow", "csv", "parquet"),
        ("pyarrow", "feather", "parquet"),
        ("pyarrow", "xlsx", "parquet"),
        ("python_calamine", "xlsx", "excel"),
        ("h5py", "h5", "files"),
        ("zarr", "zarr", "files"),
    ],
)
def test_a_missing_package_raises_an_error_with_a_suggested_fix(
    tmp_path, monkeypatch, package, ending, extra
):
    (tmp_path / f"data.{ending}").write_text("1,2\n3,4\n")
    monkeypatch.setitem(sys.modules, package, None)
    name = package.replace("_", "-")
    with pytest.raises(ImportError, match=rf'{name}: pip install "\.\[{extra}\]"'):
        open_source(tmp_path / f"data.{ending}")

"""Test column selection by name, pattern and number, with ids and weights."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.utils import check_array

from rskpca.data import open_source

N = 50
FRAME = pd.DataFrame(
    {
        "id": np.arange(N) + 2**60,
        "x1": np.linspace(0, 1, N),
        "x2": np.linspace(1, 2, N),
        "y": np.linspace(2, 3, N),
        "count": np.arange(N) % 3,
        "kind": ["tree", "bush"] * (N // 2),
    }
)


def inputs(tmp_path):
    FRAME.to_parquet(tmp_path / "data.parquet", row_group_size=7)
    FRAME.to_csv(tmp_path / "data.csv", index=False)
    FRAME.to_feather(tmp_path / "data.feather")
    return {
        "pandas": FRAME,
        "polars": pl.from_pandas(FRAME),
        "pyarrow": pa.Table.from_pandas(FRAME),
        "parquet": tmp_path / "data.parquet",
        "csv": tmp_path / "data.csv",
        "feather": tmp_path / "data.feather",
    }


@pytest.fixture(params=["pandas", "polars", "pyarrow", "parquet", "csv", "feather"])
def data(request, tmp_path):
    return inputs(tmp_path)[request.param]


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (["x2", "x1"], ("x2", "x1")),
        ("x*", ("x1", "x2")),
        (["y", "x?"], ("y", "x1", "x2")),
        (["[xy]*"], ("x1", "x2", "y")),
        (["x1", "x*"], ("x1", "x2")),
    ],
)
def test_features_are_selected_in_the_requested_order(data, columns, names):
    source = open_source(data, columns=columns)
    assert source.feature_names == names
    (block,) = source.blocks()
    np.testing.assert_array_equal(block.rows, FRAME[list(names)].to_numpy())


def test_ids_and_weights_are_read_with_the_features(data):
    expected = FRAME.astype({"id": str}) if str(data).endswith(".csv") else FRAME
    source = open_source(data, ids=["id", "kind"], weight="count", block_rows=16)
    assert source.feature_names == ("x1", "x2", "y")
    assert source.ids == ("id", "kind")
    blocks = list(source.blocks())
    for name in ("id", "kind"):
        ids = np.concatenate([block.ids[name] for block in blocks])
        np.testing.assert_array_equal(ids, expected[name].to_numpy())
        assert ids.dtype.kind == expected[name].to_numpy().dtype.kind
    weights = np.concatenate([block.weights for block in blocks])
    np.testing.assert_array_equal(weights, FRAME["count"])
    np.testing.assert_array_equal(source.weights(), FRAME["count"])


def test_excluded_columns_are_not_features(data):
    wanted = ("x1", "x2", "count")
    assert open_source(data, exclude=["kind", "id", "y"]).feature_names == wanted
    assert open_source(data, columns=["x*", "y"], exclude="[y2]").feature_names == ("x1", "x2")
    assert open_source(data, columns=["x1", "x2"], exclude="x2").feature_names == ("x1",)
    with pytest.raises(ValueError, match=r"exclude: .* has no column 'tree'"):
        open_source(data, exclude="tree")


def test_a_pattern_does_not_match_id_and_weight_columns(data):
    source = open_source(data, columns="*[0-9t]", ids="id", weight="count")
    assert source.feature_names == ("x1", "x2")
    assert open_source(data, columns=["x1", "count"], weight="count").n_features == 2


def test_unnamed_columns_are_selected_by_number():
    X = FRAME[["x1", "x2", "count"]].to_numpy()
    source = open_source(X, columns=[1, 0], weight=2)
    (block,) = source.blocks()
    np.testing.assert_array_equal(block.rows, X[:, [1, 0]])
    np.testing.assert_array_equal(block.weights, X[:, 2])


def test_an_error_lists_text_columns_and_suggests_a_fix(data):
    with pytest.raises(ValueError, match=r"'kind' of .* are not numeric.*exclude=.*ids=.*columns="):
        open_source(data)
    with pytest.raises(ValueError, match=r"columns 'kind' of .* are not numeric"):
        open_source(data, columns=["x1"], weight="kind")


@pytest.mark.parametrize("columns", ["z", ["x1", "z*"], [0], [None], [True]])
def test_an_unknown_column_raises_an_error(data, columns):
    with pytest.raises(
        ValueError, match=r"columns: .* has no column .*; its columns are 'id', 'x1'"
    ):
        open_source(data, columns=columns)


def test_unknown_id_and_weight_columns_raise_an_error(data):
    with pytest.raises(ValueError, match=r"ids: .* has no column 'name'"):
        open_source(data, ids="name")
    with pytest.raises(ValueError, match=r"weight: .* has no column 'w'"):
        open_source(data, ids="kind", weight="w")


@pytest.mark.parametrize("column", [3, -1, "x"])
def test_an_invalid_column_number_raises_an_error(column):
    with pytest.raises(ValueError, match="its 3 columns are unnamed; use column numbers starting"):
        open_source(np.zeros((5, 3)), columns=[column])


def test_an_empty_selection_raises_an_error(data):
    with pytest.raises(ValueError, match=r"has no columns left to use as features"):
        open_source(data, columns=[])


def test_repeated_column_names_raise_an_error(tmp_path):
    (tmp_path / "data.csv").write_text("a,b,a\n1,2,3\n4,5,6\n")
    with pytest.raises(ValueError, match=r"data\.csv' has duplicate column names: 'a'; rename"):
        open_source(tmp_path / "data.csv")


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_an_invalid_weight_is_reported_with_its_location(bad):
    frame = FRAME.assign(count=FRAME["count"].astype(float).where(FRAME["count"].index != 31, bad))
    source = open_source(frame, columns="x*", weight="count", block_rows=10)
    with pytest.raises(
        ValueError, match=r"the weight in row 31 .*'count', of the data frame is invalid"
    ):
        list(source.blocks())


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_missing_values_are_reported_with_their_location(library):
    values = [1, 2, None, 4]
    frame = {
        "pandas": lambda: pd.DataFrame({"a": pd.array(values, dtype="Int64"), "b": range(4)}),
        "polars": lambda: pl.DataFrame({"a": values, "b": range(4)}),
        "pyarrow": lambda: pa.table({"a": values, "b": range(4)}),
    }[library]()
    with pytest.raises(ValueError, match=r"the value in row 2 .*'a', of the data frame is missing"):
        list(open_source(frame).blocks())
    with pytest.raises(ValueError, match=r"the id in row 2 .*'a', of the data frame is missing"):
        list(open_source(frame, ids="a").blocks())


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_booleans_are_read_as_numbers(library):
    booleans = [True, False, True]
    frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library]
    (block,) = open_source(frame({"a": booleans, "b": [1.5, 2.5, 3.5]})).blocks()
    np.testing.assert_array_equal(block.rows, [[1, 1.5], [0, 2.5], [1, 3.5]])


@pytest.mark.parametrize(
    "keys",
    [
        ["00001", "00002", "17"],
        ["9223372036854775809", "9223372036854775810", "1"],
        ["1152921504606846977", "", "2"],
        ["1", "2.50", "true"],
        ["NA", "null", "nan"],
    ],
)
def test_ids_from_a_csv_file_are_the_original_text(tmp_path, keys):
    lines = "".join(f"{key},{i},{i}\n" for i, key in enumerate(keys))
    (tmp_path / "data.csv").write_text("id,a,b\n" + lines)
    (block,) = open_source(tmp_path / "data.csv", ids="id").blocks()
    assert block.ids["id"].tolist() == keys


@pytest.mark.parametrize("decimal", [".", ","])
def test_a_column_can_be_both_a_feature_and_an_id(tmp_path, decimal):
    FRAME.to_parquet(tmp_path / "data.parquet")
    FRAME.to_csv(tmp_path / "data.csv", index=False, sep=";", decimal=decimal)
    for path, options in (
        (tmp_path / "data.parquet", {}),
        (tmp_path / "data.csv", {"decimal": decimal}),
    ):
        source = open_source(
            path, columns=["x1", "count"], weight="count", ids=["x1", "id"], **options
        )
        (block,) = source.blocks()
        np.testing.assert_array_equal(block.rows, FRAME[["x1", "count"]])
        np.testing.assert_array_equal(block.weights, FRAME["count"])
        assert [str(key) for key in block.ids["id"]] == [str(key) for key in FRAME["id"]]


def test_a_stored_pandas_index_is_used_as_a_feature_only_on_request(tmp_path):
    some = FRAME.drop(columns="kind")[FRAME["count"] > 0]
    some.to_parquet(tmp_path / "data.parquet")
    some.set_index("id").to_feather(tmp_path / "data.feather")
    names = ("id", "x1", "x2", "y", "count")
    for data in (tmp_path / "data.parquet", pa.Table.from_pandas(some)):
        assert open_source(data).feature_names == names
        assert open_source(data, columns="*").feature_names == names
        (block,) = open_source(data, ids="__index_level_0__").blocks()
        np.testing.assert_array_equal(block.ids["__index_level_0__"], some.index)
    assert open_source(tmp_path / "data.feather").feature_names == names[1:]
    (block,) = open_source(tmp_path / "data.feather", columns=["x1", "id"]).blocks()
    np.testing.assert_array_equal(block.rows[:, 1], some["id"])


MIXED = {
    "f": np.float32([1.5, 2.5]),
    "b": np.array([True, False]),
    "s": np.int16([1, 2]),
    "i": np.int32([1, 2]),
    "h": np.float16([1, 2]),
    "d": np.array([1.5, 2.5]),
}


@pytest.mark.parametrize(
    "names", ["f", "fb", "fs", "fi", "fh", "fd", "b", "bs", "h", "hb", "bi", "fbsh"]
)
def test_dtypes_are_promoted_as_in_scikit_learn(names):
    frame = pd.DataFrame({name: MIXED[name] for name in names})
    expected = check_array(frame, dtype=[np.float64, np.float32]).dtype
    assert open_source(frame).dtype == expected


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_boolean_ids_remain_boolean(library):
    frame = {
        "pandas": lambda: pd.DataFrame({"a": pd.array([True, None], "boolean"), "b": [1.0, 2.0]}),
        "polars": lambda: pl.DataFrame({"a": [True, None], "b": [1.0, 2.0]}),
        "pyarrow": lambda: pa.table({"a": [True, None], "b": [1.0, 2.0]}),
    }[library]()
    (block,) = open_source(frame, ids="a").blocks()
    assert block.ids["a"].tolist() == [True, None]

"""Types of id columns from CSV files: inferred only if no value changes."""

import pandas as pd
import pyarrow as pa
import pytest

from rskpca.data import open_source
from rskpca.data._ids import TypeInference
from rskpca.data.source import id_columns

# fmt: off
CASES = {
    "integers": (["0", "17", "-3"], "int64", [0, 17, -3]),
    "large integers": (["9223372036854775807", "1"], "int64", [2**63 - 1, 1]),
    "integers with gaps": (["9007199254740993", "", "2"], "int64", [2**53 + 1, None, 2]),
    "booleans": (["True", "False", ""], "bool", [True, False, None]),
    "other booleans": (["TRUE", "FALSE"], "bool", [True, False]),
    "spellings": (["TRUE", "True"], "string", ["TRUE", "True"]),
    "fractions": (["0.5", "17.0", "-2.25", ""], "double", [0.5, 17.0, -2.25, None]),
    "small fractions": (["0.5", "1e-05", "1.5e+20"], "double", [0.5, 1e-5, 1.5e20]),
    "all digits": (["0.12345678901234568"], "double", [0.12345678901234568]),
    "too many digits": (["1.12345678901234567"], "string", ["1.12345678901234567"]),
    "equal when rounded": (
        ["0.3", "0.30000000000000001"], "string", ["0.3", "0.30000000000000001"],
    ),
    "integers and fractions": (["17", "3.0"], "string", ["17", "3.0"]),
    "large integers and fractions": (
        ["9007199254740993", "9007199254740992", "0.5"], "string",
        ["9007199254740993", "9007199254740992", "0.5"],
    ),
    "equal numbers": (["1", "1.0"], "string", ["1", "1.0"]),
    "fixed decimals": (["1.50", "2.25"], "string", ["1.50", "2.25"]),
    "overflow": (["1e+400", "1.0"], "string", ["1e+400", "1.0"]),
    "underflow": (["1e-999", "2.5"], "string", ["1e-999", "2.5"]),
    "not finite": (["inf", "nan"], "string", ["inf", "nan"]),
    "smallest integer": (["-9223372036854775808"], "int64", [-(2**63)]),
    "leading zeros": (["007", "12"], "string", ["007", "12"]),
    "signs": (["+1", "2"], "string", ["+1", "2"]),
    "too large": (["9223372036854775808", "1"], "string", ["9223372036854775808", "1"]),
    "exponents": (["1e5", "2e7"], "string", ["1e5", "2e7"]),
    "hexadecimal": (["0x10", "1"], "string", ["0x10", "1"]),
    "versions": (["1.1", "1.10"], "string", ["1.1", "1.10"]),
    "mixed": (["1", "x"], "string", ["1", "x"]),
    "numbers and booleans": (["1", "true"], "string", ["1", "true"]),
    "markers": (["1", "NA"], "string", ["1", "NA"]),
    "spaces": (["1", " 2"], "string", ["1", " 2"]),
    "dates": (["2024-01-31", "2024-02-01"], "string", ["2024-01-31", "2024-02-01"]),
    "empty": (["", ""], "string", ["", ""]),
}
# fmt: on


def write(path, keys, **columns):
    pd.DataFrame({"id": keys, "x": range(len(keys)), **columns}).to_csv(path, index=False)
    return path


def ids_of(source):
    """Return the id columns as a pyarrow table, as they appear in the output."""
    kinds = id_columns(source)
    blocks = [list(block.ids.values()) for block in source.blocks()]
    columns = zip(*blocks, strict=True)
    arrays = [
        pa.chunked_array([kind.to_arrow(part) for part in parts])
        for kind, parts in zip(kinds, columns, strict=True)
    ]
    return pa.table(arrays, names=list(map(str, source.ids)))


@pytest.mark.parametrize(("keys", "kind", "values"), CASES.values(), ids=CASES)
def test_ids_get_a_type_only_if_it_preserves_them(tmp_path, keys, kind, values):
    source = open_source(write(tmp_path / "data.csv", keys), ids="id")
    column = ids_of(source)["id"]
    assert column.type == source.id_types()[0]
    assert str(column.type) == kind
    assert column.to_pylist() == values


def test_the_last_value_can_change_the_type_of_all_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("rskpca.data._sheets._CSV_BLOCK", 4096)
    keys = [*map(str, range(5000)), "05000"]
    source = open_source(write(tmp_path / "data.csv", keys), ids="id", block_rows=100)
    assert ids_of(source)["id"].to_pylist() == keys


def test_ids_with_decimal_commas_become_numbers(tmp_path):
    (tmp_path / "data.csv").write_text("id;x\n1,5;0,25\n-0,75;1,5\n")
    source = open_source(tmp_path / "data.csv", columns=["id", "x"], ids="id")
    assert ids_of(source)["id"].to_pylist() == [1.5, -0.75]


def test_a_feature_with_booleans_and_markers_can_be_an_id(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("card,x\nTrue,1\nFalse, 2\nTrue,NA\n")
    source = open_source(path, columns=["card", "x"], ids=["card", "x"], skip_missing=True)
    (block,) = source.blocks()
    assert block.rows.tolist() == [[1.0, 1.0], [0.0, 2.0]]
    found = ids_of(source)
    assert found["card"].to_pylist() == [True, False]
    assert found["x"].to_pylist() == ["1", " 2"]


def test_a_decimal_point_among_decimal_commas_is_not_a_number(tmp_path):
    (tmp_path / "data.csv").write_text("id;x\n1,5;0,25\n1.5;1,5\n")
    source = open_source(tmp_path / "data.csv", columns="x", ids="id", decimal=",")
    assert ids_of(source)["id"].to_pylist() == ["1,5", "1.5"]


@pytest.mark.parametrize(
    ("second", "kind"), [(["3", "4"], "int64"), (["", ""], "int64"), (["03", "4"], "string")]
)
def test_the_files_of_a_folder_have_a_common_type(tmp_path, second, kind):
    write(tmp_path / "0.csv", ["1", "2"])
    write(tmp_path / "1.csv", second, extra=1.0)
    source = open_source(tmp_path, columns="x", ids="id")
    found = ids_of(source)["id"]
    assert str(found.type) == kind
    assert found.to_pylist()[:2] == ([1, 2] if kind == "int64" else ["1", "2"])


@pytest.mark.parametrize(
    ("first", "second"), [("1.1", "1.10"), ("1", "1.0"), ("True", "true"), ("0.5", "abc")]
)
def test_ids_in_different_files_stay_different(tmp_path, first, second):
    write(tmp_path / "0.csv", [first])
    write(tmp_path / "1.csv", [second], extra=1.0)
    write(tmp_path / "2.csv", [first])
    source = open_source(tmp_path, columns="x", ids="id")
    assert ids_of(source)["id"].to_pylist() == [first, second, first]


def test_files_with_different_decimal_marks_have_text_ids(tmp_path):
    (tmp_path / "0.csv").write_text("id;x\n1,5;0,25\n")
    (tmp_path / "1.csv").write_text("id;x\n1.5;0.25\n")
    source = open_source(tmp_path, columns="x", ids="id")
    assert ids_of(source)["id"].to_pylist() == ["1,5", "1.5"]


def test_inference_stops_when_a_column_is_text():
    column = TypeInference()
    column.add(pa.array(["", ""]), ".")
    assert not column.is_text
    column.add(pa.array(["a"]), ".")
    assert column.is_text

"""Test the detection of headers, delimiters and decimal marks of CSV files."""

import csv
import threading
import warnings

import numpy as np
import pandas as pd
import pytest

from rskpca.data import SourceWarning, _sheets, open_source
from rskpca.data._sheets import detect_delimiter
from rskpca.data._table import Selection

NUMERIC_HEADERS = {
    "the columns of a frame of fractions": "0,1,2\n1.5,2.5,3.5\n1.0,2.0,3.0\n",
    "the columns of a frame of integers": "0,1,2\n5,7,1\n3,3,9\n",
    "the columns of a frame with an index": ",0,1\n0,1.5,2.5\n1,2.5,3.5\n",
    "a single column": "0\n0.5\n1.5\n",
    "years above integers": "2019,2020,2021\n5,7,8\n1,2,3\n",
    "years above fractions": "2000,2005\n.5,1.5\n1.5,0.5\n",
    "a name and years": "country,2019,2020\nFrance,1.5,2.5\nSpain,2.5,1.5\n",
    "a name above numbers": "id,2019\n7,5\n8,9\n",
    "decimal commas": "0;1\n1,5;2,5\n2,5;3,5\n",
}
ROWS = {
    "consecutive numbers": "0,1,2\n3,4,5\n6,7,8\n",
    "integers": "1,2,3\n4,5,6\n",
    "binary digits": "0,1\n1,1\n0,0\n",
    "years": "1990,1995,2000\n1900,1910,1920\n",
    "fractions": "1.5,2\n3.5,4\n",
    "a missing value": "NA,2,3\n1,4,5\n2,4,9\n",
    "an empty cell": ",2,3\n1,4,5\n2,4,9\n",
    "a text in every row": "tree,1,2\nbush,3,4\n",
    "decimal commas": "1,5;2,25\n4;5,5\n",
}


def open_text(tmp_path, text, **options):
    (tmp_path / "data.csv").write_text(text)
    exclude = "0" if text.startswith("tree") else "country" if text.startswith("country") else ()
    return open_source(tmp_path / "data.csv", **{"exclude": exclude, **options})


@pytest.mark.parametrize("text", NUMERIC_HEADERS.values(), ids=NUMERIC_HEADERS)
def test_a_numeric_header_is_not_counted_as_a_row(tmp_path, text):
    with pytest.warns(SourceWarning, match=r"read as column names \(.*pass header=False"):
        source = open_text(tmp_path, text)
    assert source.counted() == 2
    assert source.feature_names is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert open_text(tmp_path, text, header=True).counted() == 2


@pytest.mark.parametrize("text", ROWS.values(), ids=ROWS)
def test_a_row_of_numbers_is_not_mistaken_for_a_header(tmp_path, text):
    source = open_text(tmp_path, text)
    assert source.feature_names is None
    assert source.counted() == text.count("\n")


@pytest.mark.parametrize("dtype", [float, int])
def test_files_with_the_default_column_names_of_pandas_are_read_completely(tmp_path, dtype):
    X = (100 * np.random.default_rng(0).normal(size=(100, 4))).astype(dtype)
    pd.DataFrame(X).to_csv(tmp_path / "data.csv", index=False)
    with pytest.warns(SourceWarning, match=r"\(0, 1, 2, \.\.\.\)"):
        source = open_source(tmp_path / "data.csv")
    (block,) = source.blocks()
    np.testing.assert_array_equal(block.rows, X)
    assert source.feature_names == ("0", "1", "2", "3")


def test_decimal_commas_are_detected_unless_they_are_ambiguous(tmp_path):
    (block,) = open_text(tmp_path, "a;b\n1,5;2\n0,125;3\n").blocks()
    np.testing.assert_array_equal(block.rows, [[1.5, 2], [0.125, 3]])
    with pytest.raises(ValueError, match=r"'a' of .* not numeric"):
        open_text(tmp_path, "a;b\n1,500;2\n2,125;3\n")
    with pytest.raises(ValueError, match=r"'a' of .* not numeric"):
        open_text(tmp_path, "a;b\n1,5;2.5\n0,5;3.5\n")


@pytest.mark.parametrize(
    ("line", "delimiter"),
    [("1,5;2,5;3", ";"), ("1,5\t2,5\n", "\t"), ("1,2;3,4,5", ","), ("a,b,c;d", ","), ("7", ",")],
)
def test_commas_inside_numbers_are_not_delimiters(line, delimiter):
    assert detect_delimiter(line, None) == delimiter


@pytest.mark.parametrize(
    ("n_lines", "problem"),
    [(1, "a quote is not closed"), (100_000, "a quote is not"), (1_500_000, "field larger than")],
)
def test_an_unterminated_field_is_reported_with_the_name_of_the_file(tmp_path, n_lines, problem):
    text = 'a,b\n1,"' + "2,3\n" * n_lines
    with pytest.raises(ValueError, match=rf"data\.csv': {problem}.*check its delimiter and quotes"):
        open_text(tmp_path, text)


def test_a_quoted_last_cell_and_empty_lines_at_the_end_are_read(tmp_path):
    for end in ('"2"', '"2"\n', '"2"\r\n\r\n', '"2\n"'):
        (block,) = open_text(tmp_path, f"a,b\n0,1\n1,{end}", exclude="b").blocks()
        np.testing.assert_array_equal(block.rows, [[0], [1]])


LONG = "x" * 200_000  # longer than the default limit of the csv module


@pytest.mark.parametrize("before", [0, 500], ids=["in the first rows", "in later rows"])
def test_long_cells_are_read(tmp_path, before):
    rows = [*["1,2,y"] * before, f'3,4,"{LONG}\n{LONG}"', "5,6,z"]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,text", *rows, ""]))
    limit = csv.field_size_limit()
    (block,) = open_source(tmp_path / "data.csv", ids="text").blocks()
    np.testing.assert_array_equal(block.rows[before:], [[3, 4], [5, 6]])
    assert len(block.ids["text"][before]) == 400_001
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize("before", [0, 500], ids=["in the first rows", "in later rows"])
def test_a_missing_value_below_a_long_cell_is_located(tmp_path, before):
    rows = [*["1,2,y"] * before, f'3,4,"{LONG}\n{LONG}"', "5,,z"]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,text", *rows, ""]))
    with pytest.raises(ValueError, match=rf"value in line {before + 4}, column 'b'"):
        list(open_source(tmp_path / "data.csv", exclude="text").blocks())


def test_a_missing_value_is_located_by_its_row_if_lines_cannot_be_counted(tmp_path, monkeypatch):
    source = open_text(tmp_path, "a,b\n1,2\n3,\n")

    def fail(*_):
        raise csv.Error("field larger than field limit")
        yield

    monkeypatch.setattr(_sheets, "_numbered_rows", fail)
    with pytest.raises(ValueError, match=r"value in row 1 \(numbered from 0\), column 'b'"):
        list(source.blocks())


def test_the_limit_on_cells_is_restored_if_several_threads_read_files(tmp_path):
    (tmp_path / "data.csv").write_text(f"a,text\n1,{LONG}\n2,y\n")
    limit, errors = csv.field_size_limit(), []

    def read():
        try:
            for _ in range(20):
                open_source(tmp_path / "data.csv", exclude="text")
        except ValueError as error:
            errors.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert csv.field_size_limit() == limit


def test_wide_rows_are_read_in_blocks_of_many_rows(tmp_path):
    X = np.random.default_rng(0).normal(size=(100, 6000))
    pd.DataFrame(X).add_prefix("x").to_csv(tmp_path / "wide.csv", index=False)
    assert (tmp_path / "wide.csv").stat().st_size > 2 * 2**22
    table = open_source(tmp_path / "wide.csv")._table
    batches = list(table.batches(Selection(tuple(range(6000))), 0, 100))
    assert len(batches) <= 2
    np.testing.assert_array_equal(np.concatenate([np.transpose(b.columns) for b in batches]), X)

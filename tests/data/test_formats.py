"""Test additional file formats, columns that are left out, and columns next to an array."""

import gzip
import zipfile
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rskpca.data import SourceWarning, open_source

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2))
FRAME = pd.DataFrame(X, columns=["a", "b"])


def rows(source):
    return np.concatenate([block.rows for block in source.blocks()])


def write_zst(path, text):
    with pa.CompressedOutputStream(str(path), "zstd") as stream:
        stream.write(text.encode())


def write_gz(path, text):
    path.write_bytes(gzip.compress(text.encode()))


def write_plain(path, text):
    path.write_text(text)


@pytest.mark.parametrize(
    ("ending", "write"),
    [
        (".csv.gz", write_gz), (".CSV.GZ", write_gz), (".csv.zst", write_zst),
        (".tsv", write_plain), (".tsv.gz", write_gz), (".tsv.zst", write_zst),
    ],
)  # fmt: skip
@pytest.mark.parametrize("decimal", [".", ","])
def test_compressed_and_tab_separated_files_are_read(tmp_path, ending, write, decimal):
    path = tmp_path / f"data.2024{ending}"
    tabs = ".tsv" in ending
    write(path, FRAME.to_csv(sep="\t" if tabs else ";", decimal=decimal, index=False))
    source = open_source(path)
    assert source.feature_names == ("a", "b")
    np.testing.assert_array_equal(rows(source), X)


def test_commas_do_not_separate_columns_in_a_tsv_file(tmp_path):
    (tmp_path / "one.tsv").write_text("a,b\n1.5\n2.5\n")
    assert open_source(tmp_path / "one.tsv").feature_names == ("a,b",)


def test_the_error_for_a_damaged_compressed_file_names_the_file(tmp_path):
    (tmp_path / "bad.csv.gz").write_bytes(b"not compressed")
    with pytest.raises(ValueError, match=r"bad\.csv\.gz"):
        open_source(tmp_path / "bad.csv.gz")


def write_xlsx(path, *sheets):
    """Write sheets of numbers, booleans and text to a minimal workbook."""
    spreadsheet = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    documents = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    packages = "http://schemas.openxmlformats.org/package/2006"
    excel = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    numbers = range(1, len(sheets) + 1)
    names = "".join(f'<sheet name="S{i}" sheetId="{i}" r:id="r{i}"/>' for i in numbers)
    links = "".join(
        f'<Relationship Id="r{i}" Type="{documents}/worksheet" Target="worksheets/{i}.xml"/>'
        for i in numbers
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{packages}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="{excel}.worksheet+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{excel}.sheet.main+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{packages}/relationships"><Relationship Id="r1" '
        f'Type="{documents}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{spreadsheet}" xmlns:r="{documents}"><sheets>'
        f"{names}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{packages}/relationships">{links}'
        "</Relationships>",
    }
    for i, sheet in zip(numbers, sheets, strict=True):
        lines = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in sheet)
        parts[f"xl/worksheets/{i}.xml"] = (
            f'<worksheet xmlns="{spreadsheet}"><sheetData>{lines}</sheetData></worksheet>'
        )
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')


def _cell(value):
    if value is None:
        return "<c/>"
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    return f"<c><v>{value!r}</v></c>"


@pytest.fixture
def calamine():
    return pytest.importorskip("python_calamine")


def test_excel_sheets_are_read(tmp_path, calamine):
    lines = [["a", "town", "b", "new"]]
    lines += [[float(a), "Ulm", float(b), bool(a > 0)] for a, b in X]
    write_xlsx(tmp_path / "data.xlsx", lines, [["z"], [1.0], [2.0]])
    source = open_source(tmp_path / "data.xlsx", ids="town", lenient=True)
    assert source.feature_names == ("a", "b", "new")
    np.testing.assert_array_equal(rows(source), np.column_stack([X, X[:, 0] > 0]))
    assert set(source.take_block([0, 5]).ids["town"]) == {"Ulm"}
    assert open_source(tmp_path / "data.xlsx", dataset="S2").feature_names == ("z",)
    with pytest.raises(ValueError, match=r"has the sheets S1, S2, but not 'S3'"):
        open_source(tmp_path / "data.xlsx", dataset="S3")


def test_a_sheet_may_have_missing_values_and_no_header(tmp_path, calamine):
    write_xlsx(tmp_path / "data.xlsx", [[0.5, 2.0], [1.5, None], [2.5, 3.0]])
    source = open_source(tmp_path / "data.xlsx", skip_missing=True)
    np.testing.assert_array_equal(rows(source), [[0.5, 2.0], [2.5, 3.0]])
    assert source.n_skipped == 1


@pytest.mark.parametrize("names", [[0, 1, 2], [2019, 2020, 2021]], ids=["positions", "years"])
def test_a_numeric_header_of_a_sheet_is_not_counted_as_a_row(tmp_path, calamine, names):
    numbers = [[0.5, 1.5, 2.5], [3.5, 7.5, 1.5]]
    write_xlsx(tmp_path / "data.xlsx", [names, *numbers])
    with pytest.warns(SourceWarning, match=r"read as column names \(.*pass header=False"):
        source = open_source(tmp_path / "data.xlsx")
    assert source.feature_names == tuple(map(str, names))
    np.testing.assert_array_equal(rows(source), numbers)
    assert open_source(tmp_path / "data.xlsx", header=True).n_rows == 2
    assert open_source(tmp_path / "data.xlsx", header=False).n_rows == 3


def test_the_error_for_an_invalid_workbook_names_the_file(tmp_path, calamine):
    (tmp_path / "bad.xlsx").write_bytes(b"PK not a workbook")
    with pytest.raises(ValueError, match=r"cannot read .*bad\.xlsx' as an Excel file"):
        open_source(tmp_path / "bad.xlsx")


MIXED = FRAME.assign(
    town="Ulm", born=pd.Timestamp("2024-02-03"), new=np.arange(300) % 2 == 0, price=Decimal("1.25")
)


@pytest.mark.parametrize("kind", ["csv", "parquet", "pandas", "polars", "pyarrow"])
def test_lenient_reading_leaves_out_columns_that_are_not_numeric(tmp_path, kind):
    data = tmp_path / f"mixed.{kind}"
    if kind == "csv":
        MIXED.to_csv(data, index=False)
    elif kind == "parquet":
        MIXED.to_parquet(data)
    else:
        frame = MIXED.assign(price=1.25)
        polars = pytest.importorskip("polars")
        data = {"pandas": lambda: frame, "polars": lambda: polars.from_pandas(frame),
                "pyarrow": lambda: pa.Table.from_pandas(MIXED)}[kind]()  # fmt: skip
    source = open_source(data, lenient=True)
    assert source.feature_names == ("a", "b", "new", "price")
    assert source.left_out == {"town": "text", "born": "dates"}
    np.testing.assert_array_equal(
        rows(source), np.column_stack([X, MIXED["new"], np.full(300, 1.25)])
    )
    with pytest.raises(ValueError, match=r"'town', 'born' of .* are not numeric.*lenient=True"):
        open_source(data)
    assert open_source(data, lenient=True, ids="town").left_out == {"born": "dates"}
    with pytest.raises(ValueError, match="has no numeric columns left"):
        open_source(data, lenient=True, exclude=["a", "b", "new", "price"])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_in_a_folder_may_have_additional_columns(tmp_path, kind):
    write = {"csv": lambda f, p: f.to_csv(p, index=False), "parquet": lambda f, p: f.to_parquet(p)}
    parts = [FRAME[:100], FRAME[100:200].assign(extra=1.0)[["extra", "b", "a"]], FRAME[200:]]
    for i, part in enumerate(parts):
        write[kind](part, tmp_path / f"{i}.{kind}")
    source = open_source(tmp_path, lenient=True)
    assert source.left_out == {"extra": "partial"}
    np.testing.assert_array_equal(rows(source), X)
    np.testing.assert_array_equal(source.take([50, 150, 250]), X[[50, 150, 250]])
    np.testing.assert_array_equal(rows(open_source(tmp_path, columns=["b", "a"])), X[:, ::-1])
    np.testing.assert_array_equal(rows(open_source(tmp_path, exclude="extra")), X)
    np.testing.assert_array_equal(rows(open_source(tmp_path, columns="a", ids="b")), X[:, :1])
    with pytest.raises(ValueError, match=r"has 3 columns, but .* has 2"):
        open_source(tmp_path)
    with pytest.raises(ValueError, match="no column 'extra' in all of its files"):
        open_source(tmp_path, columns="extra")


def test_files_in_a_folder_without_a_common_column_raise_an_error(tmp_path):
    FRAME[["a"]].to_parquet(tmp_path / "0.parquet")
    FRAME[["b"]].to_parquet(tmp_path / "1.parquet")
    with pytest.raises(ValueError, match=r"has a column 'b' where .* has 'a'"):
        open_source(tmp_path, lenient=True)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_with_one_value_per_row_can_be_used_as_columns(tmp_path, save):
    y, town = np.arange(300) % 3, np.where(np.arange(300) % 2, "Ulm", "Aix")
    save(tmp_path / "data.npz", data=X, y=y, town=town, other=np.arange(4), flag=np.array(True))
    source = open_source(tmp_path / "data.npz", ids=["y", "town"])
    assert (source.n_features, source.feature_names) == (2, None)
    np.testing.assert_array_equal(rows(source), X)
    for numbers in ([0, 7, 299], range(300)):
        block = source.take_block(numbers)
        np.testing.assert_array_equal(block.ids["y"], y[numbers])
        np.testing.assert_array_equal(block.ids["town"], town[numbers])
        np.testing.assert_array_equal(block.rows, X[numbers])
    np.testing.assert_array_equal(
        np.concatenate([block.ids["y"] for block in source.blocks(start=10)]), y[10:]
    )
    np.testing.assert_array_equal(rows(open_source(tmp_path / "data.npz", columns=[1])), X[:, 1:])
    weighted = open_source(tmp_path / "data.npz", weight="y", columns=["0"])
    np.testing.assert_array_equal(weighted.weights(), y)
    with pytest.raises(ValueError, match=r"no column 'z'; its .* unnamed .*, except 'y', 'town'"):
        open_source(tmp_path / "data.npz", ids="z")


def test_dates_can_be_ids(tmp_path):
    pq.write_table(
        pa.table({"a": [1.0, 2.0], "born": [date(2024, 2, 3)] * 2}), tmp_path / "d.parquet"
    )
    source = open_source(tmp_path / "d.parquet", ids="born")
    assert source.take_block([0]).ids["born"][0] == np.datetime64("2024-02-03")

"""Test reports written from the shell, and opening embedded rows in embedding-atlas."""

import io
import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from rskpca import load
from tests.cli.cases import FEATURES, FRAME, error_of, output_of
from tests.report.pages import Page

pq = pytest.importorskip("pyarrow.parquet")
ATLAS = shutil.which("embedding-atlas")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.drop(columns="town").to_parquet("data.parquet")
    return tmp_path


def test_a_report_from_the_shell_has_row_numbers_and_commands(folder, monkeypatch):
    arguments = ["fit", "data.parquet", "-x", "id,cover", "--ell", "2", "--report", "r.html"]
    monkeypatch.setattr(sys, "argv", ["rskpca", *arguments])
    monkeypatch.setattr("rskpca.cli.modeling.MAX_ROWS", 100)
    output_of(*arguments)
    page = Page((folder / "r.html").read_text())
    ids = page.embedding["ids"]
    assert page.embedding["id_name"] == "row"
    assert page.embedding["ids_are_rows"]
    assert "Row numbers" in page.text
    assert len(ids) == 100
    assert max(ids) > 100
    expected = load("data.rskpca").transform(FRAME[FEATURES])[ids]
    np.testing.assert_allclose(page.coordinates()[0], expected, atol=1e-6)
    assert "rskpca fit data.parquet -x id,cover --ell 2 --report r.html --" in page.text
    output_of("report", "data.rskpca", "data.parquet", "-o", "again.html")
    assert "rskpca fit data.parquet --" in Page((folder / "again.html").read_text()).text


def test_a_column_named_row_is_not_called_row_numbers(folder):
    FRAME[[*FEATURES, "id"]].rename(columns={"id": "row"}).to_parquet("named.parquet")
    output_of("fit", "named.parquet", "--ell", "2", "--id", "row", "--report", "named.html")
    page = Page((folder / "named.html").read_text())
    assert page.embedding["id_name"] == "row"
    assert not page.embedding["ids_are_rows"]
    assert "Row numbers" not in page.text


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_column_can_identify_the_rows_of_a_report(folder, ending):
    data, ids = f"data.{ending}", ("--id", "id")
    FRAME.to_csv("data.csv", index=False)
    first = output_of("fit", "data.parquet", "-x", "cover", *ids, "--report", "fit.html")
    output_of("report", "data.rskpca", data, *ids, "--color", "id", "-o", "report.html")
    assert load("data.rskpca").feature_names_in_.tolist() == FEATURES
    embed = "rskpca transform data.rskpca data.parquet --id id -o data-embedded.parquet"
    assert embed in first
    for file in ("fit.html", "report.html"):
        page = Page((folder / file).read_text())
        assert page.embedding["id_name"] == "id"
        assert not page.embedding["ids_are_rows"]
        assert sorted(page.embedding["ids"]) == sorted(map(str, FRAME["id"]))
        assert "Embed the rows" in page.text
    assert embed in Page((folder / "fit.html").read_text()).text
    line = error_of("report", "data.rskpca", data, "--id", "no", "--color", "id")
    assert line.startswith(f"error: --id: '{data}' has no column 'no'")
    line = error_of("report", "data.rskpca", data, "--id", "id", "--color", "no")
    assert line.startswith(f"error: --color: '{data}' has no column 'no'")


def test_the_shell_says_which_part_of_the_rows_and_features_a_report_shows(folder, monkeypatch):
    monkeypatch.setattr("rskpca.cli.modeling.MAX_ROWS", 100)
    monkeypatch.setattr("rskpca.report.subject.MAX_FEATURES", 3)
    line = "The report shows 100 of 600 rows and 3 of 4 features."
    arguments = ("fit", "data.parquet", "-x", "id,cover")
    assert line in output_of(*arguments, "--report", "r.html")
    assert line in output_of("report", "data.rskpca", "data.parquet")
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert "The report shows" not in output_of(*arguments, "--report", "r.html")


@pytest.fixture
def embedded(folder):
    """Write the embedded rows to z.parquet and return them as a table."""
    output_of("fit", "data.parquet", "-x", "id,cover")
    output_of("transform", "data.rskpca", "data.parquet", "--id", "cover", "-o", "z.parquet")
    return pq.read_table("z.parquet")


def test_embedded_rows_are_written_as_numeric_columns_next_to_their_ids(embedded):
    assert embedded.column_names[0] == "cover"
    for name in embedded.column_names[1:]:
        assert name.endswith(tuple("01234"))
        assert str(embedded.schema.field(name).type) == "double"
        assert np.isfinite(embedded[name].to_numpy()).all()


@pytest.mark.slow
@pytest.mark.skipif(ATLAS is None, reason="embedding-atlas is not installed")
def test_embedding_atlas_opens_the_embedded_rows(embedded):
    x, y = embedded.column_names[1:3]
    command = [ATLAS, "z.parquet", "--disable-projection", "--x", x, "--y", y]
    subprocess.run([*command, "--export-application", "app.zip"], check=True, timeout=300)
    with zipfile.ZipFile("app.zip") as archive:
        shown = pq.read_table(io.BytesIO(archive.read("data/dataset.parquet")))
    for name in embedded.column_names:
        assert shown[name].to_pylist() == embedded[name].to_pylist()

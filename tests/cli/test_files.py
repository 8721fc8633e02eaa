"""Test that every kind of file is fitted on the first try, with the same result."""

import gzip

import numpy as np
import pyarrow as pa
import pytest

from rskpca.report import writing

from ..data.test_formats import write_xlsx
from .cases import FEATURES, FRAME, ROWS, N, json_of, run

MIXED = FRAME[[*FEATURES, "town"]]


def write_csv_zst(path):
    with pa.CompressedOutputStream(str(path), "zstd") as stream:
        stream.write(MIXED.to_csv(index=False).encode())


def write_sheet(path):
    pytest.importorskip("python_calamine")
    write_xlsx(path, [list(MIXED), *MIXED.to_numpy().tolist()])


def write_parts(path):
    path.mkdir()
    for i in range(3):
        part = MIXED[200 * i : 200 * (i + 1)]
        (part.assign(extra=1.0) if i == 1 else part).to_parquet(path / f"{i}.parquet")


WRITERS = {
    "strings.csv": lambda path: MIXED.to_csv(path, index=False),
    "tabs.tsv": lambda path: MIXED.to_csv(path, index=False, sep="\t"),
    "packed.csv.gz": lambda path: path.write_bytes(
        gzip.compress(MIXED.to_csv(index=False).encode())
    ),
    "packed.csv.zst": write_csv_zst,
    "sheet.xlsx": write_sheet,
    "frame.feather": lambda path: MIXED.to_feather(path),
    "uneven": write_parts,
    "commas.csv": lambda path: MIXED.to_csv(path, index=False, sep=";", decimal=","),
    "quoted.csv": lambda path: MIXED.to_csv(path, index=False, decimal=","),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file_works_on_the_first_try(folder, name):
    WRITERS[name](folder / name)
    result = run("fit", name, "-o", "m.rskpca", "--ell", "4")
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("note: left out 'town' (2 groups)")
    assert ("note: left out 'extra', missing from some files" in result.stderr) == (
        name == "uneven"
    )
    numbers, expected = json_of("inspect", "m.rskpca"), json_of("fit", "rows.npy", "--ell", "4")
    assert (numbers["rows"], numbers["feature_names"]) == (N, FEATURES)
    np.testing.assert_allclose(numbers["eigenvalues"], expected["eigenvalues"], rtol=1e-9)
    stem = name.partition(".")[0]
    assert f"-o {stem}-embedded.parquet" in result.stdout


def test_an_array_in_the_same_file_can_be_used_as_the_color(folder, monkeypatch):
    given = {}

    def build(model, rows, *, color, **options):
        given.update(color)
        return writing.Page("", "")

    monkeypatch.setattr("rskpca.cli.modeling.build_page", build)
    np.savez("arrays.npz", X=ROWS, y=np.arange(N) % 3)
    result = run("fit", "arrays.npz", "--color", "y", "--report", "r.html")
    assert (result.exit_code, result.stderr) == (0, "")
    np.testing.assert_array_equal(given["y"], np.arange(N) % 3)

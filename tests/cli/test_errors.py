"""Whatever is wrong is one line that says what to change, and nothing is written."""

import errno
import struct
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from rskpca import ReducedSetKernelPCA, save
from rskpca.cli import fit as fit_module
from rskpca.cli import paths

from .cases import FRAME, ROWS, done, failed, run, write_holes


def test_columns_of_words_are_named_with_the_option(folder):
    line = failed("fit", "table.csv")
    assert "'town' hold no numbers" in line
    assert "leave them out with --exclude, or name those to read with --columns" in line
    assert "--id" not in line  # which fit does not have


def test_a_missing_value_is_named_with_the_option(folder):
    write_holes()
    line = failed("fit", "holes.csv", "-x", "town")
    assert "row 123 of 'holes.csv' (counted from 0), column 'x 2'" in line
    assert line.endswith("fill it, drop the row, or give --skip-missing.")


def test_an_array_must_be_named(folder):
    np.savez("two.npz", one=ROWS, two=ROWS)
    line = failed("fit", "two.npz")
    assert "holds one, two; name one of them with --dataset, or" in line
    done("fit", "two.npz", "--dataset", "two")


def test_a_decimal_comma_can_be_said(folder):
    FRAME.to_csv("commas.csv", sep=";", decimal=",", index=False)
    assert "'x 1', 'x 2', 'x 3', 'Height in m', 'town'" in failed("fit", "commas.csv")
    done("fit", "commas.csv", "--decimal", ",", "-x", "town,id,cover")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("fit nothing.csv", "there is no file or folder 'nothing.csv'."),
        ("fit tabel.csv", "there is no file or folder 'tabel.csv'. Did you mean 'table.csv'?"),
        ("inspect model.rskpca", "there is no model 'model.rskpca'."),
        ("inspect table.csv", "table.csv: not a model file of rskpca."),
        ("transform table.csv rows.npy", "table.csv: not a model file of rskpca."),
        ("fit rows.npy -c 7", "--columns: 'rows.npy' has no column '7'"),
        ("fit table.csv -c y*", "--columns: 'table.csv' has no column 'y*'; it has 'x 1'"),
        ("fit table.csv -x y", "--exclude: 'table.csv' has no column 'y'"),
        ("fit table.csv -x town --color y", "--color: 'table.csv' has no column 'y'"),
        ("fit table.csv -x town --weight y", "--weight: 'table.csv' has no column 'y'"),
        ("fit rows.npy --ell -1", "ell must be a positive number or inf, got -1.0. Or give --tol."),
        ("fit rows.npy --bandwidth 0", "got 0.0. Or leave --bandwidth out."),
        ("fit same.csv", "the median bandwidth needs distinct rows"),
        ("fit same.csv", "(median distance 0). Give --bandwidth."),
        ("fit rows.npy --delimiter ;", "a .npy file takes no option, not delimiter"),
        ("fit rows.npy -o no/m.rskpca", "there is no folder 'no' to write to"),
        ("fit rows.npy -o rows.npy", "'rows.npy' is read too; name another file"),
        ("fit rows.npy -o parts", "'parts' is a folder; name a file in it."),
        ("fit rows.npy --report r.txt", "cannot write 'r.txt': it must end in .html, .htm."),
        ("fit rows.npy --report rows.rskpca", "it must end in .html"),
        ("plan rows.npy --plot p.txt", "it must end in .png, .svg, .pdf."),
        ("compare rows.npy -o p.txt", "it must end in .png, .svg, .pdf."),
    ],
)
def test_what_is_wrong_is_said(folder, arguments, message):
    (folder / "same.csv").write_text("a,b\n1,2\n1,2\n1,2\n")
    before = sorted(folder.rglob("*"))
    assert message in failed(*arguments.split())
    assert sorted(folder.rglob("*")) == before


def test_a_folder_without_rights(folder, monkeypatch):
    monkeypatch.setattr(paths.os, "access", lambda path, mode: mode != paths.os.W_OK)
    assert "'.' may not be written to: choose another folder." in failed("fit", "rows.npy")
    monkeypatch.setattr(paths.os, "access", lambda path, mode: mode != paths.os.R_OK)
    assert "'rows.npy' may not be read" in failed("fit", "rows.npy", "-o", "parts/m.rskpca")


def test_a_full_disk(folder, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(fit_module, "save", full)
    line = "error: 'rows.rskpca': no space left on device; it was not written."
    assert failed("fit", "rows.npy") == line


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize(
    ("arguments", "file", "writer"),
    [
        ("demo --folder d", "d/digits.parquet", "cli.demo"),
        ("plan rows.npy --plot p.png", "p.png", "cli.plan"),
        ("transform data.rskpca data.parquet -o z.csv", "z.csv", "scaling._outputs"),
    ],
)
def test_whatever_cannot_be_written_is_named(folder, monkeypatch, arguments, file, writer):
    """The words are the same whichever library writes."""
    done("fit", "data.parquet", "-x", "id,cover")
    monkeypatch.setattr(f"rskpca.{writer}.atomic_write", full)
    line = failed(*arguments.split())
    assert line.startswith(f"error: '{file}': no space left on device; ")
    assert line.endswith("was not written.")


def test_a_note_that_cannot_be_written_is_named(folder, monkeypatch):
    def save(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("rskpca.scaling._checkpoint.save", save)
    line = failed("fit", "rows.npy", "--checkpoint", "note")
    assert line == "error: 'note': no space left on device; 'note' was not written."


@contextmanager
def full(path):
    """A place beside a path, on a device without room."""
    place = Path(f"full{Path(path).suffix}")
    place.symlink_to("/dev/full")
    yield place


def test_a_model_of_another_version(folder):
    save(ReducedSetKernelPCA(2).fit(ROWS), "m.rskpca")
    content = bytearray((folder / "m.rskpca").read_bytes())
    content[8:12] = struct.pack("<I", 9)
    (folder / "m.rskpca").write_bytes(content)
    line = failed("inspect", "m.rskpca")
    assert "its format is 9, and this rskpca reads up to 1" in line
    assert "upgrade rskpca" in line
    (folder / "m.rskpca").write_bytes(content[:100])
    assert "m.rskpca: " in failed("inspect", "m.rskpca")


def test_a_model_that_is_not_fitted(folder):
    save(ReducedSetKernelPCA(2), "m.rskpca")
    assert "which is not fitted" in failed("inspect", "m.rskpca")


def test_other_columns_than_the_model_has(folder):
    done("fit", "data.parquet", "-x", "id,cover")
    FRAME.drop(columns="x 1").to_csv("less.csv")
    line = failed("transform", "data.rskpca", "less.csv")
    assert "--columns: 'less.csv' has no column 'x 1'; it has" in line
    line = failed("transform", "data.rskpca", "rows.npy", "-c", "0,1", "-o", "z.npy")
    assert "has 2 features, but the model was fitted to 4" in line


@pytest.mark.parametrize("command", ["report", "certify", "transform"])
def test_other_features_than_the_model_has(folder, command):
    done("fit", "rows.npy", "-c", "0,1,2")
    line = failed(command, "rows.rskpca", "rows.npy")
    said = "'rows.npy' has 4 features, but the model was fitted to 3; name them with --columns."
    assert line == f"error: {said}"


def test_an_output_that_is_an_input_too(folder):
    done("fit", "monday.parquet")
    before = (folder / "monday.rskpca").read_bytes()
    model = "monday.rskpca"
    for arguments in (("merge", model, model, "-o", model),
                      ("fit", "tuesday.parquet", "--like", model, "-o", model),
                      ("fit", "rows.npy", "--checkpoint", "m", "-o", "m")):  # fmt: skip
        assert "is read too; name another file for the output" in failed(*arguments)
    assert (folder / model).read_bytes() == before


def test_debug_shows_where(folder):
    result = run("fit", "nothing.csv", "--debug")
    assert isinstance(result.exception, FileNotFoundError)


def test_a_bug_is_told_as_one(folder, monkeypatch):
    def broken(*_, **__):
        raise KeyError("what")

    monkeypatch.setattr(fit_module.scaling, "fit", broken)
    result = run("fit", "rows.npy")
    assert result.exit_code == 70
    assert result.stderr.startswith("error: KeyError: 'what' (this should not happen; --debug")


def test_warnings_are_notes(folder):
    result = run("fit", "rows.npy", "-r", "50", "--ell", "1")
    assert result.exit_code == 0
    assert result.stderr.startswith("note: --components=50, but ")


@pytest.mark.parametrize(
    ("wrong", "right"), [("fti", "fit"), ("tranform", "transform"), ("comapre", "compare")]
)
def test_wrong_commands_suggest_the_right_one(wrong, right):
    result = run(wrong, "x")
    assert result.exit_code == 2
    assert f"Did you mean '{right}'?" in result.stderr


@pytest.mark.parametrize(
    ("command", "wrong", "right"),
    [("fit", "--colunms", "--columns"), ("transform", "--ouput", "--output"),
     ("plan", "--standardise", "--standardize"), ("compare", "--row", "--rows")],
)  # fmt: skip
def test_wrong_options_suggest_the_right_one(command, wrong, right):
    result = run(command, "x", "y", wrong, "1")
    assert result.exit_code == 2
    assert right in result.stderr

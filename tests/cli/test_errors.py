"""Test that every failure prints one line that quotes the user's input, and leaves no files."""

import errno
import os
import struct
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from rskpca import ReducedSetKernelPCA, save
from rskpca.cli import files, modeling

from .cases import FRAME, ROWS, N, error_of, json_of, output_of, run, write_holes


def test_selected_text_columns_are_reported_with_suitable_options(folder):
    line = error_of("fit", "table.csv", "-c", "x*,town")
    assert "'town'" in line
    assert "'table.csv'" in line
    assert line.endswith("leave them out with --exclude, or select the features with --columns.")


def test_a_missing_value_is_reported_with_the_command_that_skips_it(folder):
    write_holes()
    line = error_of("fit", "holes.csv", "-x", "town,id")
    assert line == (
        "error: the value in line 125, column 'x 2', of 'holes.csv' is missing (2 of the 600 "
        "rows read so far are incomplete); fill it in, drop the row, or skip such rows: rskpca fit "
        "holes.csv -x town,id --skip-missing"
    )
    assert error_of("plan", "-x", "town,id", "--", "holes.csv").endswith(
        ": rskpca plan -x town,id --skip-missing -- holes.csv"
    )


def test_one_of_several_arrays_must_be_chosen(folder):
    np.savez("two.npz", X_train=ROWS, X_test=ROWS, y_train=np.arange(N))
    line = error_of("fit", "two.npz")
    assert line == (
        "error: 'two.npz' contains X_train, X_test; choose one, for example with --dataset X_train."
    )
    output_of("fit", "two.npz", "--dataset", "X_train")


def test_a_decimal_comma_is_detected_unless_an_option_forbids_it(folder):
    FRAME.to_csv("commas.csv", sep=";", decimal=",", index=False)
    output_of("fit", "commas.csv", "-x", "town,id,cover")
    line = error_of("fit", "commas.csv", "--decimal", ".", "-c", "x*")
    assert "'x 1', 'x 2', 'x 3'" in line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("fit nothing.csv", "no such file or folder: 'nothing.csv'."),
        ("fit tabel.csv", "no such file or folder: 'tabel.csv'. Did you mean 'table.csv'?"),
        ("inspect model.rskpca", "no such file or folder: 'model.rskpca'."),
        ("fit rows.npy --like model.rskpca", "no such file or folder: 'model.rskpca'."),
        ("merge rows.npy model.rskpca", "no such file or folder: 'model.rskpca'."),
        ("certify rows.npy nothing.csv", "no such file or folder: 'nothing.csv'."),
        ("inspect table.csv", "table.csv: "),
        ("transform table.csv rows.npy", "table.csv: "),
        ("fit rows.npy -c 7", "--columns: 'rows.npy' has no column '7'"),
        ("fit table.csv -c y*", "--columns: 'table.csv' has no column 'y*'; its columns are 'x 1'"),
        ("fit table.csv -x y", "--exclude: 'table.csv' has no column 'y'"),
        ("fit table.csv -x town --color y", "--color: 'table.csv' has no column 'y'"),
        ("fit table.csv -x town --weight y", "--weight: 'table.csv' has no column 'y'"),
        ("fit same.csv", "median"),
        ("fit rows.npy --delimiter ;", "--delimiter: not available for a .npy file."),
        ("fit rows.npy -o no/m.rskpca", "no such folder: 'no'. Create it first."),
        ("fit rows.npy -o rows.npy", "'rows.npy' is also an input; choose another name"),
        ("fit rows.npy -o parts", "'parts' is a folder; pass a file name."),
        ("fit rows.npy --report r.txt", "'r.txt': the name must end in .html or .htm."),
        ("fit rows.npy --report rows.rskpca", "the name must end in .html or .htm."),
        ("plan rows.npy --plot p.txt", "the name must end in .png, .svg or .pdf."),
        ("compare rows.npy -o p.txt", "the name must end in .png, .svg or .pdf."),
    ],
)
def test_invalid_data_and_files_are_reported(folder, arguments, message):
    (folder / "same.csv").write_text("a,b\n1,2\n1,2\n1,2\n")
    before = sorted(folder.rglob("*"))
    assert message in error_of(*arguments.split())
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("fit rows.npy --ell -1", "invalid value for '--ell': -1 is not a positive number."),
        ("fit rows.npy --ell nan", "'--ell': nan is not a positive number."),
        ("fit rows.npy --ell four", "'--ell'"),
        ("plan rows.npy --ell inf", "'--ell': inf is not a positive, finite number."),
        ("compare rows.npy --ell 0", "'--ell': 0 is not a positive, finite number."),
        ("fit rows.npy --bandwidth 0", "'--bandwidth': 0 is not a positive, finite number."),
        ("fit rows.npy --max-error 0", "'--max-error': 0 is not between 0 and 1."),
        ("fit rows.npy --components 0", "'--components'"),
        ("fit rows.npy --max-centers 1", "'--max-centers'"),
        ("fit rows.npy --method kernel-pac", "kernel-pac"),
        ("fit rows.npy --kernel cubic", "cubic"),
        ("compare rows.npy --rows 9", "'--rows'"),
        ("certify rows.npy --confidence 95", "'--confidence': 95 is not between 0 and 1."),
        ("merge rows.npy", "pass at least two models."),
        ("plan rows.npy --max-error 0.1 --ell 4", "--max-error: cannot be combined with --ell."),
        ("fit rows.npy --max-error 0.1 --ell 4", "--max-error: cannot be combined with --ell."),
        ("fit rows.npy --refine --method diffusion-maps", "requires --method reduced-set."),
        ("fit rows.npy --like rows.npy --max-centers 9", "--max-centers: cannot be combined"),
        ("fit", "missing argument"),
        ("fit rows.npy --elll 4", "--ell"),
        ("fti rows.npy", "no such command 'fti'. Did you mean 'fit'? See 'rskpca --help'."),
        ("tranform x", "Did you mean 'transform'?"),
        ("fit x --colunms 1", "--columns"),
        ("transform x y --ouput 1", "--output"),
        ("plan x --standardise 1", "--standardize"),
        ("--verison", "--version"),
    ],
)
def test_invalid_options_are_reported_as_typed(folder, arguments, message):
    before = sorted(folder.rglob("*"))
    line = error_of(*arguments.split(), code=2)
    assert message in line
    assert " --help'." in line
    assert sorted(folder.rglob("*")) == before


def test_missing_permissions_are_reported(folder, monkeypatch):
    monkeypatch.setattr(files.os, "access", lambda path, mode: mode != files.os.W_OK)
    assert "cannot write to the folder '.'" in error_of("fit", "rows.npy")
    monkeypatch.setattr(files.os, "access", lambda path, mode: mode != files.os.R_OK)
    assert "permission denied: 'rows.npy'." in error_of("fit", "rows.npy")


@pytest.mark.skipif(os.name == "nt", reason="requires named pipes")
@pytest.mark.parametrize(
    "arguments",
    [
        "fit rows.npy -o {}",
        "fit rows.npy --report {}.html",
        "fit rows.npy --checkpoint {}",
        "plan rows.npy --plot {}.png",
        "compare rows.npy -o {}.png",
        "transform rows.rskpca rows.npy -o {}.csv",
        "report rows.rskpca rows.npy -o {}.html",
        "merge rows.rskpca rows.rskpca -o {}",
    ],
)
def test_pipes_and_devices_are_not_replaced(folder, arguments):
    output_of("fit", "rows.npy")
    for name in ("pipe", "pipe.html", "pipe.png", "pipe.csv"):
        os.mkfifo(name)
    before = {path: path.stat().st_mode for path in folder.rglob("*")}
    assert "not a regular file; choose another name." in error_of(*arguments.format("pipe").split())
    assert {path: path.stat().st_mode for path in folder.rglob("*")} == before
    if arguments.endswith(" {}"):
        assert "'/dev/null': not a regular" in error_of(*arguments.format("/dev/null").split())
        assert Path("/dev/null").is_char_device()


def raise_disk_full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_reported_with_the_name_of_the_model(folder, monkeypatch):
    monkeypatch.setattr(modeling, "save", raise_disk_full)
    line = "error: 'rows.rskpca': no space left on device; the file was not written."
    assert error_of("fit", "rows.npy") == line


@contextmanager
def full_device(path):
    """Yield a temporary path on a full device."""
    place = Path(f"full{Path(path).suffix}")
    place.symlink_to("/dev/full")
    yield place


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="requires /dev/full")
@pytest.mark.parametrize(
    ("arguments", "file", "writer"),
    [
        ("demo --folder d", "d/digits.parquet", "_core.atomic"),
        ("plan rows.npy --plot p.png", "p.png", "_core.atomic"),
        ("transform data.rskpca data.parquet -o z.csv", "z.csv", "scaling._outputs"),
    ],
)
def test_a_full_disk_is_reported_for_every_writer(folder, monkeypatch, arguments, file, writer):
    output_of("fit", "data.parquet", "-x", "id,cover")
    monkeypatch.setattr(f"rskpca.{writer}.atomic_write", full_device)
    line = error_of(*arguments.split())
    assert line.startswith(f"error: '{file}': no space left on device; ")
    assert line.endswith("was not written.")


def test_a_full_disk_is_reported_with_the_name_of_the_checkpoint(folder, monkeypatch):
    monkeypatch.setattr("rskpca.scaling._checkpoint.save", raise_disk_full)
    line = error_of("fit", "rows.npy", "--checkpoint", "note")
    assert line.startswith("error: 'note': no space left on device; ")


def test_a_model_in_a_newer_format_or_a_damaged_model_is_rejected(folder):
    save(ReducedSetKernelPCA(2).fit(ROWS), "m.rskpca")
    content = bytearray((folder / "m.rskpca").read_bytes())
    content[8:12] = struct.pack("<I", 9)
    (folder / "m.rskpca").write_bytes(content)
    line = error_of("inspect", "m.rskpca")
    assert "m.rskpca: " in line
    assert "upgrade rskpca" in line
    (folder / "m.rskpca").write_bytes(content[:100])
    assert "m.rskpca: " in error_of("inspect", "m.rskpca")


def test_an_unfitted_model_is_rejected(folder):
    save(ReducedSetKernelPCA(2), "m.rskpca")
    line = error_of("inspect", "m.rskpca")
    assert line == (
        "error: m.rskpca: the file contains an unfitted ReducedSetKernelPCA; fit it before saving."
    )


def test_a_file_that_contains_no_model_is_rejected(folder):
    save({"rows": ROWS}, "m.rskpca")
    assert "m.rskpca: The model must be" in error_of("transform", "m.rskpca", "rows.npy")


def test_columns_that_do_not_match_the_model_are_reported(folder):
    output_of("fit", "data.parquet", "-x", "id,cover")
    FRAME.drop(columns="x 1").to_csv("less.csv")
    line = error_of("transform", "data.rskpca", "less.csv")
    assert line.startswith(
        "error: the model needs the column 'x 1', which 'less.csv' does not have; its columns are "
    )
    assert line.endswith("Rename the column, or fit a new model: rskpca fit less.csv")
    FRAME.drop(columns="x 1").to_csv("less; more.csv")
    line = error_of("transform", "data.rskpca", "less; more.csv")
    assert "'less; more.csv' does not have; its columns are ''" in line
    line = error_of("transform", "data.rskpca", "less.csv", "-c", "x 1")
    assert "--columns: 'less.csv' has no column 'x 1'; its columns are" in line
    line = error_of("transform", "data.rskpca", "rows.npy", "-c", "0,1", "-o", "z.npy")
    assert "has 2 features, but the model was fitted with 4" in line
    columns = "x 2,x 1,x 3,Height in m"
    line = error_of("transform", "data.rskpca", "data.parquet", "-c", columns)
    assert "fitted with the columns x 1, x 2, x 3, Height in m, in this order" in line


@pytest.mark.parametrize("command", ["report", "certify", "transform"])
def test_the_number_of_features_must_match_the_model(folder, command):
    output_of("fit", "rows.npy", "-c", "0,1,2")
    line = error_of(command, "rows.rskpca", "rows.npy")
    assert line == (
        "error: 'rows.npy' has 4 features, but the model was fitted with 3; select the same ones "
        "with --columns."
    )


def test_an_input_is_never_overwritten(folder):
    output_of("fit", "monday.parquet")
    model = "monday.rskpca"
    before = (folder / model).read_bytes()
    for arguments in (("merge", model, model, "-o", model),
                      ("fit", "tuesday.parquet", "--like", model, "-o", model),
                      ("fit", "rows.npy", "--checkpoint", "m", "-o", "m")):  # fmt: skip
        assert "is also an input; choose another name" in error_of(*arguments)
    assert (folder / model).read_bytes() == before


def test_the_debug_option_raises_the_error(folder):
    for arguments in (("nothing.csv", "--debug"), ("--debug", "nothing.csv")):
        result = run("fit", *arguments)
        assert isinstance(result.exception, FileNotFoundError)


def test_an_unexpected_error_is_reported_as_a_bug(folder, monkeypatch):
    def fail(*_, **__):
        raise KeyError("what")

    monkeypatch.setattr(modeling.scaling, "fit", fail)
    result = run("fit", "rows.npy")
    assert result.exit_code == 70
    assert result.stderr == (
        "error: KeyError: 'what' (this is a bug in rskpca; --debug shows the traceback)\n"
    )


def test_deprecation_warnings_of_other_packages_are_not_printed(folder, monkeypatch):
    class ParserDeprecationWarning(UserWarning, DeprecationWarning):
        """A category like the one in pyparsing, which matplotlib uses."""

    def save_with_warning(model, path):
        where = {"filename": "parser.py", "lineno": 1, "module": "matplotlib.parser"}
        warnings.warn_explicit("'old' deprecated", ParserDeprecationWarning, **where)
        save(model, path)

    monkeypatch.setattr(modeling, "save", save_with_warning)
    output_of("fit", "rows.npy")
    assert Path("rows.rskpca").is_file()


def test_warnings_are_printed_as_notes(folder):
    arguments = ("fit", "rows.npy", "-r", "50", "--ell", "1")
    result = run(*arguments)
    assert result.exit_code == 0
    assert result.stderr.startswith("note: ")
    assert "--components 50" in result.stderr
    assert run(*arguments, "--quiet").stderr == ""


def test_messages_name_options_instead_of_parameters(folder):
    (folder / "same.csv").write_text("a,b\n" + "1,2\n" * 9)
    message = 'error: The "median" rule for the bandwidth requires distinct rows'
    assert message in error_of("fit", "same.csv")
    line = error_of("fit", "rows.npy", "--method", "normalized-cut", "-r", "601")
    assert line.startswith("error: --components must be at most ")
    assert "larger --ell" in line
    stderr = run("fit", "rows.npy", "-r", "550").stderr
    assert "(--components 550)" in stderr
    assert "n_components" not in stderr
    assert "ell" not in stderr.replace("larger", "")


def test_messages_about_small_models_mention_the_small_option(folder):
    output_of("fit", "rows.npy", "--small", "-o", "small.rskpca")
    assert "written with --small has no certificate" in error_of("certify", "small.rskpca")
    line = error_of("merge", "small.rskpca", "small.rskpca", "-o", "m.rskpca")
    assert line == (
        "error: 'small.rskpca' was written with --small, so it cannot be merged; fit it without "
        "--small."
    )
    assert "--like: CompressedKernelPCA" in error_of("fit", "rows.npy", "--like", "small.rskpca")
    numbers = json_of("inspect", "small.rskpca")
    shown = f"4 features → {numbers['centers']} landmarks →"
    assert shown in output_of("inspect", "small.rskpca")
    assert numbers["rows"] is None


def test_a_failed_report_does_not_hide_that_the_model_was_written(folder, monkeypatch):
    monkeypatch.setattr("rskpca.report.writing.atomic_write", raise_disk_full)
    line = error_of("fit", "rows.npy", "-o", "m.rskpca", "--report", "r.html")
    assert line == (
        "error: 'r.html': no space left on device; the file was not written, but 'm.rskpca' was."
    )
    assert (folder / "m.rskpca").exists()
    assert not (folder / "r.html").exists()

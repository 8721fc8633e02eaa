"""Test that every command skips incomplete rows with --skip-missing."""

import shlex

import numpy as np
import pandas as pd
import pytest

from rskpca import Gaussian, ReducedSetKernelPCA, load

from .cases import FEATURES, FRAME, error_of, json_of, run, write_holes

HOLES = [123, 400]
COMPLETE = FRAME[FEATURES].drop(index=HOLES)
NOTE = "note: skipped 2 rows with missing or infinite values.\n"
DATA = ("holes.csv", "-x", "town,id,cover", "--skip-missing")


@pytest.fixture
def model(folder):
    write_holes()
    return json_of("fit", *DATA, "--ell", "4")


def test_the_model_is_fitted_to_the_complete_rows(model):
    whole = ReducedSetKernelPCA(5, kernel=Gaussian()).fit(COMPLETE)
    assert load("holes.rskpca").reduced_set_ == whole.reduced_set_
    assert (model["rows"], model["skipped_rows"]) == (598, 2)


@pytest.mark.parametrize("ids", [(), ("--id", "id")])
@pytest.mark.parametrize("out", ["z.csv", "z.parquet"])
def test_transform_leaves_skipped_rows_empty(model, ids, out):
    numbers = json_of("transform", "holes.rskpca", "holes.csv", "--skip-missing", *ids, "-o", out)
    found = pd.read_csv(out) if out.endswith("csv") else pd.read_parquet(out)
    if ids:
        np.testing.assert_array_equal(found.pop("id").astype(np.int64), FRAME["id"])
    assert list(np.flatnonzero(found.isna().all(axis=1))) == HOLES
    Z = load("holes.rskpca").transform(COMPLETE)
    np.testing.assert_allclose(found.drop(index=HOLES), Z, rtol=1e-9, atol=1e-12)
    assert (numbers["rows"], numbers["skipped_rows"]) == (600, 2)


def test_the_error_without_the_option_contains_the_command_that_works(model):
    command = ["transform", "holes.rskpca", "holes.csv", "--id", "id"]
    words = shlex.split(error_of(*command).rpartition(": ")[2])
    assert words == ["rskpca", *command, "--skip-missing"]
    assert run(*words[1:]).exit_code == 0


@pytest.mark.parametrize("row", [5, 300])
def test_a_missing_value_in_a_file_with_long_cells_is_located(folder, row):
    frame = FRAME[[*FEATURES, "town"]].astype({"town": object})
    frame.loc[row, "town"] = "x" * 200_000
    frame.to_csv("long.csv", index=False)
    assert json_of("fit", "long.csv", "-x", "town")["rows"] == 600
    frame.loc[row + 1, "x 2"] = None
    frame.to_csv("long.csv", index=False)
    line = error_of("fit", "long.csv", "-x", "town")
    assert f"the value in line {row + 3}, column 'x 2', of 'long.csv'" in line


def test_a_note_states_the_number_of_skipped_rows(model):
    result = run("fit", *DATA)
    assert result.stderr == NOTE
    command = "rskpca transform holes.rskpca holes.csv --skip-missing -o holes-embedded.parquet"
    assert command in result.stdout
    result = run("transform", "holes.rskpca", "holes.csv", "--skip-missing")
    note = "note: left the output empty for 2 rows with missing or infinite values.\n"
    assert result.stderr == note
    assert "600 rows in" in result.stdout
    assert run("fit", *DATA, "--quiet").stderr == ""


def test_the_other_commands_also_skip_incomplete_rows(model, short_comparison):
    files = ("holes.rskpca", "holes.csv", "--skip-missing")
    for arguments in (("plan", *DATA, "-s"), ("report", *files),
                      ("certify", *files), ("compare", *DATA)):  # fmt: skip
        result = run(*arguments)
        assert (result.exit_code, result.stderr) == (0, NOTE), arguments
    assert "--exclude town,id,cover --skip-missing --report holes.html" in run("plan", *DATA).stdout


def test_a_checkpoint_of_different_rows_is_rejected(model):
    options = ("--ell", "4", "--checkpoint", "note")
    assert json_of("fit", *DATA, *options)["rows"] == 598
    again = json_of("fit", *DATA, *options)
    assert (again["rows"], again["centers"]) == (598, model["centers"])
    result = run("fit", "table.csv", *DATA[1:-1], *options)
    assert result.exit_code == 1
    assert "'note'" in result.stderr

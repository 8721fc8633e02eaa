"""A table with missing values: what every command does with --skip-missing."""

import numpy as np
import pandas as pd
import pytest

from rskpca import Gaussian, ReducedSetKernelPCA, load

from .cases import FEATURES, FRAME, numbers, run, write_holes

HOLES = [123, 400]
LEFT = FRAME[FEATURES].drop(index=HOLES)
NOTE = "note: 2 rows are left out: a value is missing or infinite.\n"
DATA = ("holes.csv", "-x", "town,id,cover", "--skip-missing")


@pytest.fixture
def model(folder):
    write_holes()
    return numbers("fit", *DATA)


def test_the_model_is_that_of_the_other_rows(model):
    whole = ReducedSetKernelPCA(5, kernel=Gaussian()).fit(LEFT)
    assert load("holes.rskpca").reduced_set_ == whole.reduced_set_
    assert (model["rows"], model["skipped_rows"]) == (598, 2)


@pytest.mark.parametrize("ids", [(), ("--id", "id")])
@pytest.mark.parametrize("out", ["z.csv", "z.parquet"])
def test_rows_stay_where_they_are(model, ids, out):
    told = numbers("transform", "holes.rskpca", "holes.csv", "--skip-missing", *ids, "-o", out)
    found = pd.read_csv(out) if out.endswith("csv") else pd.read_parquet(out)
    if ids:
        np.testing.assert_array_equal(found.pop("id").astype(np.int64), FRAME["id"])
    assert list(np.flatnonzero(found.isna().all(axis=1))) == HOLES
    Z = load("holes.rskpca").transform(LEFT)
    np.testing.assert_allclose(found.drop(index=HOLES), Z, rtol=1e-9, atol=1e-12)
    assert (told["rows"], told["skipped_rows"]) == (600, 2)


def test_people_are_told_how_many(model):
    result = run("fit", *DATA)
    assert result.stderr == NOTE
    next_ = "rskpca transform holes.rskpca holes.csv --skip-missing -o holes-embedded.parquet"
    assert next_ in result.stdout
    result = run("transform", "holes.rskpca", "holes.csv", "--skip-missing")
    assert result.stderr.startswith("note: 2 rows are empty in the output: ")
    assert "600 rows in" in result.stdout
    assert run("fit", *DATA, "--quiet").stderr == ""


def test_the_other_commands_take_it_too(model, short_contest):
    known = ("holes.rskpca", "holes.csv", "--skip-missing")
    for arguments in (("plan", *DATA, "-s"), ("report", *known),
                      ("certify", *known), ("compare", *DATA)):  # fmt: skip
        result = run(*arguments)
        assert (result.exit_code, result.stderr) == (0, NOTE), arguments
    assert "--exclude town,id,cover --skip-missing --report" in run("plan", *DATA).stdout


def test_a_note_of_other_rows_is_not_taken_up(model):
    assert numbers("fit", *DATA, "--checkpoint", "note")["rows"] == 598
    again = numbers("fit", *DATA, "--checkpoint", "note")
    assert (again["rows"], again["centers"]) == (598, model["centers"])
    result = run("fit", *DATA[:-1], "--checkpoint", "note")
    assert "was made with another source" in result.stderr

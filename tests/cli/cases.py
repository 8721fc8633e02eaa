"""Typical data files, and helpers that run the program on them."""

import json

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from rskpca.cli.app import app

N = 600
RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(N, 2)) @ RNG.normal(size=(2, 4)) + 0.05 * RNG.normal(size=(N, 4))
FEATURES = ["x 1", "x 2", "x 3", "Height in m"]
FRAME = pd.DataFrame(ROWS, columns=FEATURES).assign(
    town=np.where(np.arange(N) % 2, "Ulm", "Aix"),
    id=np.arange(N) + 2**53 + 1,
    cover=np.arange(N) % 3,
)


def write_all(folder):
    """Write the same table to files in several formats."""
    FRAME[[*FEATURES, "cover", "id"]].to_parquet(folder / "data.parquet", row_group_size=100)
    FRAME.to_csv(folder / "table.csv", sep=";", index=False)
    FRAME[FEATURES][:300].to_parquet(folder / "monday.parquet")
    FRAME[FEATURES][300:].to_parquet(folder / "tuesday.parquet")
    np.save(folder / "rows.npy", ROWS)
    (folder / "parts").mkdir()
    for i in range(3):
        FRAME[FEATURES][i::3].to_parquet(folder / "parts" / f"{i}.parquet")


def write_holes():
    """Write a table with two incomplete rows to the current folder."""
    frame = FRAME.copy()
    frame.loc[[123, 400], "x 2"] = None
    frame.to_csv("holes.csv", sep=";", index=False)


def run(*arguments):
    """Run a command line and return its result."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="rskpca")


def output_of(*arguments):
    """Return the standard output of a successful command."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert not result.stderr, result.stderr
    return result.stdout


def json_of(*arguments):
    """Return the parsed JSON output of a successful command."""
    return json.loads(output_of(*arguments, "--json"))


def error_of(*arguments, code=1):
    """Return the single line that a failing command prints."""
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert not result.stdout
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    return line

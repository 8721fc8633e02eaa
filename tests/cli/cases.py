"""Files as people have them, and the program run on them."""

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
    """One table in many files."""
    FRAME[[*FEATURES, "cover", "id"]].to_parquet(folder / "data.parquet", row_group_size=100)
    FRAME.to_csv(folder / "table.csv", sep=";", index=False)
    FRAME[FEATURES][:300].to_parquet(folder / "monday.parquet")
    FRAME[FEATURES][300:].to_parquet(folder / "tuesday.parquet")
    np.save(folder / "rows.npy", ROWS)
    (folder / "parts").mkdir()
    for i in range(3):
        FRAME[FEATURES][i::3].to_parquet(folder / "parts" / f"{i}.parquet")


def write_holes():
    """A table in which two rows lack a value, here."""
    frame = FRAME.copy()
    frame.loc[[123, 400], "x 2"] = None
    frame.to_csv("holes.csv", sep=";", index=False)


def run(*arguments):
    """The result of a command line."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="rskpca")


def done(*arguments):
    """What it printed, where it must have worked."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert not result.stderr, result.stderr
    return result.stdout


def numbers(*arguments):
    """Its JSON."""
    return json.loads(done(*arguments, "--json"))


def failed(*arguments):
    """The one line of an error in data or files, where there must be one."""
    result = run(*arguments)
    assert result.exit_code == 1, result.output
    assert not result.stdout
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    return line

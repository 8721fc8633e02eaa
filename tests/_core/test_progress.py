"""The progress line: silent when short, one line when long."""

import pytest

from rskpca._core import progress
from rskpca._core.progress import ProgressLine


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_a_short_fit_prints_nothing(capsys, clock):
    line = ProgressLine(10, "Shadow")
    clock[0] = 0.5
    line(10, 3)
    assert capsys.readouterr().err == ""


def test_a_long_fit_tells_rows_centers_rate_and_time_left(capsys, clock):
    line = ProgressLine(1000, "Shadow")
    clock[0] = 2.0
    line(500, 30)
    clock[0] = 2.1
    line(600, 31)  # too soon after the last
    clock[0] = 4.0
    line(1000, 40)
    told = capsys.readouterr().err
    assert "Shadow: 500 of 1,000 rows (50%), 30 centers, 250 rows/s, 2 s left" in told
    assert "600" not in told
    assert told.rstrip(" \n").endswith("done")
    assert told.endswith("\n")

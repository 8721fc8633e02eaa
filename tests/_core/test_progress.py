"""Test that the progress line is shown only for long fits."""

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


def test_a_long_fit_prints_its_rows_centers_rate_and_remaining_time(capsys, clock):
    line = ProgressLine(1000, "Shadow")
    clock[0] = 2.0
    line(500, 30)
    clock[0] = 2.1
    line(600, 31)  # too soon after the previous line
    clock[0] = 4.0
    line(1000, 40)
    printed = capsys.readouterr().err
    assert "Shadow: 500 of 1,000 rows (50%), 30 centers, 250 rows/s, 2 s left" in printed
    assert "600" not in printed
    assert printed.rstrip(" \n").endswith("done")
    assert printed.endswith("\n")

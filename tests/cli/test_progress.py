"""Test that the progress bar is shown only on terminals and follows each pass over the data."""

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from rskpca.cli import output, progress
from rskpca.cli.output import Display
from rskpca.cli.progress import ProgressBar
from rskpca.data import open_source


def source_of(n_rows):
    return SimpleNamespace(n_rows=n_rows, n_skipped=0)


def bar_of(n_rows, visible=False):
    return ProgressBar(source_of(n_rows), Path("rows.npy"), visible)


def state(bar):
    """Return the name of the stage, the number of completed rows and the total."""
    task = bar._progress.tasks[0]
    return task.description, task.completed, task.total


def test_an_invisible_bar_prints_nothing(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_DELAY", 0.0)
    bar = bar_of(100)
    bar.rows_read(50)
    time.sleep(0.05)
    bar.close()
    assert capsys.readouterr() == ("", "")


def test_a_visible_bar_appears_after_a_delay(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_DELAY", 0.01)
    monkeypatch.setenv("FORCE_COLOR", "1")
    bar = bar_of(100, visible=True)
    bar.rows_read(50)
    shown, end = "", time.monotonic() + 60
    while "50 of 100 rows" not in shown and time.monotonic() < end:
        time.sleep(0.05)
        shown += capsys.readouterr().err
    bar.close()
    assert "50 of 100 rows" in shown


def test_a_bar_that_is_visible_from_the_start_can_be_drawn(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_DELAY", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    bar = bar_of(100, visible=True)
    bar._timer.join(60)
    bar.rows_read(50)
    bar.rows_done(50, 3)
    bar.rows_done(20, 3)
    bar.close()
    assert "20 of 100 rows" in capsys.readouterr().err


def test_the_bar_restarts_with_each_pass():
    bar = bar_of(100)
    bar.rows_read(100)
    bar.rows_read(30)
    assert state(bar) == ("reading", 30, 100)
    bar.rows_done(10, 3)
    bar.rows_read(60)  # reading runs ahead of processing
    assert state(bar) == ("fitting", 10, 100)
    assert bar._progress.tasks[0].fields["centers"] == "3 centers"
    bar.rows_done(100, 5)
    assert state(bar) == ("solving", 0, None)
    bar.rows_read(20)
    assert state(bar) == ("reading", 20, 100)
    bar.close()


def test_the_bar_shows_the_name_of_the_stage_after_the_last_row():
    bar = bar_of(100)
    bar.verb, bar.next_stage = "embedding", "writing"
    bar.rows_done(50, 0)
    assert state(bar)[0] == "embedding"
    bar.rows_done(100, 0)
    assert state(bar)[0] == "writing"
    bar.close()


def test_the_total_is_estimated_until_the_rows_are_counted(folder):
    source = open_source("table.csv", exclude="town")
    bar = ProgressBar(source, Path("table.csv"), visible=False)
    bar.rows_read(50)
    assert state(bar)[2] == pytest.approx(600, abs=2)
    assert bar._progress.tasks[0].fields["about"] == "~"
    source.counted()
    bar.rows_read(10)
    assert state(bar) == ("reading", 10, 600)
    assert bar._progress.tasks[0].fields["about"] == ""
    bar.close()


def test_the_bar_fits_into_80_columns(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_DELAY", 60.0)
    monkeypatch.setenv("COLUMNS", "80")
    bar = bar_of(100_000_000)
    bar.rows_done(12_345_678, 12_345)
    console = bar._progress.console
    lines = console.render_lines(bar._progress.get_renderable(), pad=False)
    bar.close()
    assert len(lines) == 1
    assert "12.3 M of 100 M rows" in "".join(segment.text for segment in lines[0])


def test_the_bar_advances_with_time_while_solving():
    bar = bar_of(100)
    bar.rows_done(100, 5)
    bar.stage("solving", 1000.0)
    time.sleep(0.01)
    text = "".join(str(part) for part in bar._progress.console.render_lines(bar._progress))
    name, completed, total = state(bar)
    assert (name, total) == ("solving", 1000.0)
    assert 0.01 <= completed < 100
    assert "about 17 min" in text
    bar.rows_read(20)
    assert state(bar) == ("reading", 20, 100)
    assert bar._progress.tasks[0].fields["seconds"] is None
    bar.close()


def test_the_bar_shows_that_reading_has_paused(monkeypatch):
    bar = bar_of(100)
    bar.idle = "choosing"
    bar.rows_read(50)
    bar._progress.console.render_lines(bar._progress)
    assert state(bar) == ("reading", 50, 100)
    monkeypatch.setattr(progress, "_PAUSE", -1.0)
    bar._progress.console.render_lines(bar._progress)
    assert state(bar) == ("choosing", 0, None)
    bar.rows_read(60)
    assert state(bar) == ("reading", 60, 100)
    bar.close()


def test_the_total_is_unknown_without_an_estimate():
    bar = bar_of(None)
    bar.rows_read(50)
    assert state(bar) == ("reading", 50, None)
    bar.close()


@pytest.mark.parametrize(
    ("terminal", "quiet", "visible"),
    [(False, False, False), (True, False, True), (True, True, False)],
)
def test_the_bar_is_visible_only_on_terminals(folder, monkeypatch, terminal, quiet, visible):
    seen = []

    def note(source, data, visible):
        seen.append(visible)
        return ProgressBar(source, data, visible=False)

    monkeypatch.setattr(progress, "ProgressBar", note)
    monkeypatch.setattr(output.sys, "stderr", SimpleNamespace(isatty=lambda: terminal))
    source = open_source("rows.npy")
    with Display(quiet=quiet).progress(source, Path("rows.npy")) as bar:
        source.take([599])
        assert state(bar) == ("reading", 600, 600)
    assert seen == [visible]

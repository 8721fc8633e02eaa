"""Bars: silent where nobody looks, and right where somebody does."""

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from rskpca.cli import progress, voice
from rskpca.cli.progress import Bar
from rskpca.cli.reading import expected_rows
from rskpca.data import open_source


def task(bar):
    return bar._progress.tasks[0]


def test_it_is_silent_where_nobody_looks(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    bar = Bar(100, True, shown=False)
    bar.read(50)
    time.sleep(0.05)
    bar.end()
    assert capsys.readouterr() == ("", "")


def test_it_is_shown_after_a_while(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 0.01)
    monkeypatch.setenv("FORCE_COLOR", "1")
    bar = Bar(100, True, shown=True)
    bar.read(50)
    time.sleep(0.3)
    bar.end()
    assert "50 of 100 rows" in capsys.readouterr().err


def test_passes_follow_each_other():
    bar = Bar(100, True, shown=False)
    bar.read(100)
    bar.read(30)
    assert (task(bar).description, task(bar).completed, task(bar).total) == ("reading", 30, 100)
    bar.counted(10, 3)
    bar.read(60)  # ahead of what was counted
    assert (task(bar).description, task(bar).completed) == ("counting", 10)
    assert task(bar).fields["beside"] == "3 centers"
    bar.counted(100, 5)
    assert (task(bar).description, task(bar).total) == ("solving", None)
    bar.read(20)
    assert (task(bar).description, task(bar).completed, task(bar).total) == ("reading", 20, 100)
    bar.end()


def test_what_comes_after_the_rows_has_its_name():
    bar = Bar(100, True, shown=False)
    bar.verb, bar.after = "embedding", "writing"
    bar.counted(50, 0)
    assert task(bar).description == "embedding"
    bar.counted(100, 0)
    assert task(bar).description == "writing"
    bar.end()


def test_the_first_pass_tells_how_many_rows_there_are():
    bar = Bar(90, False, shown=False)
    bar.read(50)
    assert task(bar).fields["about"] == "about "
    bar.read(97)
    bar.read(10)
    assert (task(bar).total, task(bar).fields["about"]) == (97, "")
    bar.end()


def test_what_runs_ahead_is_no_pass():
    bar = Bar(90, False, shown=False)
    bar.read(50)
    bar.counted(10, 3)
    assert (task(bar).total, task(bar).fields["about"]) == (90, "about ")
    bar.end()


def test_lines_are_expected_from_the_first_few(folder):
    assert expected_rows(folder / "table.csv") == pytest.approx(600, abs=2)
    assert expected_rows(folder / "data.parquet") is None
    assert open_source(folder / "data.parquet", exclude="id").n_rows == 600


@pytest.mark.parametrize(
    ("terminal", "quiet", "shown"),
    [(False, False, False), (True, False, True), (True, True, False)],
)
def test_a_bar_is_shown_on_a_terminal_alone(folder, monkeypatch, terminal, quiet, shown):
    seen = []

    def noted(total, exact, shown):
        seen.append((total, exact, shown))
        return Bar(total, exact, shown=False)

    monkeypatch.setattr(voice, "Bar", noted)
    monkeypatch.setattr(voice.sys, "stderr", SimpleNamespace(isatty=lambda: terminal))
    source = open_source("rows.npy")
    with voice.Voice(quiet=quiet).progress(source, Path("rows.npy")) as bar:
        source.take([599])
        assert task(bar).completed == 600
    assert seen == [(600, True, shown)]

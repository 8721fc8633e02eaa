"""Test that the examples run and draw their figures."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
GALLERY = sorted(EXAMPLES.glob("plot_*.py"))


@pytest.mark.slow
def test_the_manifold_script_draws_the_figures_for_the_guide(tmp_path):
    command = [sys.executable, str(EXAMPLES / "manifold.py"), str(tmp_path), "10000"]
    subprocess.run(command, check=True, capture_output=True)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"swiss_roll.png", "circle.png", "rings.png"}


@pytest.mark.slow
def test_the_denoising_script_draws_the_figure_for_the_guide(tmp_path):
    command = [sys.executable, str(EXAMPLES / "denoising.py"), str(tmp_path / "denoising.png")]
    small = os.environ | {"RSKPCA_QUICK": "1"}
    printed = subprocess.run(command, check=True, capture_output=True, text=True, env=small).stdout
    assert printed.count("rskpca") == 3
    assert (tmp_path / "denoising.png").stat().st_size > 10_000


@pytest.fixture
def figures(tmp_path, monkeypatch):
    """Yield a function that lists open figures, which are not shown and are closed at the end."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("RSKPCA_QUICK", "1")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.chdir(tmp_path)
    plt.switch_backend("agg")
    yield plt.get_fignums
    plt.close("all")


def test_the_gallery_has_ten_examples():
    assert len(GALLERY) == 10


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_every_example_draws_a_figure_and_writes_no_files(path, figures, tmp_path):
    runpy.run_path(str(path), run_name="__main__")
    assert figures()
    assert not list(tmp_path.iterdir())


def test_examples_use_fallback_data_if_a_data_set_is_missing(figures, monkeypatch, capsys):
    monkeypatch.setenv("RSKPCA_DATA", "nowhere")
    for name in ("faces", "credit", "novelty", "denoising"):
        runpy.run_path(str(EXAMPLES / f"plot_{name}.py"), run_name="__main__")
    assert capsys.readouterr().out.count("using other data instead") == 4

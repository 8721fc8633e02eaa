"""Fixtures that provide a folder with data files."""

import shutil

import numpy as np
import pytest

from rskpca.cli import comparison

from .cases import write_all


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    write_all(folder)
    return folder


@pytest.fixture
def short_comparison(monkeypatch):
    """Compare in one round without subprocesses, reporting the size of the rows as memory."""
    monkeypatch.setattr(comparison, "peak_memory", lambda *order: float(np.load(order[-1]).nbytes))
    monkeypatch.setattr(comparison, "ROUNDS", 1)


@pytest.fixture
def folder(files, tmp_path, monkeypatch):
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path

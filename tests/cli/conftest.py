"""A folder with files."""

import shutil

import numpy as np
import pytest

from rskpca.cli import compare, contenders

from .cases import write_all


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    write_all(folder)
    return folder


@pytest.fixture
def short_contest(monkeypatch):
    """Of one round, and without processes: the memory of a fit is then that of its rows."""
    monkeypatch.setattr(compare, "peak", lambda made, data: float(np.load(data).nbytes))
    monkeypatch.setattr(contenders, "ROUNDS", 1)


@pytest.fixture
def folder(files, tmp_path, monkeypatch):
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path

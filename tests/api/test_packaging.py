"""Test the metadata of the package."""

import tomllib

from tests.test_docs import ROOT

DEVELOPMENT = {"dev", "docs", "lint", "test"}  # extras for contributors


def test_every_dependency_has_a_lowest_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert extras.keys() > DEVELOPMENT
    for_users = [needs for extra, needs in extras.items() if extra not in DEVELOPMENT]
    for requirement in sum(for_users, project["dependencies"]):
        assert ">=" in requirement or requirement.startswith("rskpca["), requirement

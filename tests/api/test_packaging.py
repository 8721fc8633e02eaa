"""Test the metadata of the package, the conda recipe and the citation."""

import tomllib

import yaml

import rskpca
from tests.test_docs import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
DEVELOPMENT = {"dev", "docs", "lint", "test"}  # extras for contributors


def test_every_dependency_has_a_lowest_version():
    extras = PROJECT["optional-dependencies"]
    assert extras.keys() > DEVELOPMENT
    for_users = [needs for extra, needs in extras.items() if extra not in DEVELOPMENT]
    for requirement in sum(for_users, PROJECT["dependencies"]):
        assert ">=" in requirement or requirement.startswith("rskpca["), requirement


def read_yaml(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def without_spaces(requirements):
    return [requirement.replace(" ", "") for requirement in requirements]


def test_the_conda_recipe_has_the_same_version_and_dependencies():
    recipe = read_yaml("recipe/recipe.yaml")
    context, requirements = recipe["context"], recipe["requirements"]
    assert context["version"] == rskpca.__version__
    assert f">={context['python_min']}" == PROJECT["requires-python"]
    python, *run = requirements["run"]
    assert python == "python >=${{ python_min }}"
    assert without_spaces(run) == PROJECT["dependencies"]
    assert set(PYPROJECT["build-system"]["requires"]) < set(without_spaces(requirements["host"]))


def test_the_conda_recipe_has_the_same_metadata():
    recipe = read_yaml("recipe/recipe.yaml")
    about, urls = recipe["about"], PROJECT["urls"]
    assert recipe["package"]["name"] == PROJECT["name"]
    assert (about["summary"], about["license"]) == (PROJECT["description"], PROJECT["license"])
    assert [about["license_file"]] == PROJECT["license-files"]
    assert (about["homepage"], about["documentation"]) == (urls["Homepage"], urls["Documentation"])
    commands = [f"{name} = {target}" for name, target in PROJECT["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == commands


def test_the_citation_has_the_version_and_the_date_in_the_changelog():
    citation = read_yaml("CITATION.cff")
    assert str(citation["version"]) == rskpca.__version__
    heading = f"## [{rskpca.__version__}] - {citation['date-released']}"
    assert heading in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()

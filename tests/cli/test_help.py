"""Test that the help fits into 80 columns, lists every option and contains valid examples."""

import re
import shlex

import pytest
import typer

from rskpca import __version__
from rskpca.cli.app import app

from .cases import output_of, run

PROGRAM = typer.main.get_command(app)
COMMANDS = list(PROGRAM.commands)


@pytest.fixture(autouse=True)
def terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def test_commands_are_listed_in_order_of_typical_use():
    expected = ["demo", "plan", "fit", "transform", "inspect", "certify", "report", "merge"]
    assert [*expected, "compare"] == COMMANDS
    text = output_of("--help")
    places = [text.index(f"\n  {name} ") for name in COMMANDS]
    assert places == sorted(places)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_the_help_fits_into_80_columns(command):
    lines = output_of(*command.split(), "--help").splitlines()
    assert len(lines) <= 75
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_lists_every_option(command):
    text = output_of(command, "--help")
    for parameter in PROGRAM.commands[command].params:
        assert all(flag in text for flag in parameter.opts if flag.startswith("--"))
        assert parameter.help


def test_options_are_grouped():
    text = output_of("fit", "--help")
    for panel in ("Arguments", "Output", "Model", "Columns"):
        assert f"\n{panel}:\n" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_use_only_existing_options(command):
    examples = re.findall(rf"^  rskpca {command}(.*)$", output_of(command, "--help"), re.MULTILINE)
    known = {flag for p in PROGRAM.commands[command].params for flag in p.opts}
    assert examples
    for example in examples:
        words = shlex.split(example.split("|")[0])
        assert {word for word in words if word.startswith("-")} <= known


def test_the_help_is_shown_if_no_command_is_given():
    assert "rskpca fit data.parquet --report report.html" in run().output


def test_the_version_option_prints_the_package_version():
    assert output_of("--version") == f"rskpca {__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_the_usage_has_no_braces(command):
    usage = output_of(command, "--help").splitlines()[0]
    assert not set("{}").intersection(usage)


def test_the_help_says_which_models_have_outliers():
    assert "a detector fitted in Python" in " ".join(output_of("transform", "--help").split())

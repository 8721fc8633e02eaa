"""Help fits a screen, and has examples that are right."""

import re
import shlex

import pytest
import typer

from rskpca import __version__
from rskpca.cli.app import app

from .cases import done, run

PROGRAM = typer.main.get_command(app)
COMMANDS = list(PROGRAM.commands)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_a_screen(command):
    text = done(*command.split(), "--help")
    assert 8 < len(text.splitlines()) <= 40
    assert max(map(len, text.splitlines())) <= 100
    assert text.count(f"rskpca {command}") >= 2  # usage, and an example


def test_help_tells_all_options():
    text = done("fit", "--help")
    for parameter in PROGRAM.commands["fit"].params:
        assert all(flag in text for flag in parameter.opts if flag.startswith("--")), parameter.name


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_have_options_that_exist(command):
    lines = re.findall(rf"^  rskpca {command} (.*)$", done(command, "--help"), flags=re.MULTILINE)
    known = {flag for p in PROGRAM.commands[command].params for flag in p.opts}
    for line in lines:
        words = shlex.split(line, comments=True)
        assert {word for word in words if word.startswith("-")} <= known


def test_without_a_command_help_is_shown():
    assert "rskpca fit data.parquet --report report.html" in run().output


def test_the_version():
    assert done("--version") == f"rskpca {__version__}\n"

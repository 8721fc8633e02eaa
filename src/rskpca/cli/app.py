"""The program: its commands, in the order in which they are used."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Annotated, Any

import typer

from .. import __version__
from . import certify, compare, demo, fit, inspect, merge, plan, report, transform
from .errors import told
from .flat import flattened
from .help import Group, command_of

HELP = "Kernel PCA of files of any size, in one pass, with a statement of its error."
EXAMPLES = """
  rskpca demo                                    # something to look at, in ten seconds
  rskpca plan data.parquet                       # how long, how many centers, how wrong
  rskpca fit data.parquet --report report.html   # the main job
  rskpca fit --help                              # and so of each command

Exit codes: 0 done; 1 the data, a model or a file is wrong; 2 wrong options; 70 a bug of rskpca;
130 interrupted. Errors are one line; --debug shows where they come from.
"""

app = typer.Typer(
    cls=Group,
    help=HELP,
    epilog=EXAMPLES,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rskpca {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    """Nothing but options of the program itself."""


def _told(function: Callable[..., Any]) -> Callable[..., Any]:
    """The command, with its errors as lines."""

    @wraps(function)
    def run(**values: Any) -> None:
        with told(values["voice"].debug):
            function(**values)

    return run


def _register(module: ModuleType) -> None:
    name = module.__name__.rpartition(".")[2]
    function = flattened(_told(getattr(module, name)))
    cls = command_of(function)
    app.command(name, cls=cls, help=function.__doc__, epilog=module.EXAMPLES)(function)


for _module in (demo, plan, fit, transform, inspect, certify, report, merge, compare):
    _register(_module)

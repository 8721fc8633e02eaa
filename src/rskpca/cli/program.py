"""The command group, with plain-text help and one-line error messages.

Typer formats its help with rich, which takes longer to import than everything else together.
"""

from __future__ import annotations

import re
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from difflib import get_close_matches
from functools import partial
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from .. import __version__
from . import INTERRUPTED

FAILED, BUG = 1, 70  # typer uses 2 for invalid options
_UsageError: Any = typer.BadParameter.__mro__[1]  # typer does not export it
_EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError)
_FIXES = {
    "exclude": "leave them out with --exclude, or select the features with --columns",
    "header": "use --no-header if it is a row of numbers",
    "dataset": "choose one, for example with --dataset {}",
}

# Parameter names that are replaced by options in messages; "bandwidth" alone is an English word.
_PARAMETER = re.compile(r"\b(n_components|n_clusters|max_error|ell|bandwidth(?==))\b(=?)")


class _PlainHelp:
    """Mixin that lists options by group and prints the examples at the end verbatim."""

    rich_markup_mode: Any = None
    epilog: str | None
    params: list[Any]
    further_options: tuple[tuple[str, str], ...] = ()

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write one section per group of options, with the ungrouped options last."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        ungrouped: list[tuple[str, str]] = []
        for parameter in self.params:
            is_argument = parameter.param_type_name == "argument"
            name = "Arguments" if is_argument else parameter.rich_help_panel
            records = groups.setdefault(name, []) if name else ungrouped
            records.append(parameter.get_help_record(ctx))
        help_option = ", ".join(ctx.help_option_names), "Show this message and exit."
        groups["Options"] = [*self.further_options, *ungrouped, help_option]
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the epilog without wrapping commands."""
        formatter.write(f"\n{self.epilog}\n")


class Command(_PlainHelp, TyperCommand):
    """A command with plain help."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line, without the braces around required arguments."""
        pieces = super().collect_usage_pieces(ctx)
        return [piece.replace("{", "").replace("}", "") for piece in pieces]


class Program(_PlainHelp, TyperGroup):
    """The group of all commands, which converts exceptions to messages and exit codes."""

    further_options = (("--version", "Show the version."),)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands with their unabridged help, then the options."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, c.help) for name, c in self.commands.items()])
        super().format_options(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Show the version or the help if requested; otherwise, parse the command."""
        # As typer options, these would import pydantic before any command is parsed.
        ctx.meta["arguments"] = list(args)
        if args[:1] == ["--version"]:
            typer.echo(f"rskpca {__version__}")
            raise typer.Exit
        if args[:1] in (["--help"], ["-h"]):
            typer.echo(ctx.get_help())
            raise typer.Exit
        with _one_line_errors(ctx) if args else nullcontext():
            if args and args[0].startswith("-"):
                similar = get_close_matches(args[0], ["--version", "--help"], n=1)
                hint = f" Did you mean {similar[0]}?" if similar else ""
                raise _UsageError(f"no such option: {args[0]}.{hint}")
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command, printing warnings as notes."""
        with warnings.catch_warnings(), _one_line_errors(ctx):
            warnings.filterwarnings("default", category=UserWarning)
            # Some packages derive their deprecation warnings from UserWarning as well.
            warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"(?!rskpca\b)")
            # The command line compares column names itself.
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            warnings.showwarning = partial(_print_warning, ctx)
            return super().invoke(ctx)


def _print_warning(ctx: Any, message: Warning | str, *_: Any, **__: Any) -> None:
    if not ctx.meta.get("quiet"):
        print_line(f"note: {_with_options(message, ctx)}", "yellow")


@contextmanager
def _one_line_errors(ctx: Any) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as error:
        print_line("interrupted: unfinished files were removed.", "yellow")
        raise typer.Exit(INTERRUPTED) from error
    except (typer.Exit, typer.Abort, BrokenPipeError):
        raise
    except Exception as error:
        if ctx.meta.get("debug"):
            raise
        code, text = _explain(error, ctx)
        print_line(f"error: {text}", "bold red")
        raise typer.Exit(code) from error


def _explain(error: Exception, ctx: Any) -> tuple[int, str]:
    """Return the exit code and the message for an exception."""
    if isinstance(error, _UsageError):
        command = " ".join(filter(None, (ctx.command_path, ctx.invoked_subcommand)))
        message = _lower(error.format_message())
        stop = "" if message.endswith((".", "?")) else "."
        return error.exit_code, f"{message}{stop} See '{command} --help'."
    if not isinstance(error, _EXPECTED):
        name = type(error).__name__
        return BUG, f"{name}: {error} (this is a bug in rskpca; --debug shows the traceback)"
    if isinstance(error, OSError) and error.strerror:
        file = "" if error.filename is None else f"{str(error.filename)!r}: "
        return FAILED, f"{file}{_lower(error.strerror)}."
    if isinstance(error, OSError):  # such as a file that does not exist; needs no heavy imports
        return FAILED, str(error)
    if isinstance(error, MemoryError):
        return FAILED, f"not enough memory. {error}".rstrip()
    return FAILED, _with_options(error, ctx)


def _with_options(message: Exception | str, ctx: Any) -> str:
    """Return the message with options of the command in place of Python arguments."""
    from ..data import SourceError, SourceWarning

    if isinstance(message, SourceError) and message.remedy == "skip_missing":
        command = _add_option(ctx.meta["arguments"], "--skip-missing")
        return f"{message.problem}; fill it in, drop the row, or skip such rows: {command}"
    if isinstance(message, SourceError | SourceWarning) and message.remedy:
        fix = _FIXES[message.remedy].format(shlex.quote(message.example))
        return f"{message.problem}; {fix}."
    if isinstance(message, SourceError) and message.argument:
        return f"--{message.argument.replace('ids', 'id')}: {message.problem}"
    return _PARAMETER.sub(_as_option, str(message))


def _add_option(arguments: list[str], option: str) -> str:
    """Return the command line with an option added, before "--" if there is one."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return shlex.join(["rskpca", *arguments[:end], option, *arguments[end:]])


def _as_option(found: re.Match[str]) -> str:
    """Return "--components " for "n_components=", and "--components" for "n_components"."""
    name, equals = found.groups()
    option = name.replace("_", "-") if not name.startswith("n_") else "components"
    return f"--{option} " if equals else f"--{option}"


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def printable(text: str, *, one_line: bool = False) -> str:
    """Escape control and bidirectional characters, which could change what a terminal shows."""
    kept = "" if one_line else "\n"  # in a name from a file, it could start a forged message
    return "".join(c if c.isprintable() or c in kept else ascii(c)[1:-1] for c in text)


def print_line(text: str, style: str) -> None:
    """Print a single line to stderr, with its first word in color."""
    from rich.console import Console
    from rich.text import Text

    word, _, rest = printable(" ".join(text.split())).partition(":")
    line = Text.assemble((f"{word}:", style), rest)
    Console(file=sys.stderr, highlight=False).print(line, soft_wrap=True)

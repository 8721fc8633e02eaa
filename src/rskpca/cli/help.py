"""Help that fits a screen: what it does, its options in a line each, examples."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import Enum
from typing import Any, get_args

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand, TyperGroup
from typer.models import ArgumentInfo, OptionInfo

from .voice import screen

_TYPES = {"int": "N", "float": "NUMBER", "str": "TEXT", "Path": "FILE"}


class Group(TyperGroup):  # numpydoc ignore=PR01
    """The program itself."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print it."""
        rows = [
            (Text(name, "bold cyan"), Text(command.help or ""))
            for name, command in self.commands.items()
        ]
        _print(self.get_usage(ctx), self, rows)

    def get_usage(self, ctx: Any) -> str:
        """One line."""
        return "Usage: rskpca COMMAND"

    def list_commands(self, ctx: Any) -> list[str]:
        """In the order in which they are used."""
        return list(self.commands)


def command_of(function: Callable[..., Any]) -> type[TyperCommand]:
    """A class of commands whose help tells of the parameters of a function."""
    parameters = [_Parameter(p) for p in inspect.signature(function).parameters.values()]

    names = [p.flags for p in parameters if p.is_argument]

    class Command(TyperCommand):
        def get_usage(self, ctx: Any) -> str:
            return " ".join(["Usage:", ctx.command_path, *names, "[OPTIONS]"])

        def format_help(self, ctx: Any, formatter: Any) -> None:
            rows = [(p.shown_flags(), p.shown_help()) for p in parameters]
            _print(self.get_usage(ctx), self, rows)

    return Command


class _Parameter:
    """An argument or an option, as its annotation tells it."""

    def __init__(self, parameter: inspect.Parameter) -> None:
        self.kind, info = get_args(parameter.annotation)
        self.info: ArgumentInfo | OptionInfo = info
        self.name, self.default = parameter.name, parameter.default

    @property
    def is_argument(self) -> bool:
        return isinstance(self.info, ArgumentInfo)

    @property
    def flags(self) -> str:
        if self.is_argument:
            return str(self.info.metavar)
        first = [self.info.default] if isinstance(self.info.default, str) else []
        given = [*first, *(self.info.param_decls or ())] or [f"--{self.name.replace('_', '-')}"]
        return ", ".join(sorted(given, key=len))

    @property
    def takes(self) -> str:
        """What stands behind the flags."""
        plain = next(iter(get_args(self.kind)), self.kind)
        if plain is bool or self.is_argument:
            return ""
        return f" {self.info.metavar or _TYPES.get(plain.__name__, 'NAME')}"

    def shown_flags(self) -> Text:
        return Text.assemble((self.flags, "cyan"), (self.takes, "dim"))

    def shown_help(self) -> Text:
        return Text.assemble(self.info.help or "", (self._shown_default(), "dim"))

    def _shown_default(self) -> str:
        if isinstance(self.default, Enum):
            return f" [{' | '.join(str(choice.value) for choice in type(self.default))}]"
        shown = isinstance(self.default, int | float) and not isinstance(self.default, bool)
        return f" [{self.default:,}]" if shown else ""


def _print(usage: str, command: Any, rows: list[tuple[Text, Text]]) -> None:
    console = screen()
    console.print(Text(usage, "bold"))
    console.print(Text(command.help or ""))
    console.print()
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console.print(Padding(table, (0, 0, 0, 2), expand=False))
    _print_examples(console, command.epilog)


def _print_examples(console: Console, epilog: str | None) -> None:
    console.print()
    for line in (epilog or "").strip("\n").splitlines():
        console.print(Text(line), soft_wrap=True)

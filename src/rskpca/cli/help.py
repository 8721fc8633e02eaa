"""Commands whose help is grouped plain text.

The help of typer is formatted with rich, whose import takes longer than everything else together.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup


class _PlainHelp:
    """Mixin that writes options by group, and the examples at the end as they are."""

    rich_markup_mode: Any = None
    epilog: str | None
    params: list[Any]
    further_options: tuple[tuple[str, str], ...] = ()

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write one section per group of options, the ungrouped ones last."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        ungrouped: list[tuple[str, str]] = []
        for parameter in self.params:
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            name = "Arguments" if parameter.param_type_name == "argument" else None
            name = name or getattr(parameter, "rich_help_panel", None)
            (ungrouped if name is None else groups.setdefault(name, [])).append(record)
        help_option = ", ".join(ctx.help_option_names), "Show this message and exit."
        groups["Options"] = [*self.further_options, *ungrouped, help_option]
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the epilog without wrapping commands."""
        if self.epilog:
            formatter.write(f"\n{self.epilog}\n")


class Command(_PlainHelp, TyperCommand):
    """A command with plain help."""


class Group(_PlainHelp, TyperGroup):
    """A group of commands with plain help."""

    further_options = (("--version", "Show the version."),)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands with their whole first sentences, then the options."""
        with formatter.section("Commands"):
            commands = self.commands.items()
            formatter.write_dl([(name, (c.help or "").split("\n")[0]) for name, c in commands])
        super().format_options(ctx, formatter)

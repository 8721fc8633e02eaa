"""Errors as one line, and what the exit code says."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from . import INTERRUPTED

WRONG, BUG = 1, 70  # 2, of wrong options, is typer's

# The library speaks of parameters; here they are options.
_AS_OPTIONS = (
    (r"open_source\(\.\.\., columns=[^)]*\)", "--columns"),
    (r"\bcolumns=", "--columns"),
    (r"\bexclude=", "--exclude"),
    (r" carry them through with ids=,", ""),  # which most commands do not
    (r"\bskip_missing=True", "--skip-missing"),
    (r"\bdataset=(?=\W|$)", "--dataset"),
    (r"\bbandwidth=(?=[\d.])", "--bandwidth "),
    (r"^(columns|exclude|weight|color): ", r"--\1: "),
    (r"^ids: ", "--id: "),
    (r"\bn_components\b", "--components"),
    (r'\brefine="nystrom"', "--refine"),
    (r'\bbasis="auto"', "--small"),
    (r'Or give "auto", with tol\.', "Or give --tol."),
    (r'Or give "median"\.', "Or leave --bandwidth out."),
    (r'\bbandwidth="median" needs', "the median bandwidth needs"),
    (r"Give the bandwidth as a number, or more rows in the first chunk", "Give --bandwidth"),
    (r"Give the bandwidth as a number", "Give --bandwidth"),
    (r"\bnp\.inf\b", "inf"),
)


@contextmanager
def told(debug: bool) -> Iterator[None]:
    """Errors of what runs inside become a line on standard error and an exit code."""
    with warnings.catch_warnings():
        warnings.filterwarnings("default", category=UserWarning)
        # columns are compared where a file is opened
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        warnings.showwarning = _show_warning  # type: ignore[assignment]
        try:
            yield
        except KeyboardInterrupt as error:
            _line("interrupted: nothing half-written is left.", "yellow")
            raise typer.Exit(INTERRUPTED) from error
        except Exception as error:
            if debug or _is_typers(error):
                raise
            known = isinstance(error, ValueError | TypeError | OSError | ImportError | MemoryError)
            text = message(error) if known else _unexpected(error)
            _line(f"error: {text}", "bold red")
            raise typer.Exit(WRONG if known else BUG) from error


def _is_typers(error: Exception) -> bool:
    """Exits and wrong options, which typer shows itself, and a reader that went away."""
    kinds = typer.Exit | typer.Abort | BrokenPipeError
    return isinstance(error, kinds) or hasattr(error, "exit_code")


def _unexpected(error: Exception) -> str:
    return f"{type(error).__name__}: {error} (this should not happen; --debug shows where)"


def message(error: BaseException) -> str:
    """What an error says, on one line, in the words of the command line."""
    if isinstance(error, OSError) and error.strerror:
        named = "" if error.filename is None else f"{str(error.filename)!r}: "
        text = f"{named}{error.strerror[0].lower()}{error.strerror[1:]}."
    elif isinstance(error, MemoryError):
        text = f"not enough memory. {error}"
    else:
        text = str(error)
    for pattern, option in _AS_OPTIONS:
        text = re.sub(pattern, option, text)
    return " ".join(text.split())


def _show_warning(text: Any, *_: Any, **__: Any) -> None:
    note(message(Warning(str(text))))


def note(text: str) -> None:
    """A line on standard error that is no error."""
    _line(f"note: {text}", "yellow")


def _line(text: str, style: str) -> None:
    """One line, however long; only its first word in colour."""
    word, _, rest = text.partition(":")
    line = Text.assemble((f"{word}:", style), rest)
    Console(file=sys.stderr, highlight=False).print(line, soft_wrap=True)

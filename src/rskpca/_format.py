"""Format numbers and words for messages, and import optional packages."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any


def percent(share: float) -> str:
    """Format a fraction as a percentage with two significant digits, or three above 10%."""
    return f"{100 * share:.3g}%" if share > 0.1 else f"{100 * share:.2g}%"


def seconds_in_words(seconds: float) -> str:
    """Format a duration in milliseconds, seconds, minutes or hours."""
    if seconds < 1:
        return f"{1000 * seconds:.2g} ms" if seconds < 0.0995 else f"{seconds:.2g} s"
    if seconds < 100:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:,.1f} h"


def bytes_in_words(n_bytes: float) -> str:
    """Format a size in MB or GB."""
    megabytes = n_bytes / 1e6
    return f"{megabytes:.0f} MB" if megabytes < 999.5 else f"{megabytes / 1000:.1f} GB"


def join_words(words: Sequence[str], conjunction: str) -> str:
    """Join words with commas, and the last two with a conjunction."""
    *most, last = words
    return f"{', '.join(most)} {conjunction} {last}" if most else last


def missing_package(what: str, package: str, extra: str) -> ImportError:
    """Return the error to raise if an optional package is not installed."""
    fix = f'pip install ".[{extra}]" in a checkout of rskpca'
    return ImportError(f"{what} requires {package}: {fix}.")


def import_optional(what: str, package: str, extra: str, module: str = "") -> Any:
    """Import an optional package, or raise an error with installation instructions."""
    try:
        return import_module(module or package)
    except ImportError as error:
        raise missing_package(what, package, extra) from error

"""Read rows in blocks from files, folders, arrays, data frames and iterators."""

from ._table import SourceError, SourceWarning, pyarrow_for
from .opening import open_source
from .source import Block, Source, read_ahead

__all__ = [
    "Block",
    "Source",
    "SourceError",
    "SourceWarning",
    "open_source",
    "pyarrow_for",
    "read_ahead",
]

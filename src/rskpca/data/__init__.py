"""Rows from files, folders, arrays, data frames and iterators, read in blocks."""

from ._table import pyarrow_for
from .opening import open_source
from .source import Block, Source, read_ahead

__all__ = ["Block", "Source", "open_source", "pyarrow_for", "read_ahead"]

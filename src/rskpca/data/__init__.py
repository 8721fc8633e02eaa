"""Rows from files, folders, arrays, data frames and iterators, in blocks."""

from ._ahead import read_ahead
from .opening import open_source
from .packages import pyarrow_for
from .source import Block, Source

__all__ = ["Block", "Source", "open_source", "pyarrow_for", "read_ahead"]

"""Packages that only some kinds of file need."""

from __future__ import annotations

from typing import Any


def needs(package: str, extra: str, kind: str) -> ImportError:
    """The error of a reader whose package is missing."""
    return ImportError(f'{kind} needs {package}: pip install "rskpca[{extra}]".')


def pyarrow_for(kind: str) -> Any:
    """pyarrow, or the error that says where to get it."""
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError as error:
        raise needs("pyarrow", "parquet", kind) from error
    return pyarrow

"""The one error of model files."""

from __future__ import annotations

from typing import NoReturn


class ModelFileError(ValueError):
    """A file that is no sound model, or a model that no file can hold."""


def refuse(reason: str) -> NoReturn:
    """Raise the error."""
    raise ModelFileError(reason)

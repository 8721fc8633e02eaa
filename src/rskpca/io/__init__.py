"""Save and load models."""

from ._container import ModelFileError
from .model_files import Description, describe, load, save

__all__ = ["Description", "ModelFileError", "describe", "load", "save"]

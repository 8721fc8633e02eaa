"""Convert fitted models to ONNX graphs for deployment."""

from .export import to_onnx

__all__ = ["to_onnx"]

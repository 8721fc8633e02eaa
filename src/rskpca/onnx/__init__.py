"""Deployment: convert a fitted model to an ONNX graph of standard operators."""

from .export import to_onnx

__all__ = ["to_onnx"]

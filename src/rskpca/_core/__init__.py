"""Numerical primitives that operate on arrays."""

"""Test properties that every compiled loop must have."""

import importlib

import pytest
from numba.core.dispatcher import Dispatcher

MODULES = ["compiled", "compiled_cover", "compiled_sample"]


@pytest.mark.parametrize("name", MODULES)
def test_every_loop_sets_fastmath_explicitly(name):
    """Otherwise, a loop inherits the flags of the first caller that compiles it."""
    module = importlib.import_module(f"rskpca._core.{name}")
    loops = [value for value in vars(module).values() if isinstance(value, Dispatcher)]
    assert loops
    for loop in loops:
        assert "fastmath" in loop.targetoptions, loop
        assert loop.targetoptions["nogil"], loop
